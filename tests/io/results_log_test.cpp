#include "sticky/io/results_log.hpp"

#include <filesystem>
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sticky/base/error.hpp"
#include "tests/io/lines.hpp"
#include "tests/support/files.hpp"
#include "tests/support/temp_dir.hpp"

namespace sticky::io {

namespace {

using testing::HasSubstr;

// While it lives, no file of this process may grow beyond that size.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t n_bytes) {
    getrlimit(RLIMIT_FSIZE, &before_);
    rlimit limit = before_;
    limit.rlim_cur = n_bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() { setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_{};
};

}  // namespace

TEST(ResultsLog, LinesStandWholeAndInOrderEachInItsFile) {
  const test::TempDir dir;
  const auto log = ResultsLog::open(dir.path());
  std::string results;
  std::string errors;
  for (int i = 0; i < 1000; ++i) {
    const std::string record = fmt::format("{{\"i\":{}}}", i);
    log->append(i % 3 == 0, record);
    (i % 3 == 0 ? errors : results) += record + "\n";
  }

  log->flush();

  EXPECT_EQ(log->n_queued(), 0);
  EXPECT_EQ(log->n_queued_bytes(), 0);
  EXPECT_EQ(log->failure(), "");
  EXPECT_EQ(test::read_file(dir / "results.jsonl"), results);
  EXPECT_EQ(test::read_file(dir / "errors.jsonl"), errors);
}

TEST(ResultsLog, LinesOfSeveralThreadsAreNotMixed) {
  const test::TempDir dir;
  const auto log = ResultsLog::open(dir.path());
  std::vector<std::thread> threads;
  for (char name : {'a', 'b', 'c'})
    threads.emplace_back([&log, name] {
      for (int i = 0; i < 200; ++i)
        log->append(false, std::string(static_cast<std::size_t>(i), name));
    });
  for (auto& thread : threads)
    thread.join();

  log->flush();

  const auto lines = test::split_lines(test::read_file(dir / "results.jsonl"));
  EXPECT_EQ(lines.size(), 600U);
  for (const auto& line : lines)
    EXPECT_EQ(line, std::string(line.size(), line.empty() ? 'a' : line[0]));
}

TEST(ResultsLog, GoesOnBehindWhatStandsThereAndWritesTheRestWhenItCloses) {
  const test::TempDir dir;
  dir.write("results.jsonl", "{\"old\":1}\n{\"torn\":");

  ResultsLog::open(dir.path())->append(false, "{\"new\":2}");

  EXPECT_EQ(test::read_file(dir / "results.jsonl"), "{\"old\":1}\n{\"new\":2}\n");
  EXPECT_TRUE(std::filesystem::exists(dir / "errors.jsonl"));
}

TEST(ResultsLog, AFullDiskStopsWritingAndLeavesWholeLines) {
  const test::TempDir dir;
  const std::string line(99, 'x');  // 100 bytes with its end
  // Limits at a line's end, within a line and before the first one ends.
  for (const rlim_t limit : {rlim_t{500}, rlim_t{550}, rlim_t{599}, rlim_t{50}}) {
    std::filesystem::remove(dir / "results.jsonl");
    const auto log = ResultsLog::open(dir.path());
    {
      const FileSizeLimit full(limit);
      for (int i = 0; i < 20; ++i)
        log->append(false, line);
      EXPECT_THROW(log->flush(), SystemError);
    }
    const auto n_whole = static_cast<i64>(limit / 100);
    EXPECT_THAT(log->failure(), HasSubstr("results.jsonl: File too large"));
    EXPECT_EQ(std::filesystem::file_size(dir / "results.jsonl"),
              static_cast<std::size_t>(100 * n_whole));
    EXPECT_EQ(log->n_queued(), 20 - n_whole);
    EXPECT_EQ(log->written().n_results, n_whole);

    log->append(false, line);  // neither blocks nor writes
    EXPECT_THROW(log->flush(), SystemError);
    EXPECT_EQ(std::filesystem::file_size(dir / "results.jsonl"),
              static_cast<std::size_t>(100 * n_whole));
  }
}

TEST(ResultsLog, ADeviceWithoutSpaceIsToldByItsName) {
  const test::TempDir dir;
  std::filesystem::create_symlink("/dev/full", dir / "errors.jsonl");
  const auto log = ResultsLog::open(dir.path());

  log->append(false, "good");
  log->append(true, "bad");
  EXPECT_THROW(log->flush(), SystemError);

  EXPECT_THAT(log->failure(), HasSubstr("errors.jsonl: No space left on device"));
  EXPECT_EQ(test::read_file(dir / "results.jsonl"), "good\n");
  EXPECT_EQ(log->n_queued(), 1);
  EXPECT_EQ(log->written().n_results, 1);
  EXPECT_EQ(log->written().n_errors, 0);
  EXPECT_GE(log->n_queued_bytes(), 3);
}

TEST(ResultsLog, NothingIsWrittenOnceTheLockIsLost) {
  const test::TempDir dir;
  std::atomic<bool> may_write = true;
  auto log = ResultsLog::open(dir.path(), [&] { return may_write.load(); });
  log->append(false, "first");
  log->flush();

  may_write = false;
  log->append(false, "second");
  EXPECT_THROW(log->flush(), SystemError);
  may_write = true;
  log->append(false, "third");
  EXPECT_THROW(log->flush(), SystemError);
  log.reset();

  EXPECT_EQ(test::read_file(dir / "results.jsonl"), "first\n");
}

TEST(ResultsLog, AFolderThatIsNotThereIsAnErrorAtOnce) {
  const test::TempDir dir;

  EXPECT_THROW((void)ResultsLog::open(dir / "none"), SystemError);
}

}  // namespace sticky::io
