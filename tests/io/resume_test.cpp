#include "sticky/io/resume.hpp"

#include <filesystem>
#include <gmock/gmock.h>

#include <gtest/gtest.h>

#include "sticky/base/error.hpp"
#include "sticky/base/json.hpp"
#include "tests/io/lines.hpp"
#include "tests/support/files.hpp"
#include "tests/support/temp_dir.hpp"

namespace sticky::io {

namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class ResumeTest : public testing::Test {
 protected:
  // Lines of the input that are to be done, by custom_id.
  std::vector<std::string> missing_after_resume(const ResumeOptions& options = {}) {
    auto input = open_input(options_);
    const auto done = prepare_resume(dir_.path(), *input, options);
    n_results_ = done->n_results();
    n_errors_ = done->n_errors();
    std::vector<std::string> missing;
    for (const auto& line : test::read_all(options_))
      if (!done->take(line)) missing.push_back(line.custom_id);
    return missing;
  }
  std::vector<InputLine> write_input(std::string_view text) {
    options_ = test::files({dir_.write("in.jsonl", text)});
    return test::read_all(options_);
  }
  std::string text_of(std::string_view name) {
    const std::string path = dir_ / name;
    return std::filesystem::exists(path) ? test::read_file(path) : "";
  }
  std::string id_at(i64 line) { return dir_ / "in.jsonl" + ":" + std::to_string(line); }

  test::TempDir dir_;
  InputOptions options_;
  i64 n_results_ = 0;
  i64 n_errors_ = 0;
};

constexpr const char* kThree =
    "{\"id\":\"a\",\"prompt\":\"1\"}\n{\"id\":\"b\",\"prompt\":\"2\"}\n{\"id\":\"c\",\"prompt\":"
    "\"3\"}\n";

}  // namespace

TEST_F(ResumeTest, WhatHasARecordIsDone) {
  const auto lines = write_input(kThree);
  const std::string results = test::success_of(lines[2]) + "\n";
  const std::string errors = test::error_of(lines[0], "context_length_exceeded") + "\n";
  dir_.write("results.jsonl", results);
  dir_.write("errors.jsonl", errors);

  EXPECT_THAT(missing_after_resume(), ElementsAre("b"));
  EXPECT_EQ(n_results_, 1);
  EXPECT_EQ(n_errors_, 1);
  EXPECT_EQ(text_of("results.jsonl"), results);
  EXPECT_EQ(text_of("errors.jsonl"), errors);
  EXPECT_FALSE(std::filesystem::exists(dir_ / "superseded.jsonl"));
}

TEST_F(ResumeTest, NothingIsLeftOnlyWhenEachLineHasTheRecordOfItsPlaceAndThereAreNoOthers) {
  const auto lines = write_input(kThree);
  const std::string results = test::success_of(lines[2]) + "\n" + test::success_of(lines[1]) + "\n";
  const std::string errors = test::error_of(lines[0], "context_length_exceeded") + "\n";
  const auto is_done = [&](const ResumeOptions& options = {}) {
    return is_all_done(dir_.path(), *open_input(options_), options);
  };
  dir_.write("results.jsonl", results);
  EXPECT_FALSE(is_done()) << "one has none";
  dir_.write("errors.jsonl", errors);
  EXPECT_TRUE(is_done());
  EXPECT_FALSE(is_done({.retry_errors = true, .retry_code = ""}));
  EXPECT_TRUE(is_done({.retry_errors = true, .retry_code = "worker_lost"}));
  for (const std::string& other : {results + "{}\n", results + results, results + "{",
                                   results.substr(0, results.size() - 1)}) {
    dir_.write("results.jsonl", other);
    EXPECT_FALSE(is_done()) << other;
    EXPECT_EQ(text_of("results.jsonl"), other);
  }
  dir_.write("results.jsonl", results);
  (void)write_input(std::string("\n") + kThree);
  EXPECT_FALSE(is_done()) << "the records must learn their new places";
  (void)write_input(std::string(kThree) + "{\"prompt\":\"4\"}\n");
  EXPECT_FALSE(is_done());
  (void)write_input("");
  EXPECT_FALSE(is_done());
  EXPECT_FALSE(std::filesystem::exists(dir_ / "superseded.jsonl"));
}

