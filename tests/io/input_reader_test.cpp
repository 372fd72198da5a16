#include "sticky/io/input_reader.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sticky/base/error.hpp"
#include "tests/io/lines.hpp"
#include "tests/support/files.hpp"
#include "tests/support/temp_dir.hpp"

namespace sticky::io {

namespace {

using test::read_all;
using testing::ElementsAre;
using testing::HasSubstr;

class InputReaderTest : public testing::Test {
 protected:
  std::vector<InputLine> read(std::string_view text) {
    return read_all(test::files({dir_.write("in.jsonl", text)}));
  }
  // The codes of the lines between two good ones, which must not be harmed.
  std::vector<std::string> codes_between_good_ones(const std::string& bad) {
    const auto lines = read("{\"id\":\"first\",\"prompt\":\"a\"}\n" + bad +
                            "\n{\"id\":\"last\",\"prompt\":\"b\"}\n");
    if (lines.size() < 2) {
      ADD_FAILURE() << bad;
      return {};
    }
    EXPECT_EQ(lines.front().custom_id, "first");
    EXPECT_EQ(lines.front().error_code, "");
    EXPECT_EQ(lines.back().custom_id, "last");
    EXPECT_EQ(lines.back().error_code, "") << lines.back().error_message;
    std::vector<std::string> codes;
    for (std::size_t i = 1; i + 1 < lines.size(); ++i)
      codes.push_back(lines[i].error_code);
    return codes;
  }

  test::TempDir dir_;
};

}  // namespace

TEST_F(InputReaderTest, LinesAreCountedPhysicallyAndBlankOnesSkipped) {
  const auto lines =
      read("{\"prompt\":\"a\"}\n\n  \t\n{\"id\":\"x\",\"prompt\":\"b\",\"model\":\"m\"}\n");

  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].id, InvocationId{0});
  EXPECT_EQ(lines[0].line, 1);
  EXPECT_EQ(lines[0].byte_offset, 0);
  EXPECT_EQ(lines[0].custom_id, dir_ / "in.jsonl" + ":1");
  EXPECT_FALSE(lines[0].has_id);
  EXPECT_EQ(lines[0].payload, "{\"prompt\":\"a\"}");
  EXPECT_EQ(lines[0].model, "");
  EXPECT_EQ(lines[1].id, InvocationId{1});
  EXPECT_EQ(lines[1].line, 4);
  EXPECT_EQ(lines[1].byte_offset, 20);
  EXPECT_EQ(lines[1].custom_id, "x");
  EXPECT_TRUE(lines[1].has_id);
  EXPECT_EQ(lines[1].model, "m");
}

TEST_F(InputReaderTest, AByteOrderMarkAndCarriageReturnsAreNoPartOfALine) {
  const auto lines = read("\xEF\xBB\xBF{\"prompt\":\"a\"}\r\n\r\n{\"prompt\":\"b\"}\r\n");

  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].payload, "{\"prompt\":\"a\"}");
  EXPECT_EQ(lines[0].byte_offset, 3);
  EXPECT_EQ(lines[0].error_code, "");
  EXPECT_EQ(lines[1].payload, "{\"prompt\":\"b\"}");
  EXPECT_EQ(lines[1].line, 3);
  EXPECT_EQ(lines[1].byte_offset, 21);
}

TEST_F(InputReaderTest, ALastLineWithoutAnEndCounts) {
  const auto lines = read("{\"prompt\":\"a\"}\n{\"prompt\":\"b\"}");

  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[1].payload, "{\"prompt\":\"b\"}");
}

TEST_F(InputReaderTest, NothingGivesNoLines) {
  EXPECT_TRUE(read("").empty());
  EXPECT_TRUE(read("\n\r\n  \n").empty());
  EXPECT_TRUE(read("\xEF\xBB\xBF").empty());
}

TEST_F(InputReaderTest, SeveralFilesFollowOneAnotherEachWithItsOwnLineNumbers) {
  const std::string a = dir_.write("a.jsonl", "{\"prompt\":\"1\"}\n{\"prompt\":\"2\"}");
  const std::string b = dir_.write("b.jsonl", "\xEF\xBB\xBF{\"prompt\":\"3\"}\n");
  const auto reader = open_input(test::files({a, b}));

  const auto lines = read_all(*reader);

  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[1].custom_id, a + ":2");
  EXPECT_EQ(lines[2].custom_id, b + ":1");
  EXPECT_EQ(lines[2].id, InvocationId{2});
  EXPECT_EQ(reader->bytes_total(), 29 + 18);
  EXPECT_EQ(reader->bytes_read(), reader->bytes_total());
}

