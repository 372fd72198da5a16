#include "match.hpp"

#include <algorithm>
#include <tuple>

#include "sticky/base/check.hpp"

namespace sticky::io {

void Matcher::add(const Record& record, bool is_error, i64 offset) {
  entries_.push_back(
      {match_key(record), place_key(record.file, record.line), RecordAt(offset, is_error)});
}

void Matcher::sort_entries() {
  if (is_sorted_) return;
  is_sorted_ = true;
  is_taken_.resize(entries_.size());
  std::ranges::sort(entries_, {}, [](const Entry& e) {
    return std::tuple(e.key, e.at.is_error(), e.place, e.at);
  });
}

std::optional<Matcher::EntryIndex> Matcher::find_at(Hash128 key,
                                                    bool is_error,
                                                    std::uint64_t place) {
  const auto wanted = std::tuple(key, is_error, place);
  const auto parts = [](const Entry& e) { return std::tuple(e.key, e.at.is_error(), e.place); };
  const auto at = std::ranges::lower_bound(entries_, wanted, {}, parts);
  if (at == entries_.end() || parts(*at) != wanted) return std::nullopt;
  return static_cast<EntryIndex>(at - entries_.begin());
}

void Matcher::match(const InputLine& line) {
  sort_entries();
  STICKY_CHECK(line.id.value == static_cast<i64>(done_.size()));
  done_.push_back(false);
  const Hash128 key = match_key(line);
  const auto group = std::ranges::lower_bound(entries_, key, {}, &Entry::key);
  if (group == entries_.end() || group->key != key) return;
  const std::uint64_t place = place_key(line.file, line.line);
  for (const bool is_error : {false, true}) {
    const auto entry = find_at(key, is_error, place);
    if (entry && !is_taken_[*entry]) return take(*entry, line.id.value);
  }
  deferred_.push_back({static_cast<EntryIndex>(group - entries_.begin()), line.id.value,
                       FileLine(file_index(line.file), line.line), line.byte_offset});
}

void Matcher::finish() {
  sort_entries();
  std::unordered_map<EntryIndex, EntryIndex> next_of_group;
  for (; !deferred_.empty(); deferred_.pop_front()) {
    const Deferred& line = deferred_.front();
    const Hash128 key = entries_[line.group].key;
    EntryIndex& next = next_of_group.try_emplace(line.group, line.group).first->second;
    while (next < entries_.size() && entries_[next].key == key && is_taken_[next])
      ++next;
    if (next == entries_.size() || entries_[next].key != key) continue;
    take(next, line.id);
    moved_.push_back({entries_[next].at, line.at, line.byte_offset});
  }
  std::ranges::sort(moved_, {}, [](const MovedRecord& m) {
    return std::pair(m.record.is_error(), m.record.offset());
  });
}

void Matcher::take(EntryIndex entry, i64 line_id) {
  is_taken_[entry] = true;
  done_[static_cast<std::size_t>(line_id)] = true;
}

i64 Matcher::file_index(const std::string& file) {
  // Lines come file after file.
  if (!files_.empty() && files_.back() == file) return static_cast<i64>(files_.size()) - 1;
  files_.push_back(file);
  return static_cast<i64>(files_.size()) - 1;
}

std::vector<i64> Matcher::kept(bool is_error) const {
  std::vector<i64> offsets;
  for (EntryIndex i = 0; i < entries_.size(); ++i)
    if (is_taken_[i] && entries_[i].at.is_error() == is_error)
      offsets.push_back(entries_[i].at.offset());
  std::ranges::sort(offsets);
  return offsets;
}

}  // namespace sticky::io