TEST_F(ResumeTest, ARunWithoutRecordsIsAllToDo) {
  write_input(kThree);

  EXPECT_THAT(missing_after_resume(), ElementsAre("a", "b", "c"));
}

TEST_F(ResumeTest, ALastLineTornAtAnyByteIsCutAndDoneAgain) {
  const auto lines = write_input(kThree);
  const std::string first = test::success_of(lines[0]) + "\n";
  const std::string second = test::success_of(lines[1]) + "\n";
  for (std::size_t n = 0; n < second.size(); ++n) {
    dir_.write("results.jsonl", first + second.substr(0, n));

    ASSERT_THAT(missing_after_resume(), ElementsAre("b", "c")) << n;
    ASSERT_EQ(text_of("results.jsonl"), first) << n;
    ASSERT_FALSE(std::filesystem::exists(dir_ / "superseded.jsonl")) << n;
  }
  dir_.write("results.jsonl", first + second);
  EXPECT_THAT(missing_after_resume(), ElementsAre("c"));
}

TEST_F(ResumeTest, AChangedRequestIsRunAnewAndItsOldRecordSetAside) {
  const auto lines = write_input(kThree);
  dir_.write("results.jsonl",
             test::success_of(lines[0]) + "\n" + test::success_of(lines[1]) + "\n");

  write_input("{\"id\":\"a\",\"prompt\":\"1\"}\n{\"id\":\"b\",\"prompt\":\"changed\"}\n");

  EXPECT_THAT(missing_after_resume(), ElementsAre("b"));
  EXPECT_EQ(text_of("results.jsonl"), test::success_of(lines[0]) + "\n");
  EXPECT_EQ(text_of("superseded.jsonl"), test::success_of(lines[1]) + "\n");
}

TEST_F(ResumeTest, ARecordWhoseLineVanishedIsSetAside) {
  const auto lines = write_input(kThree);
  dir_.write("errors.jsonl", test::error_of(lines[2], "failed") + "\n");

  write_input("{\"id\":\"a\",\"prompt\":\"1\"}\n");

  EXPECT_THAT(missing_after_resume(), ElementsAre("a"));
  EXPECT_EQ(text_of("errors.jsonl"), "");
  EXPECT_EQ(text_of("superseded.jsonl"), test::error_of(lines[2], "failed") + "\n");
}

TEST_F(ResumeTest, DoublesAreSetAsideAndASuccessIsPreferred) {
  const auto lines = write_input(kThree);
  const std::string kept = test::success_of(lines[0], "first");
  const std::string again = test::success_of(lines[0], "second");
  const std::string failed = test::error_of(lines[0], "worker_lost");
  dir_.write("results.jsonl", kept + "\n" + again + "\n");
  dir_.write("errors.jsonl", failed + "\n");

  EXPECT_THAT(missing_after_resume(), ElementsAre("b", "c"));
  EXPECT_EQ(text_of("results.jsonl"), kept + "\n");
  EXPECT_EQ(text_of("errors.jsonl"), "");
  EXPECT_EQ(text_of("superseded.jsonl"), again + "\n" + failed + "\n");
}

TEST_F(ResumeTest, LinesThatAreNoRecordsAreSetAsideWhole) {
  const auto lines = write_input(kThree);
  const std::string good = test::success_of(lines[0]);
  const std::string misplaced = test::error_of(lines[1], "failed");
  const std::string zeros(100, '\0');
  dir_.write("results.jsonl", "garbage\n" + good + "\n{}\n" + zeros + "\n" + misplaced + "\n\n");

  EXPECT_THAT(missing_after_resume(), ElementsAre("b", "c"));
  EXPECT_EQ(text_of("results.jsonl"), good + "\n");
  EXPECT_EQ(text_of("superseded.jsonl"), "garbage\n{}\n" + zeros + "\n" + misplaced + "\n\n");
}

