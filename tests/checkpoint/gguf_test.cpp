#include <cstring>
#include <gmock/gmock.h>

#include <gtest/gtest.h>

#include "tests/checkpoint/hostile.hpp"
#include "tests/support/files.hpp"

namespace sticky::test {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;

const std::string kFormats = STICKY_TEST_DATA "/models/formats.gguf";

// A name or value in GGUF: 64-bit length, then the bytes.
void key(ByteWriter& out, std::string_view name, std::uint32_t type) {
  out.string(name);
  out.number(type);
}
void start(ByteWriter& out, std::uint32_t version, std::uint64_t n_tensors, std::uint64_t n_pairs) {
  out.number(std::uint32_t{0x46554747});
  out.number(version);
  out.number(n_tensors);
  out.number(n_pairs);
}
struct Tensor {
  std::string name = "t";
  std::vector<std::uint64_t> dimensions{2, 2};
  std::uint32_t type = 0;
  std::uint64_t offset = 0;
};
void tensor(ByteWriter& out, const Tensor& t) {
  out.string(t.name);
  out.number(static_cast<std::uint32_t>(t.dimensions.size()));
  for (const auto d : t.dimensions)
    out.number(d);
  out.number(t.type);
  out.number(t.offset);
}
// The header, padded, and n_bytes of data.
std::string finish(ByteWriter& out, std::size_t n_bytes) {
  std::string bytes = out.take();
  bytes.resize((bytes.size() + 31) / 32 * 32 + n_bytes);
  return bytes;
}

class Gguf : public testing::Test {
 protected:
  std::string open(std::string_view bytes) {
    return open_and_read(folder_.write("model.gguf", bytes));
  }
  std::string open_tensors(const std::vector<Tensor>& tensors, std::size_t n_bytes) {
    ByteWriter out;
    start(out, 3, tensors.size(), 0);
    for (const auto& t : tensors)
      tensor(out, t);
    return open(finish(out, n_bytes));
  }
  TempDir folder_;
};

// formats.f32 was widened by the Python package gguf: tests/data/models/make_gguf_expectations.py.
TEST_F(Gguf, EveryStorageFormatIsWidenedToTheSameBitsAsThePythonPackageGives) {
  const auto checkpoint = checkpoint::open_checkpoint(kFormats);
  const std::string expected = read_file(STICKY_TEST_DATA "/models/formats.f32");
  std::size_t at = 0;

  ASSERT_EQ(checkpoint->tensors().size(), 11U);
  for (const auto& t : checkpoint->tensors()) {
    EXPECT_EQ(t.name, checkpoint::name(t.storage));
    ASSERT_THAT(t.shape, ElementsAre(3, 512));
    std::vector<float> values(3 * 512);
    checkpoint->read_rows(t, 0, 3, values);
    const std::size_t n_bytes = values.size() * sizeof(float);
    EXPECT_EQ(std::memcmp(values.data(), expected.data() + at, n_bytes), 0) << t.name;
    at += n_bytes;
  }
  EXPECT_EQ(at, expected.size());
}

TEST_F(Gguf, RowsReadAloneAreTheRowsOfTheWhole) {
  const auto checkpoint = checkpoint::open_checkpoint(kFormats);
  for (const auto& t : checkpoint->tensors()) {
    std::vector<float> whole(3 * 512);
    checkpoint->read_rows(t, 0, 3, whole);
    std::vector<float> last(512);
    checkpoint->read_rows(t, 2, 1, last);
    EXPECT_EQ(std::memcmp(last.data(), whole.data() + 2 * 512, 512 * sizeof(float)), 0) << t.name;
  }
}

TEST_F(Gguf, MetadataOfEveryTypeBecomeJson) {
  const auto checkpoint = checkpoint::open_checkpoint(kFormats);
  const Json& config = checkpoint->config();
  const auto text = [&](std::string_view name) { return config.find(name)->dump(); };

  EXPECT_TRUE(checkpoint->is_gguf());
  EXPECT_EQ(text("general.architecture"), "\"none\"");
  EXPECT_EQ(text("of.u8"), "255");
  EXPECT_EQ(text("of.i8"), "-128");
  EXPECT_EQ(text("of.u16"), "65535");
  EXPECT_EQ(text("of.i16"), "-32768");
  EXPECT_EQ(text("of.u32"), "4294967295");
  EXPECT_EQ(text("of.i32"), "-2147483648");
  EXPECT_EQ(text("of.bool"), "true");
  EXPECT_EQ(text("of.string"), "\"Grüße, 世界\"");
  EXPECT_EQ(text("of.u64"), "18446744073709551615");
  EXPECT_EQ(text("of.i64"), "-9223372036854775808");
  EXPECT_EQ(static_cast<float>(config.find("of.f32")->as_double()), 1e-05F);
  EXPECT_EQ(config.find("of.f64")->as_double(), 1e-05);
  EXPECT_EQ(text("of.strings"), R"(["a","","ĠGrüße"])");
  EXPECT_EQ(text("of.integers"), "[1,-2,3]");
  EXPECT_EQ(text("of.arrays"), "[[1,2],[3]]");
}

TEST_F(Gguf, AFileCutAtAnyLengthIsRefused) {
  const std::string whole = read_file(kFormats);
  ASSERT_EQ(open_and_read(kFormats), "");
  const std::size_t header_end = whole.find("q6_k") + 64;

  for (std::size_t n = 0; n < whole.size(); n += n < header_end ? 1 : 211)
    ASSERT_THAT(open(std::string_view(whole).substr(0, n)), HasSubstr("model.gguf: "))
        << n << " bytes";
}

TEST_F(Gguf, FlippedBitsOfTheHeaderGiveAnErrorOrAValidFile) {
  const std::string whole = read_file(kFormats);
  const std::size_t header_end = whole.find("q6_k") + 32;
  int n_refused = 0;

  for (std::uint32_t seed = 0; seed < 500; ++seed) {
    const std::string header = flipped(whole.substr(0, header_end), seed);
    n_refused += open(header + whole.substr(header_end)).empty() ? 0 : 1;
  }

  EXPECT_GT(n_refused, 150);
}

TEST_F(Gguf, MagicAndVersionAreChecked) {
  EXPECT_THAT(open(std::string(64, 'x')),
              EndsWith("/model.gguf: magic: 0x78787878, but a GGUF file starts with 0x46554747 (at "
                       "byte 4)"));
  for (const auto& [version, message] :
       {std::pair(1U, "version: 1, but only 2 and 3 can be read"),
        std::pair(0x03000000U,
                  "50331648, but only 2 and 3 can be read (this file is big-endian)")}) {
    ByteWriter out;
    start(out, version, 0, 0);
    EXPECT_THAT(open(out.take()), HasSubstr(message));
  }
}

// Its counts and lengths have 64 bits as those of version 3, which only adds the byte order.
TEST_F(Gguf, Version2IsReadAsVersion3) {
  std::string bytes = read_file(kFormats);
  ASSERT_EQ(bytes[4], 3);
  bytes[4] = 2;
  EXPECT_EQ(open(bytes), "");
}

TEST_F(Gguf, LengthsThatLieCostAnErrorNotMemory) {
  const std::uint64_t huge = std::uint64_t{1} << 63;
  ByteWriter string;
  start(string, 3, 0, 1);
  key(string, "k", 8);
  string.number(huge);
  EXPECT_THAT(open(string.take()), HasSubstr("metadata k: needs 9223372036854775808 bytes, but the "
                                             "file ends at byte 45"));

  ByteWriter array;
  start(array, 3, 0, 1);
  key(array, "k", 9);
  array.number(std::uint32_t{0});
  array.number(huge);
  EXPECT_THAT(open(array.take()), HasSubstr("metadata k: array of 9223372036854775808 elements"));

  ByteWriter counts;
  start(counts, 3, huge, huge);
  EXPECT_THAT(open(counts.take()), HasSubstr("metadata pair 0 of 9223372036854775808"));

  ByteWriter nested;
  start(nested, 3, 0, 1);
  key(nested, "k", 9);
  for (int depth = 0; depth < 1000; ++depth) {
    nested.number(std::uint32_t{9});
    nested.number(std::uint64_t{1});
  }
  EXPECT_THAT(open(nested.take()), HasSubstr("metadata k: arrays nested over 4 deep"));
}

TEST_F(Gguf, AMetadataPairOfTheWrongFormIsNamed) {
  ByteWriter type;
  start(type, 3, 0, 1);
  key(type, "k", 13);
  EXPECT_THAT(open(type.take()), HasSubstr("metadata k: value type 13, but only 0 to 12 exist"));

  ByteWriter boolean;
  start(boolean, 3, 0, 1);
  key(boolean, "k", 7);
  boolean.number(std::uint8_t{2});
  EXPECT_THAT(open(boolean.take()), HasSubstr("metadata k: boolean of value 2"));

  ByteWriter twice;
  start(twice, 3, 0, 2);
  for (int i = 0; i < 2; ++i) {
    key(twice, "k", 0);
    twice.number(std::uint8_t{1});
  }
  EXPECT_THAT(open(twice.take()), HasSubstr("metadata k: this key stands twice"));

  for (const std::uint32_t alignment : {0U, 3U, 1U << 31U}) {
    ByteWriter out;
    start(out, 3, 0, 1);
    key(out, "general.alignment", 4);
    out.number(alignment);
    EXPECT_THAT(open(out.take()), HasSubstr("general.alignment is " + std::to_string(alignment)));
  }

  ByteWriter split;
  start(split, 3, 0, 1);
  key(split, "split.count", 2);
  split.number(std::uint16_t{3});
  EXPECT_THAT(open(split.take()), HasSubstr("split.count is 3"));
}

TEST_F(Gguf, EveryFieldOfATensorIsChecked) {
  ASSERT_EQ(open_tensors({{}}, 16), "");
  EXPECT_THAT(open_tensors({{.dimensions = {1, 1, 1, 1, 1}}}, 16),
              HasSubstr("tensor t: 5 dimensions, but must have 1 to 4"));
  EXPECT_THAT(open_tensors({{.dimensions = {}}}, 16), HasSubstr("tensor t: 0 dimensions"));
  EXPECT_THAT(open_tensors({{.type = 10}}, 16),
              HasSubstr("tensor t: stored as Q2_K (GGML type 10), but"));
  EXPECT_THAT(open_tensors({{.type = 23}}, 16), HasSubstr("stored as IQ4_XS (GGML type 23), but"));
  EXPECT_THAT(open_tensors({{.type = 39}}, 16), HasSubstr("stored as MXFP4 (GGML type 39), but"));
  for (const std::uint32_t type : {4U, 5U, 31U, 40U, 1U << 31U}) {
    EXPECT_THAT(open_tensors({{.type = type}}, 16),
                HasSubstr("stored as an unknown type (GGML type " + std::to_string(type) + ")"));
  }
  EXPECT_THAT(open_tensors({{.dimensions = {33, 2}, .type = 8}}, 128),
              EndsWith("tensor t: rows of 33 elements, but q8_0 is stored in blocks of 32"));
  EXPECT_THAT(
      open_tensors({{.dimensions = {std::uint64_t{1} << 32U, std::uint64_t{1} << 32U}}}, 16),
      EndsWith("tensor t: the product of its dimensions exceeds 2^63"));
  EXPECT_THAT(open_tensors({{.dimensions = {~std::uint64_t{0}}}}, 16),
              HasSubstr("tensor t: dimension 18446744073709551615 in its shape"));
}

TEST_F(Gguf, RangesOutsideTheFileOrInsideAnotherTensorAreRefused) {
  EXPECT_THAT(open_tensors({{}}, 15), HasSubstr("tensor t: 16 bytes from byte 96 on, but the file "
                                                "ends at byte 111"));
  EXPECT_THAT(open_tensors({{.offset = 8}}, 64),
              HasSubstr("tensor t: data offset 8 is no multiple of general.alignment, 32"));
  EXPECT_THAT(open_tensors({{.offset = ~std::uint64_t{0}}}, 64),
              HasSubstr("tensor t: data offset 18446744073709551615, but the file has only"));
  EXPECT_THAT(open_tensors({{.name = "a", .dimensions = {12}}, {.name = "b", .offset = 32}}, 96),
              HasSubstr("tensor b starts at byte 160, inside tensor a, which ends at byte 176"));
  EXPECT_THAT(open_tensors({{.name = "a"}, {.name = "a", .offset = 32}}, 96),
              HasSubstr("two tensors are named a"));
}

}  // namespace
}  // namespace sticky::test
