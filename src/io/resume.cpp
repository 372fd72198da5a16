// Order of a repair, so that a kill between any two steps loses nothing and the next resume ends
// the same: cut torn last lines; read records and input, and pair them; append to superseded.jsonl
// what belongs to no line, and fsync it; only then replace results.jsonl, then errors.jsonl.
#include "sticky/io/resume.hpp"

#include <algorithm>
#include <array>
#include <fcntl.h>
#include <memory>
#include <utility>
#include <vector>

#include "sticky/base/counted.hpp"
#include "sticky/base/log.hpp"

#include "file.hpp"
#include "match.hpp"
#include "record.hpp"

namespace sticky::io {

namespace {

class DoneLines final : public Done {
 public:
  DoneLines(std::vector<bool> done, i64 n_results, i64 n_errors)
      : done_(std::move(done)),
        n_results_(n_results),
        n_errors_(n_errors) {}
  [[nodiscard]] bool take(const InputLine& line) override {
    const auto at = static_cast<std::size_t>(line.id.value);
    return at < done_.size() && done_[at];
  }
  [[nodiscard]] i64 n_results() const override { return n_results_; }
  [[nodiscard]] i64 n_errors() const override { return n_errors_; }

 private:
  std::vector<bool> done_;
  i64 n_results_;
  i64 n_errors_;
};

struct JournalFile {
  std::string path;
  bool is_error = false;
  i64 n_lines = 0;
};

bool is_retried(const Record& record, bool is_error, const ResumeOptions& options) {
  return is_error && options.retry_errors &&
         (options.retry_code.empty() || record.error_code == options.retry_code);
}

i64 count_lines(const std::string& path) {
  i64 n = 0;
  for_each_record_line(path, [&](std::string_view, i64) { ++n; });
  return n;
}

// The number of lines that are no records.
i64 read_records(JournalFile& journal, const ResumeOptions& options, Matcher& matcher) {
  i64 n_unreadable = 0;
  for_each_record_line(journal.path, [&](std::string_view text, i64 offset) {
    ++journal.n_lines;
    const auto record = Record::from_json(text);
    const bool is_misplaced = record && record->error_code.empty() == journal.is_error;
    if (!record || is_misplaced)
      ++n_unreadable;
    else if (!is_retried(*record, journal.is_error, options))
      matcher.add(*record, journal.is_error, offset);
  });
  return n_unreadable;
}

std::array<JournalFile, 2> journals_of(const std::string& run_dir) {
  return {JournalFile{run_dir + "/results.jsonl", false, 0},
          JournalFile{run_dir + "/errors.jsonl", true, 0}};
}

bool ends_torn(const std::string& path) {
  if (!exists(path)) return false;
  const File file = File::open(path, O_RDONLY);
  const i64 size = file.size();
  char last = '\n';
  if (size > 0) file.read_at({&last, 1}, size - 1);
  return last != '\n';
}

// Collects lines and writes them in large pieces.
class LineWriter {
 public:
  explicit LineWriter(File file) : file_(std::move(file)) {}
  void add(std::string_view line) {
    constexpr std::size_t kPiece = 1U << 20U;
    pending_ += line;
    pending_ += '\n';
    if (pending_.size() >= kPiece) write();
  }
  void finish() {
    write();
    file_.sync();
  }

 private:
  void write() {
    file_.write(pending_);
    pending_.clear();
  }
  File file_;
  std::string pending_;
};

// Whether the record at an offset is kept, asked with ascending offsets.
class KeptCursor {
 public:
  explicit KeptCursor(const std::vector<i64>& kept) : kept_(kept) {}
  bool holds(i64 offset) {
    while (at_ < kept_.size() && kept_[at_] < offset)
      ++at_;
    return at_ < kept_.size() && kept_[at_] == offset;
  }