TEST_F(InputReaderTest, EveryKindOfBrokenLineIsOneErrorAndHarmsNoNeighbour) {
  for (const std::string& bad : {
           std::string("{\"prompt\":\"a\xFF\"}"),          // no UTF-8
           std::string("{\"prompt\":\"a\xED\xA0\x80\"}"),  // a surrogate in UTF-8
           std::string("{\"prompt\":\"\\ud800\"}"),        // an unpaired surrogate escape
           std::string("{\"prompt\":\"\\ud800\\u0041\"}"),
           std::string("{\"prompt\":\"a\""),
           std::string("{\"prompt\":\"a\"}}"),
           std::string("{\"prompt\":\"a\"} {}"),
           std::string("{'prompt':'a'}"),
           std::string("{\"prompt\":NaN}"),
           std::string("{\"prompt\":\"a\",\"x\":1e999}"),
           std::string("hello"),
           std::string("{\"prompt\":\"a\0b\"}", 16),
           std::string("[]"),
           std::string("\"text\""),
           std::string("null"),
           std::string("17"),
           std::string("}"),
           std::string(600, '[') + std::string(600, ']'),
           std::string("{\"a\":" + std::string(600, '[')),
       })
    EXPECT_THAT(codes_between_good_ones(bad), ElementsAre("invalid_json_line")) << bad;
}

TEST_F(InputReaderTest, AnEscapedNullAndPairedSurrogatesAreText) {
  EXPECT_THAT(codes_between_good_ones(R"({"prompt":"a\u0000b\ud83d\ude00"})"), ElementsAre(""));
}

TEST_F(InputReaderTest, AnErrorNamesThePlaceOfTheFaultAndKeepsTheLinesName) {
  const auto lines = read("\n{\"id\":\"x\",\"prompt\":}\n");

  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].custom_id, dir_ / "in.jsonl" + ":2");
  EXPECT_THAT(lines[0].error_message, HasSubstr("at byte"));
}

TEST_F(InputReaderTest, AnIdThatIsEmptyOrNoStringIsRefusedAndTheLineKeepsItsPlaceAsName) {
  for (const char* id : {"\"\"", "7", "null", "{}"}) {
    const auto lines = read(fmt::format("{{\"custom_id\":{},\"prompt\":\"a\"}}\n", id));
    ASSERT_EQ(lines.size(), 1U);
    EXPECT_EQ(lines[0].error_code, "invalid_request") << id;
    EXPECT_EQ(lines[0].error_param, "custom_id") << id;
    EXPECT_EQ(lines[0].custom_id, dir_ / "in.jsonl" + ":1") << id;
    EXPECT_FALSE(lines[0].has_id);
  }
}

TEST_F(InputReaderTest, TheFirstOfTwoLinesWithOneIdWinsOverAllFiles) {
  const std::string a = dir_.write(
      "a.jsonl", "{\"id\":\"x\",\"prompt\":\"1\"}\n{\"custom_id\":\"x\",\"prompt\":\"2\"}\n");
  const std::string b =
      dir_.write("b.jsonl", "{\"id\":\"y\",\"prompt\":\"3\"}\n{\"id\":\"x\",\"prompt\":\"1\"}\n");

  const auto lines = read_all(test::files({a, b}));

  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[0].error_code, "");
  EXPECT_EQ(lines[1].error_code, "duplicate_custom_id");
  EXPECT_EQ(lines[1].error_param, "custom_id");
  EXPECT_EQ(lines[1].custom_id, "x");
  EXPECT_EQ(lines[2].error_code, "");
  EXPECT_EQ(lines[3].error_code, "duplicate_custom_id");
}

TEST_F(InputReaderTest, AGivenIdThatMeetsAMadeUpOneIsADoubleToo) {
  const std::string name = dir_ / "in.jsonl";
  const auto lines = read("{\"prompt\":\"1\"}\n{\"id\":\"" + name +
                          ":1\",\"prompt\":\"2\"}\n{\"id\":\"" + name + ":3\",\"prompt\":\"2\"}\n");

  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[1].error_code, "duplicate_custom_id");
  EXPECT_EQ(lines[2].error_code, "");
  EXPECT_FALSE(lines[2].has_id);  // just what it would be called without one
}

TEST_F(InputReaderTest, TheHashIsThatOfTheRequestAndNotOfItsId) {
  const auto lines = read(
      "{\"id\":\"x\",\"prompt\":\"1\",\"seed\":1}\n{\"seed\":1,\"prompt\":\"1\",\"label\":3}\n"
      "{\"prompt\":\"1\",\"seed\":2}\n{\"prompt\"\n{\"prompt\"\n{\"prompt\" \n");

  ASSERT_EQ(lines.size(), 6U);
  EXPECT_EQ(lines[0].hash, lines[1].hash);
  EXPECT_NE(lines[0].hash, lines[2].hash);
  EXPECT_EQ(lines[3].hash, lines[4].hash);
  EXPECT_NE(lines[3].hash, lines[5].hash);
}