TEST_F(ResumeTest, ErrorsStayUnlessTheyAreToBeTriedAgain) {
  const auto lines = write_input(kThree);
  const std::string errors = test::error_of(lines[0], "worker_lost") + "\n" +
                             test::error_of(lines[1], "context_length_exceeded") + "\n";
  dir_.write("errors.jsonl", errors);

  EXPECT_THAT(missing_after_resume(), ElementsAre("c"));
  EXPECT_THAT(missing_after_resume({true, "no_such_code"}), ElementsAre("c"));
  EXPECT_EQ(text_of("errors.jsonl"), errors);
  EXPECT_THAT(missing_after_resume({true, "worker_lost"}), ElementsAre("a", "c"));
  EXPECT_EQ(text_of("superseded.jsonl"), test::error_of(lines[0], "worker_lost") + "\n");
  EXPECT_THAT(missing_after_resume({true, ""}), ElementsAre("a", "b", "c"));
  EXPECT_EQ(text_of("errors.jsonl"), "");
}

TEST_F(ResumeTest, ReorderedLinesKeepTheirRecordsWhichLearnTheirNewPlace) {
  const auto lines = write_input(kThree);
  dir_.write("results.jsonl",
             test::success_of(lines[0]) + "\n" + test::success_of(lines[2]) + "\n");

  const auto now = write_input(
      "\n{\"id\":\"c\",\"prompt\":\"3\"}\n{\"id\":\"b\",\"prompt\":\"2\"}\n{\"id\":\"a\","
      "\"prompt\":\"1\"}\n");

  EXPECT_THAT(missing_after_resume(), ElementsAre("b"));
  const auto records = test::split_lines(text_of("results.jsonl"));
  ASSERT_EQ(records.size(), 2U);
  const Json a = Json::parse(records[0]);
  EXPECT_EQ(a.find("custom_id")->as_string(), "a");
  EXPECT_EQ(a.find("sticky")->find("line")->as_integer(), now[2].line);
  EXPECT_FALSE(std::filesystem::exists(dir_ / "superseded.jsonl"));
}

TEST_F(ResumeTest, LinesWithoutIdAreFoundAgainByTheirRequestAndTakeTheirNewName) {
  const auto lines = write_input("{\"prompt\":\"1\"}\n{\"prompt\":\"2\"}\n");
  dir_.write("results.jsonl", test::success_of(lines[0], "one") + "\n");
  dir_.write("errors.jsonl", test::error_of(lines[1], "failed") + "\n");

  write_input("{\"prompt\":\"new\"}\n{\"prompt\":\"1\"}\n{\"prompt\":\"2\"}\n");

  EXPECT_THAT(missing_after_resume(), ElementsAre(id_at(1)));
  const Json result = Json::parse(text_of("results.jsonl"));
  EXPECT_EQ(result.find("custom_id")->as_string(), id_at(2));
  EXPECT_EQ(result.find("sticky")->find("line")->as_integer(), 2);
  const Json error = Json::parse(text_of("errors.jsonl"));
  EXPECT_EQ(error.find("custom_id")->as_string(), id_at(3));
  EXPECT_EQ(error.find("error")->find("line")->as_integer(), 3);
  EXPECT_EQ(error.find("error")->find("byte_offset")->as_integer(), 32);
  // The second time nothing has moved.
  EXPECT_THAT(missing_after_resume(), ElementsAre(id_at(1)));
}

TEST_F(ResumeTest, OfEqualLinesWithoutIdEachKeepsItsOwnRecord) {
  const std::string five =
      "{\"prompt\":\"1\"}\n{\"prompt\":\"1\"}\n{\"prompt\":\"1\"}\n{\"prompt\":\"1\"}\n";
  const auto lines = write_input(five);
  const std::string results =
      test::success_of(lines[3], "four") + "\n" + test::success_of(lines[1], "two") + "\n";
  dir_.write("results.jsonl", results);

  EXPECT_THAT(missing_after_resume(), ElementsAre(id_at(1), id_at(3)));
  EXPECT_EQ(text_of("results.jsonl"), results);
}

