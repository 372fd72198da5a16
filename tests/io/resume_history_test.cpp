// Random histories: an input, a run that was killed at some point, edits of the input, a resume
// that is killed again, and so on. At the end each request has one record, and it is its own.
#include <algorithm>
#include <fstream>
#include <map>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sticky/base/json.hpp"
#include "sticky/io/resume.hpp"
#include "tests/io/lines.hpp"
#include "tests/support/files.hpp"
#include "tests/support/temp_dir.hpp"

namespace sticky::io {

namespace {

class History {
 public:
  explicit History(unsigned seed) : random_(seed) {
    for (int i = 0; i < 30; ++i)
      texts_.push_back(random_line());
  }

  void edit() {
    for (int i = 0; i < 4; ++i) {
      const std::size_t at = below(texts_.size());
      switch (below(4)) {
        case 0:
          texts_[at] = random_line();
          break;
        case 1:
          if (texts_.size() > 5) texts_.erase(texts_.begin() + static_cast<std::ptrdiff_t>(at));
          break;
        case 2:
          texts_.insert(texts_.begin() + static_cast<std::ptrdiff_t>(at), random_line());
          break;
        default:
          std::swap(texts_[at], texts_[below(texts_.size())]);
      }
    }
    if (below(4) == 0) std::ranges::shuffle(texts_, random_);
  }

  // Resumes, records each missing line with that probability, and dies in mid-write.
  void run(double share, const ResumeOptions& options = {}) {
    write_input();
    auto input = open_input(options_);
    const auto done = prepare_resume(dir_.path(), *input, options);
    auto lines = test::read_all(options_);
    std::ranges::shuffle(lines, random_);
    std::ofstream results(dir_ / "results.jsonl", std::ios::app);
    std::ofstream errors(dir_ / "errors.jsonl", std::ios::app);
    for (const InputLine& line : lines)
      if (!done->take(line) && unit() < share) record(line, results, errors);
    results.close();
    errors.close();
    if (share < 1.0 && below(2) == 0) tear();
  }

  void check() {
    std::map<std::string, std::vector<std::string>> records;  // by place of their line
    for (const char* name : {"results.jsonl", "errors.jsonl"})
      for (const auto& text : test::split_lines(test::read_file(dir_ / name))) {
        const Json json = Json::parse(text);
        records[std::to_string(json.find("sticky")->find("line")->as_integer())].push_back(text);
      }
    const auto lines = test::read_all(options_);
    EXPECT_EQ(records.size(), lines.size());
    for (const InputLine& line : lines) {
      const auto& mine = records[std::to_string(line.line)];
      ASSERT_EQ(mine.size(), 1U) << line.custom_id;
      const Json json = Json::parse(mine[0]);
      EXPECT_EQ(json.find("custom_id")->as_string(), line.custom_id);
      EXPECT_EQ(json.find("sticky")->find("hash")->as_string(), line.hash.hex());
      const Json* error = json.find("error");
      if (!line.error_code.empty()) {
        EXPECT_EQ(error->find("code")->as_string(), line.error_code);
      }
    }
  }

 private:
  std::size_t below(std::size_t n) { return random_() % n; }
  double unit() { return std::uniform_real_distribution<>(0.0, 1.0)(random_); }

  // Few ids and few prompts, so that doubles and equal requests are common.
  std::string random_line() {
    const auto prompt = below(6);
    switch (below(8)) {
      case 0:
        return fmt::format("broken {}", prompt);
      case 1:
        return fmt::format("{{\"id\":{},\"prompt\":\"a\"}}", prompt);
      case 2:
        return "";
      case 3:
      case 4:
        return fmt::format("{{\"prompt\":\"{}\"}}", prompt);
      default:
        return fmt::format("{{\"id\":\"{}\",\"prompt\":\"{}\"}}", below(20), prompt);
    }
  }

  void write_input() {
    std::string text;
    for (const auto& line : texts_)
      text += line + "\n";
    options_ = test::files({dir_.write("in.jsonl", text)});
  }

  void record(const InputLine& line, std::ostream& results, std::ostream& errors) {
    if (!line.error_code.empty())
      errors << test::error_of(line, line.error_code) << '\n';
    else if (below(5) == 0)
      errors << test::error_of(line, below(2) == 0 ? "invalid_request" : "worker_lost") << '\n';
    else
      results << test::success_of(line) << '\n';
  }

  // A kill in the midst of a write.
  void tear() {
    const char* name = below(2) == 0 ? "results.jsonl" : "errors.jsonl";
    const std::string text = test::read_file(dir_ / name);
    if (text.empty()) return;
    const std::size_t last = text.rfind('\n', text.size() - 2) + 1;  // 0 where there is one line
    dir_.write(name, text.substr(0, last + below(text.size() - last)));
  }

  std::mt19937 random_;
  test::TempDir dir_;
  InputOptions options_;
  std::vector<std::string> texts_;
};

}  // namespace

TEST(ResumeHistory, ResultsAndErrorsAreTheRequestsEachOnceWhateverHappenedBefore) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    History history(seed);
    history.run(0.5);
    for (int i = 0; i < 3; ++i) {
      history.edit();
      history.run(0.4, {i == 1, seed % 2 == 0 ? "worker_lost" : ""});
    }
    history.run(1.0);
    history.check();
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace sticky::io
