#include "run_files.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "sticky/base/error.hpp"
#include "tests/support/temp_dir.hpp"

#include "json_fields.hpp"

namespace sticky::cli {
namespace {

namespace fs = std::filesystem;

class RunFiles : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ + "/" + name) << text;
  }
  test::TempDir dir_;
  std::string folder_ = dir_.path();
};

TEST_F(RunFiles, AFolderShowsARunOnceOneOfItsFilesStands) {
  EXPECT_FALSE(shows_run(folder_ + "/nowhere"));
  EXPECT_FALSE(shows_run(folder_));
  write("notes.txt", "mine");
  EXPECT_FALSE(shows_run(folder_));
  write("errors.jsonl", "");
  EXPECT_TRUE(shows_run(folder_));
}

TEST_F(RunFiles, ALogIsAddedToOnlyWhereItStands) {
  EXPECT_FALSE(append_to_log(folder_, "a\n"));
  EXPECT_FALSE(fs::exists(folder_ + "/run.log"));
  write("run.log", "a\n");
  EXPECT_TRUE(append_to_log(folder_, "b\n"));
  EXPECT_EQ(fs::file_size(folder_ + "/run.log"), 4);
}

TEST_F(RunFiles, WhatIsNoJsonIsAsGoodAsMissing) {
  EXPECT_FALSE(read_status(folder_));
  write("status.json", "{\"phase\": ");
  EXPECT_FALSE(read_status(folder_));
  write("status.json", "{\"phase\": \"running\"}");
  ASSERT_TRUE(read_status(folder_));
  EXPECT_EQ(text_at(*read_status(folder_), "phase"), "running");
}

TEST_F(RunFiles, ASummaryThatCannotBeTrustedIsNotRead) {
  EXPECT_FALSE(read_summary(folder_));
  const std::string good =
      R"({"exit_code": 0, "ending": "complete",
          "counts": {"requests": 3, "results": 3, "errors": 0, "unanswered": 0}})";
  write("summary.json", good);
  EXPECT_TRUE(read_summary(folder_));
  for (std::size_t n = 0; n < good.size(); ++n) {
    write("summary.json", good.substr(0, n));
    EXPECT_THROW((void)read_summary(folder_), FormatError) << n;
  }
  for (const char* text :
       {"[]", "0", "{}", R"({"exit_code": 6, "ending": "x"})",
        R"({"exit_code": -1, "ending": "x"})", R"({"exit_code": "0", "ending": "x"})",
        R"({"exit_code": 0.5, "ending": "x"})", R"({"exit_code": true, "ending": "x"})",
        R"({"exit_code": 0})", R"({"exit_code": 0, "ending": "x", "counts": 3})",
        R"({"exit_code": 0, "ending": "x", "counts": {}})",
        R"({"exit_code": 0, "ending": "x",
            "counts": {"requests": 3, "results": -3, "errors": 0, "unanswered": 0}})"}) {
    write("summary.json", text);
    EXPECT_THROW((void)read_summary(folder_), FormatError) << text;
  }
  fs::remove(folder_ + "/summary.json");
  fs::create_directory(folder_ + "/summary.json");
  EXPECT_THROW((void)read_summary(folder_), FormatError);
}

TEST_F(RunFiles, ARunFolderMustBeOneThatCanBeMade) {
  write("file", "");
  EXPECT_NO_THROW(check_run_dir(folder_));
  EXPECT_NO_THROW(check_run_dir(folder_ + "/a/b/"));
  EXPECT_FALSE(fs::exists(folder_ + "/a"));
  for (const std::string& wrong : {std::string(), folder_ + "/file", folder_ + "/file/below",
                                   folder_ + "/" + std::string(300, 'x')})
    EXPECT_THROW(check_run_dir(wrong), ConfigError) << wrong;
}

TEST_F(RunFiles, ATornLastRecordIsNotCounted) {
  EXPECT_EQ(count_records(folder_, "results.jsonl"), 0);
  write("results.jsonl", "{}\n{}\n{");
  EXPECT_EQ(count_records(folder_, "results.jsonl"), 2);
}

TEST(RunDir, IsNamedAfterJobAndTime) {
  EXPECT_EQ(new_run_dir("claims", 0), "runs/claims-19700101T000000Z");
  EXPECT_EQ(new_run_dir("x", 1767323045), "runs/x-20260102T030405Z");
}

TEST(ResumeLine, CanBePasted) {
  EXPECT_EQ(resume_line("runs/a"), "stickyinvoc resume runs/a");
  EXPECT_EQ(resume_line("my runs/a"), "stickyinvoc resume 'my runs/a'");
}

TEST(JsonFields, OfAnotherKindAreEmpty) {
  const Json object = Json::parse(R"({"n": 3, "x": 1.5, "t": "a", "b": true, "l": [1, 2]})");
  EXPECT_EQ(integer_at(object, "n"), 3);
  EXPECT_EQ(integer_at(object, "t"), 0);
  EXPECT_EQ(number_at(object, "n"), 3.0);
  EXPECT_EQ(number_at(object, "x"), 1.5);
  EXPECT_EQ(text_at(object, "n"), "");
  EXPECT_TRUE(boolean_at(object, "b"));
  EXPECT_FALSE(boolean_at(object, "n"));
  EXPECT_EQ(array_at(object, "l").size(), 2);
  EXPECT_TRUE(array_at(object, "n").empty());
  EXPECT_EQ(integer_at(Json("no object"), "n"), 0);
}

}  // namespace
}  // namespace sticky::cli