TEST_F(ResumeTest, OfEqualLinesWithoutIdAsManyAreDoneAsThereAreRecords) {
  const auto lines = write_input("{\"prompt\":\"1\"}\n{\"prompt\":\"1\"}\n{\"prompt\":\"1\"}\n");
  dir_.write("results.jsonl",
             test::success_of(lines[1]) + "\n" + test::success_of(lines[2]) + "\n");

  write_input(
      "{\"prompt\":\"x\"}\n\n\n\n{\"prompt\":\"1\"}\n{\"prompt\":\"1\"}\n{\"prompt\":\"1\"}\n");

  EXPECT_THAT(missing_after_resume(), ElementsAre(id_at(1), id_at(7)));
}

TEST_F(ResumeTest, LinesThatAreNoRequestsAreDoneWhenTheirFaultIsRecorded) {
  const auto lines = write_input(
      "{\"id\":\"a\",\"prompt\":\"1\"}\nbroken\n{\"id\":\"a\",\"prompt\":\"1\"}\n{\"id\":7,"
      "\"prompt\":\"1\"}\n");
  std::string errors;
  for (const std::size_t i : {1U, 2U, 3U})
    errors += test::error_of(lines[i], lines[i].error_code) + "\n";
  dir_.write("errors.jsonl", errors);

  EXPECT_THAT(missing_after_resume(), ElementsAre("a"));
  EXPECT_EQ(text_of("errors.jsonl"), errors);
}

TEST_F(ResumeTest, ADoubleWhoseFirstLineIsGoneIsARequestAgain) {
  const auto lines =
      write_input("{\"id\":\"a\",\"prompt\":\"1\"}\n{\"id\":\"a\",\"prompt\":\"2\"}\n");
  dir_.write("results.jsonl", test::success_of(lines[0]) + "\n");
  dir_.write("errors.jsonl", test::error_of(lines[1], lines[1].error_code) + "\n");

  write_input("{\"id\":\"a\",\"prompt\":\"2\"}\n");

  EXPECT_THAT(missing_after_resume(), ElementsAre("a"));
  EXPECT_EQ(test::split_lines(text_of("superseded.jsonl")).size(), 2U);
}

TEST_F(ResumeTest, AnInputThatCannotBeReadChangesNothing) {
  const auto lines = write_input(kThree);
  const std::string results = test::success_of(lines[0]) + "\n" + test::success_of(lines[0]) + "\n";
  dir_.write("results.jsonl", results);
  options_ = test::files({dir_.write("in.gz", "\x1f\x8b")});

  EXPECT_THROW((void)missing_after_resume(), FormatError);
  EXPECT_EQ(text_of("results.jsonl"), results);
  EXPECT_FALSE(std::filesystem::exists(dir_ / "superseded.jsonl"));
}

TEST_F(ResumeTest, AKillAfterSettingAsideLosesNothing) {
  const auto lines = write_input(kThree);
  const std::string results = test::success_of(lines[0]) + "\n" + test::success_of(lines[1]) + "\n";
  dir_.write("results.jsonl", results);
  write_input("{\"id\":\"a\",\"prompt\":\"1\"}\n");
  // As a kill leaves it between the two steps: set aside, not yet replaced, a new file half made.
  dir_.write("superseded.jsonl", test::success_of(lines[1]) + "\n");
  dir_.write("results.jsonl.tmp", test::success_of(lines[0]).substr(0, 40));

  EXPECT_THAT(missing_after_resume(), IsEmpty());
  EXPECT_EQ(text_of("results.jsonl"), test::success_of(lines[0]) + "\n");
  EXPECT_EQ(text_of("superseded.jsonl"),
            test::success_of(lines[1]) + "\n" + test::success_of(lines[1]) + "\n");
}

}  // namespace sticky::io
