#include "sticky/io/run_folder.hpp"

#include <filesystem>
#include <gmock/gmock.h>

#include <gtest/gtest.h>

#include "sticky/base/error.hpp"
#include "tests/support/files.hpp"
#include "tests/support/temp_dir.hpp"

namespace sticky::io {

namespace {

using Mode = RunFolder::Mode;
using testing::HasSubstr;

std::vector<std::string> names_in(const std::string& dir) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(dir))
    names.push_back(entry.path().filename());
  return names;
}

}  // namespace

TEST(RunFolder, IsMadeWithItsParentsAndUnlockedAtTheEnd) {
  const test::TempDir dir;
  const std::string path = dir / "runs/claims";
  {
    const auto folder = RunFolder::open(path, Mode::create);
    EXPECT_EQ(folder->path(), path);
    EXPECT_FALSE(folder->is_resumed());
    EXPECT_TRUE(folder->beat());
    EXPECT_TRUE(std::filesystem::exists(path + "/lock"));
  }
  EXPECT_FALSE(std::filesystem::exists(path + "/lock"));
}

TEST(RunFolder, ARunIsNotOverwrittenAndTheWayToResumeItIsTold) {
  for (const char* file : {"results.jsonl", "errors.jsonl", "superseded.jsonl"}) {
    const test::TempDir dir;
    dir.write(file, "{}\n");
    try {
      (void)RunFolder::open(dir.path(), Mode::create);
      FAIL() << "expected ConfigError";
    } catch (const ConfigError& e) {
      EXPECT_THAT(e.what(), HasSubstr("stickyinvoc resume " + dir.path()));
    }
    EXPECT_THAT(names_in(dir.path()), testing::ElementsAre(file));
  }
}

TEST(RunFolder, AFolderWithOtherFilesIsNoRun) {
  const test::TempDir dir;
  dir.write("notes.txt", "");

  EXPECT_FALSE(RunFolder::open(dir.path(), Mode::create)->is_resumed());
  EXPECT_THROW((void)RunFolder::open(dir.path(), Mode::resume), ConfigError);
  EXPECT_THROW((void)RunFolder::open(dir / "none", Mode::resume), ConfigError);
  EXPECT_FALSE(std::filesystem::exists(dir / "none"));
}

TEST(RunFolder, ARunThatWasRefusedBeforeAnyWorkCanBeRepeated) {
  const test::TempDir dir;
  // What input.strict leaves behind, and what a kill leaves before the first record.
  for (const char* file : {"job.json", "run.log", "stdin.jsonl", "summary.json", "results.jsonl"}) {
    dir.write(file, "");
    EXPECT_FALSE(RunFolder::open(dir.path(), Mode::create)->is_resumed()) << file;
    EXPECT_FALSE(RunFolder::open(dir.path(), Mode::create_or_resume)->is_resumed()) << file;
  }
}

TEST(RunFolder, ARunThatWasKilledBeforeItsFirstRecordCanBeResumed) {
  const test::TempDir dir;
  dir.write("job.json", "{}");

  EXPECT_TRUE(RunFolder::open(dir.path(), Mode::resume)->is_resumed());
}

TEST(RunFolder, CreateOrResumeDoesWhatIsThere) {
  const test::TempDir dir;
  EXPECT_FALSE(RunFolder::open(dir.path(), Mode::create_or_resume)->is_resumed());

  dir.write("results.jsonl", "{}\n");
  EXPECT_TRUE(RunFolder::open(dir.path(), Mode::create_or_resume)->is_resumed());
  EXPECT_TRUE(RunFolder::open(dir.path(), Mode::resume)->is_resumed());
}

TEST(RunFolder, ASecondCoordinatorIsKeptOut) {
  const test::TempDir dir;
  const auto folder = RunFolder::open(dir.path(), Mode::create);

  EXPECT_THROW((void)RunFolder::open(dir.path(), Mode::create_or_resume), ConfigError);
  EXPECT_TRUE(folder->beat());
}

TEST(RunFolder, FilesAreReplacedWhole) {
  const test::TempDir dir;
  const auto folder = RunFolder::open(dir.path(), Mode::create);
  folder->write_file("status.json", "a long first text");

  folder->write_file("status.json", "short");

  EXPECT_EQ(test::read_file(dir / "status.json"), "short");
  EXPECT_FALSE(std::filesystem::exists(dir / "status.json.tmp"));
}

TEST(RunFolder, AFileThatCannotBeWrittenIsNamed) {
  const test::TempDir dir;
  const auto folder = RunFolder::open(dir.path(), Mode::create);
  std::filesystem::create_directory(dir / "status.json.tmp");

  try {
    folder->write_file("status.json", "text");
    FAIL() << "expected SystemError";
  } catch (const SystemError& e) {
    EXPECT_THAT(e.what(), HasSubstr("status.json.tmp: cannot be opened: Is a directory"));
  }
}

TEST(RunFolder, LogLinesAreAppended) {
  const test::TempDir dir;
  dir.write("run.log", "earlier\n");
  const auto folder = RunFolder::open(dir.path(), Mode::create);

  folder->log_line("one");
  folder->log_line("two");

  EXPECT_EQ(test::read_file(dir / "run.log"), "earlier\none\ntwo\n");
}

TEST(RunFolder, OnceTheLockIsLostNothingIsWrittenAnyMore) {
  const test::TempDir dir;
  const auto folder = RunFolder::open(dir.path(), Mode::create);
  const std::string lock = test::read_file(dir / "lock");
  std::filesystem::remove(dir / "lock");
  EXPECT_FALSE(folder->holds_lock());
  dir.write("lock", lock);  // even if it came back: what happened in between is unknown

  EXPECT_FALSE(folder->beat());
  EXPECT_FALSE(folder->holds_lock());
  EXPECT_THROW(folder->write_file("status.json", "text"), SystemError);
  folder->log_line("late");
  EXPECT_EQ(test::read_file(dir / "run.log"), "");
  EXPECT_FALSE(std::filesystem::exists(dir / "status.json"));
}

}  // namespace sticky::io
