#include "run_files.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

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