TEST_F(InputReaderTest, ALineOverTheBoundIsAnErrorAndTheNextOneIsWhole) {
  // Lengths around the bound and around the pieces in which files are read.
  const std::string good = "{\"id\":\"good\",\"prompt\":\"a\"}";
  const i64 max_line_bytes = 300'000;
  for (const std::size_t n :
       {299'999U, 300'000U, 300'001U, 524'287U, 524'288U, 524'289U, 2'000'000U}) {
    const std::string start = "{\"prompt\":\"";
    const std::string line = start + std::string(n - start.size() - 2, 'x') + "\"}";
    InputOptions options = test::files({dir_.write("in.jsonl", line + "\n" + good + "\n" + line)});
    options.max_line_bytes = max_line_bytes;

    const auto lines = read_all(options);

    ASSERT_EQ(lines.size(), 3U) << n;
    for (const std::size_t i : {0U, 2U}) {
      const bool is_long = n > 300'000;
      EXPECT_EQ(lines[i].error_code, is_long ? "line_too_long" : "") << n;
      EXPECT_EQ(lines[i].payload.size(), is_long ? 0 : n);
    }
    EXPECT_EQ(lines[1].payload, good) << n;
    EXPECT_EQ(lines[1].byte_offset, static_cast<i64>(n) + 1);
    EXPECT_EQ(lines[1].line, 2);
    EXPECT_EQ(lines[2].byte_offset, static_cast<i64>(n + good.size()) + 2);
  }
}

TEST_F(InputReaderTest, LinesOfEveryLengthCrossThePiecesOfReadingUnharmed) {
  std::string text;
  std::vector<std::string> wanted;
  for (std::size_t i = 0; i < 3000; ++i) {
    wanted.push_back(fmt::format("{{\"prompt\":\"{}\"}}", std::string(i * 7 % 1000, 'x')));
    text += wanted.back() + (i % 3 == 0 ? "\r\n" : "\n");
  }

  const auto lines = read(text);

  ASSERT_EQ(lines.size(), wanted.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    ASSERT_EQ(lines[i].payload, wanted[i]);
    ASSERT_EQ(
        text.compare(static_cast<std::size_t>(lines[i].byte_offset), wanted[i].size(), wanted[i]),
        0);
  }
}

TEST_F(InputReaderTest, AllThatIsWrongWithTheFilesIsToldAtOnce) {
  const std::string good = dir_.write("a.jsonl", "");
  try {
    (void)open_input(test::files({dir_ / "none.jsonl", good, dir_.path(), good}));
    FAIL() << "expected ConfigError";
  } catch (const ConfigError& e) {
    EXPECT_THAT(e.what(), HasSubstr(dir_ / "none.jsonl" + ": cannot be read: No such file"));
    EXPECT_THAT(e.what(), HasSubstr(dir_.path() + ": cannot be read: it is a folder"));
    EXPECT_THAT(e.what(), HasSubstr(good + ": is listed twice"));
  }
  EXPECT_THROW((void)open_input(InputOptions{}), ConfigError);
}

TEST_F(InputReaderTest, AFileIsListedTwiceUnderWhateverNames) {
  const std::string file = dir_.write("a.jsonl", "{\"prompt\":\"a\"}\n");
  const std::string same_text = dir_.write("b.jsonl", "{\"prompt\":\"a\"}\n");
  const std::string link = dir_ / "link.jsonl";
  std::filesystem::create_symlink(file, link);
  for (const std::string& name : {dir_ / "./a.jsonl", link}) {
    try {
      (void)open_input(test::files({file, same_text, name}));
      ADD_FAILURE() << "expected ConfigError for " << name;
    } catch (const ConfigError& e) {
      EXPECT_EQ(std::string(e.what()), fmt::format("{}: is listed twice, first as {}", name, file));
    }
  }
  EXPECT_NO_THROW((void)open_input(test::files({file, same_text})));
}

TEST_F(InputReaderTest, StandardInputIsKeptOnceAndReadFromThere) {
  const std::string text = "{\"prompt\":\"a\"}\n{\"prompt\":\"b\"}";
  dir_.write("stdin.jsonl", "left behind by an earlier run");
  const int fd = ::open(dir_.write("source", text).c_str(), O_RDONLY);
  ASSERT_GE(fd, 0);

  const std::string kept = keep_standard_input(
      dir_.path(), false, [] {}, fd);
  const std::string again = keep_standard_input(
      dir_.path(), true, [] {}, -1);  // -1 cannot be read
  ::close(fd);
  InputOptions options = test::files({"-"});
  options.kept_standard_input = kept;
  const auto lines = read_all(options);

  EXPECT_EQ(kept, dir_ / "stdin.jsonl");
  EXPECT_EQ(again, kept);
  EXPECT_EQ(test::read_file(kept), text);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[1].custom_id, "stdin:2");
  EXPECT_EQ(lines[1].file, "stdin");
}

}  // namespace sticky::io
