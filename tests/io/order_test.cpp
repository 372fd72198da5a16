#include "sticky/io/order.hpp"

#include <algorithm>
#include <gmock/gmock.h>
#include <random>

#include <gtest/gtest.h>

#include "sticky/base/error.hpp"
#include "tests/io/lines.hpp"
#include "tests/support/files.hpp"
#include "tests/support/temp_dir.hpp"

namespace sticky::io {

namespace {

InputLine line_of(const std::string& file, i64 line) {
  InputLine out;
  out.file = file;
  out.line = line;
  out.custom_id = file + "-" + std::to_string(line);
  return out;
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const auto& line : lines)
    text += line + "\n";
  return text;
}

}  // namespace

TEST(SortByInput, OrdersByListedFileThenByNumberOfTheLine) {
  const test::TempDir dir;
  std::vector<std::string> wanted;
  std::vector<std::string> errors;
  for (const char* file : {"z.jsonl", "a.jsonl", "stdin"})
    for (i64 line = 1; line <= 120; ++line) {  // 9 < 10 < 100: by number, not by text
      const InputLine at = line_of(file, line);
      (line % 10 == 0 ? errors : wanted)
          .push_back(line % 10 == 0 ? test::error_of(at, "failed") : test::success_of(at));
    }
  auto results_shuffled = wanted;
  auto errors_shuffled = errors;
  std::mt19937 random(3);
  std::ranges::shuffle(results_shuffled, random);
  std::ranges::shuffle(errors_shuffled, random);
  dir.write("results.jsonl", joined(results_shuffled));
  dir.write("errors.jsonl", joined(errors_shuffled));

  sort_by_input(dir.path(), {"z.jsonl", "a.jsonl", "-"});

  EXPECT_EQ(test::read_file(dir / "results.jsonl"), joined(wanted));
  EXPECT_EQ(test::read_file(dir / "errors.jsonl"), joined(errors));
}

TEST(SortByInput, AnEmptyOrMissingFileIsInOrder) {
  const test::TempDir dir;
  dir.write("results.jsonl", "");

  sort_by_input(dir.path(), {"a.jsonl"});

  EXPECT_EQ(test::read_file(dir / "results.jsonl"), "");
}

TEST(SortByInput, ALineThatIsNoRecordIsRefusedAndNothingIsChanged) {
  const test::TempDir dir;
  const std::string text = test::success_of(line_of("a", 2)) + "\nhello\n";
  dir.write("results.jsonl", text);

  EXPECT_THROW(sort_by_input(dir.path(), {"a"}), FormatError);
  EXPECT_EQ(test::read_file(dir / "results.jsonl"), text);
}

}  // namespace sticky::io