 private:
  const std::vector<i64>& kept_;
  std::size_t at_ = 0;
};

void supersede(const std::string& run_dir,
               const std::array<JournalFile, 2>& journals,
               const std::array<std::vector<i64>, 2>& kept) {
  const std::string path = run_dir + "/superseded.jsonl";
  cut_torn_line(path);
  LineWriter out(File::open(path, O_WRONLY | O_CREAT | O_APPEND));
  i64 n = 0;
  for (std::size_t i = 0; i < journals.size(); ++i) {
    KeptCursor cursor(kept[i]);
    for_each_record_line(journals[i].path, [&](std::string_view text, i64 offset) {
      if (cursor.holds(offset)) return;
      out.add(text);
      ++n;
    });
  }
  out.finish();
  sync_folder(run_dir);
  log::info("{}: {} moved here: the request has changed or vanished, or is tried again", path,
            counted(n, "record"));
}

void rewrite(const JournalFile& journal, const std::vector<i64>& kept, const Matcher& matcher) {
  const std::string temporary = journal.path + ".tmp";
  LineWriter out(File::open(temporary, O_WRONLY | O_CREAT | O_TRUNC));
  KeptCursor cursor(kept);
  const auto& moved = matcher.moved();
  const auto is_of_journal = [&](const MovedRecord& m) {
    return m.record.is_error() == journal.is_error;
  };
  auto next_moved = std::ranges::find_if(moved, is_of_journal);
  for_each_record_line(journal.path, [&](std::string_view text, i64 offset) {
    if (!cursor.holds(offset)) return;
    const bool is_moved = next_moved != moved.end() && is_of_journal(*next_moved) &&
                          next_moved->record.offset() == offset;
    if (!is_moved) return out.add(text);
    const FileLine& to = next_moved->to;
    out.add(with_new_place(text, matcher.files()[static_cast<std::size_t>(to.file())], to.line(),
                           next_moved->byte_offset));
    ++next_moved;
  });
  out.finish();
  rename_file(temporary, journal.path);
}

bool has_moved(const Matcher& matcher, bool is_error) {
  return std::ranges::any_of(matcher.moved(),
                             [&](const MovedRecord& m) { return m.record.is_error() == is_error; });
}

}  // namespace

std::unique_ptr<Done> prepare_resume(const std::string& run_dir,
                                     InputReader& input,
                                     const ResumeOptions& options) {
  std::array journals = journals_of(run_dir);
  Matcher matcher;
  i64 n_records = 0;
  for (const JournalFile& journal : journals) {
    if (const i64 n = cut_torn_line(journal.path); n > 0)
      log::warning("{}: a torn last line of {} was cut off", journal.path, counted(n, "byte"));
    n_records += count_lines(journal.path);
  }
  matcher.reserve(n_records);
  for (JournalFile& journal : journals) {
    if (const i64 n = read_records(journal, options, matcher); n > 0)
      log::warning("{}: {} no record: moved to superseded.jsonl", journal.path,
                   n == 1 ? "1 line is" : fmt::format("{} lines are", n));
  }
  while (const auto line = input.next())
    matcher.match(*line);
  matcher.finish();

  const std::array kept = {matcher.kept(false), matcher.kept(true)};
  const auto n_kept = [&](std::size_t i) { return static_cast<i64>(kept[i].size()); };
  if (n_kept(0) + n_kept(1) < n_records) supersede(run_dir, journals, kept);
  for (std::size_t i = 0; i < journals.size(); ++i)
    if (n_kept(i) < journals[i].n_lines || has_moved(matcher, journals[i].is_error))
      rewrite(journals[i], kept[i], matcher);
  return std::make_unique<DoneLines>(matcher.done(), n_kept(0), n_kept(1));
}

bool is_all_done(const std::string& run_dir, InputReader& input, const ResumeOptions& options) {
  std::array journals = journals_of(run_dir);
  Matcher matcher;
  i64 n_records = 0;
  for (JournalFile& journal : journals) {
    if (ends_torn(journal.path) || read_records(journal, options, matcher) > 0) return false;
    n_records += journal.n_lines;
  }
  i64 n_lines = 0;
  for (; const auto line = input.next(); ++n_lines) {
    matcher.match(*line);
    if (!matcher.done().back()) return false;
  }
  return n_lines == n_records;  // each took one of its own
}

}  // namespace sticky::io
