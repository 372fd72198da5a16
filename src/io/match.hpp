#pragma once

#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "record.hpp"

namespace sticky::io {

/// Where a record lies: results.jsonl or errors.jsonl, and its first byte there. 8 bytes, since
/// there may be millions.
class RecordAt {
 public:
  RecordAt(i64 offset, bool is_error) : code_(offset << 1 | (is_error ? 1 : 0)) {}
  [[nodiscard]] i64 offset() const { return code_ >> 1; }
  [[nodiscard]] bool is_error() const { return (code_ & 1) != 0; }
  auto operator<=>(const RecordAt&) const = default;

 private:
  i64 code_;
};

/// A record whose line has moved, and where to.
struct MovedRecord {
  RecordAt record;
  FileLine to;
  i64 byte_offset = 0;
};

/// Pairs the records of an earlier run with the lines of an input, each record with one line at
/// most: the record of the line's own place first, results before errors. Use: add() every record,
/// match() every line in input order, then finish().
class Matcher {
 public:
  void reserve(i64 n_records) { entries_.reserve(static_cast<std::size_t>(n_records)); }
  void add(const Record& record, bool is_error, i64 offset);
  void match(const InputLine& line);
  void finish();

  /// By InvocationId; good after finish().
  [[nodiscard]] const std::vector<bool>& done() const { return done_; }
  [[nodiscard]] const std::vector<MovedRecord>& moved() const { return moved_; }
  [[nodiscard]] const std::deque<std::string>& files() const { return files_; }
  /// Offsets in that file of the records that belong to a line, ascending; good after finish().
  [[nodiscard]] std::vector<i64> kept(bool is_error) const;

 private:
  struct Entry {
    Hash128 key;
    std::uint64_t place = 0;
    RecordAt at;
  };
  using EntryIndex = std::size_t;
  // A line whose own record was not found, though records like it are there: it takes one that no
  // line has taken by its place.
  struct Deferred {
    EntryIndex group = 0;  // first entry of that key
    i64 id = 0;
    FileLine at;
    i64 byte_offset = 0;
  };
  void sort_entries();
  [[nodiscard]] std::optional<EntryIndex> find_at(Hash128 key, bool is_error, std::uint64_t place);
  [[nodiscard]] i64 file_index(const std::string& file);
  void take(EntryIndex entry, i64 line_id);

  std::vector<Entry> entries_;
  std::vector<bool> is_taken_;  // by entry
  bool is_sorted_ = false;
  std::deque<Deferred> deferred_;  // emptied from its front while moved_ grows
  std::vector<MovedRecord> moved_;
  std::deque<std::string> files_;  // few; by order of appearance
  std::vector<bool> done_;
};

}  // namespace sticky::io
