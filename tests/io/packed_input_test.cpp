#include <gmock/gmock.h>
#include <random>
#include <zlib.h>
#include <zstd.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sticky/base/error.hpp"
#include "tests/io/lines.hpp"
#include "tests/support/temp_dir.hpp"

namespace sticky::io {

namespace {

using testing::HasSubstr;

std::string gzip(const std::string& text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, text.size()), '\0');
  std::string in = text;
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string zstd(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  const auto n = ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3);
  EXPECT_EQ(ZSTD_isError(n), 0U);
  out.resize(n);
  return out;
}

std::string numbered_lines(int from, int to) {
  std::string text;
  for (int i = from; i < to; ++i)
    text += fmt::format("{{\"id\":\"{}\",\"prompt\":\"{}\"}}\n", i, i * 7919);
  return text;
}

struct Packing {
  const char* ending;
  std::string (*pack)(const std::string&);
};

class PackedInput : public testing::TestWithParam<Packing> {
 protected:
  std::string pack(const std::string& text) { return GetParam().pack(text); }
  // All lines read, and the error that ended the reading, if any.
  std::pair<std::vector<std::string>, std::string> read(std::string_view bytes,
                                                        const std::string& name) {
    std::pair<std::vector<std::string>, std::string> out;
    const auto reader = open_input(test::files({dir_.write(name, bytes)}));
    try {
      while (const auto line = reader->next())
        out.first.push_back(line->payload);
    } catch (const FormatError& e) {
      out.second = e.what();
      EXPECT_EQ(reader->next(), std::nullopt);  // and it stays ended
    }
    return out;
  }
  std::string packed_name() { return std::string("in.jsonl") + GetParam().ending; }

  test::TempDir dir_;
};

}  // namespace

TEST_P(PackedInput, IsReadAsItsTextByNameOrByFirstBytes) {
  const std::string text = numbered_lines(0, 20'000);

  for (const std::string& name : {packed_name(), std::string("in.jsonl")}) {
    const auto [lines, error] = read(pack(text), name);
    EXPECT_EQ(error, "");
    EXPECT_EQ(lines, test::split_lines(text));
  }
}

TEST_P(PackedInput, SeveralMembersFollowOneAnotherEvenWithinALine) {
  const std::string text = numbered_lines(0, 1000);
  const std::string bytes = pack(text.substr(0, 5003)) + pack("") + pack(text.substr(5003));

  const auto [lines, error] = read(bytes, packed_name());

  EXPECT_EQ(error, "");
  EXPECT_EQ(lines, test::split_lines(text));
}

TEST_P(PackedInput, NothingPackedGivesNoLines) {
  const auto [lines, error] = read(pack(""), packed_name());

  EXPECT_TRUE(lines.empty());
  EXPECT_EQ(error, "");
}

TEST_P(PackedInput, CutOffAtAnyByteGivesWholeLinesAndThenAnError) {
  const std::string text = numbered_lines(0, 40);
  const std::string bytes = pack(text);
  const auto all = test::split_lines(text);

  for (std::size_t n = 0; n < bytes.size(); ++n) {
    const auto [lines, error] = read(std::string_view(bytes).substr(0, n), packed_name());
    ASSERT_THAT(error, HasSubstr(packed_name())) << n;
    ASSERT_LE(lines.size(), all.size());
    for (std::size_t i = 0; i < lines.size(); ++i)
      ASSERT_EQ(lines[i], all[i]);
  }
}

TEST_P(PackedInput, FlippedBytesGiveAnErrorOrText) {
  const std::string bytes = pack(numbered_lines(0, 200));
  std::mt19937 random(7);

  for (int i = 0; i < 500; ++i) {
    std::string broken = bytes;
    broken[random() % broken.size()] ^= static_cast<char>(1U << (random() % 8));
    (void)read(broken, packed_name());  // must end, and neither crash nor read beyond a buffer
  }
}

TEST_P(PackedInput, ANameThatLiesIsAnError) {
  const auto [lines, error] = read(numbered_lines(0, 3), packed_name());

  EXPECT_TRUE(lines.empty());
  EXPECT_THAT(error, HasSubstr("broken"));
}

TEST_P(PackedInput, ProgressCountsPackedBytes) {
  const std::string bytes = pack(numbered_lines(0, 1000));
  const auto reader = open_input(test::files({dir_.write(packed_name(), bytes)}));

  (void)test::read_all(*reader);

  EXPECT_EQ(reader->bytes_total(), static_cast<i64>(bytes.size()));
  EXPECT_EQ(reader->bytes_read(), reader->bytes_total());
}

INSTANTIATE_TEST_SUITE_P(Formats,
                         PackedInput,
                         testing::Values(Packing{".gz", gzip}, Packing{".zst", zstd}),
                         [](const auto& test_info) { return test_info.param.ending + 1; });

TEST(GzipInput, ZerosThatFillABlockAreNoText) {
  const test::TempDir dir;
  const std::string text = numbered_lines(0, 3);

  const auto lines =
      test::read_all(test::files({dir.write("in.gz", gzip(text) + std::string(300'000, '\0'))}));

  EXPECT_EQ(lines.size(), 3U);
}

}  // namespace sticky::io
