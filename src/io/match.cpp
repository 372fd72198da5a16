#include "match.hpp"

#include <algorithm>
#include <tuple>

#include "sticky/base/check.hpp"

namespace sticky::io {

void Matcher::add(const Record& record, bool is_error, i64 offset) {
  Entry entry{match_key(record), place_key(record.file, record.line), {}};
  entry.at.offset = offset;
  entry.at.is_error = is_error ? 1 : 0;
  entries_.push_back(entry);
}

void Matcher::sort_entries() {
  if (is_sorted_) return;
  is_sorted_ = true;
  std::ranges::sort(entries_, {}, [](const Entry& e) {
    return std::tuple(e.key, e.at.is_error != 0, e.place, i64{e.at.offset});
  });
}

Matcher::Entry* Matcher::find_at(Hash128 key, bool is_error, std::uint64_t place) {
  const auto at = std::ranges::lower_bound(
      entries_, std::tuple(key, is_error, place), {},
      [](const Entry& e) { return std::tuple(e.key, e.at.is_error != 0, e.place); });
  if (at == entries_.end() || at->key != key || (at->at.is_error != 0) != is_error ||
      at->place != place)
    return nullptr;
  return &*at;
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
    Entry* entry = find_at(key, is_error, place);
    if (entry == nullptr || entry->at.is_taken != 0) continue;
    entry->at.is_taken = 1;
    done_.back() = true;
    return;
  }
  LineAt at;
  at.file = file_index(line.file);
  at.line = line.line;
  at.byte_offset = line.byte_offset;
  deferred_.push_back({static_cast<std::size_t>(group - entries_.begin()), line.id.value, at});
}

void Matcher::finish() {
  sort_entries();
  std::unordered_map<std::size_t, std::size_t> next_of_group;
  for (; !deferred_.empty(); deferred_.pop_front()) {
    const Deferred& line = deferred_.front();
    const Hash128 key = entries_[line.group].key;
    std::size_t& next = next_of_group.try_emplace(line.group, line.group).first->second;
    while (next < entries_.size() && entries_[next].key == key && entries_[next].at.is_taken != 0)
      ++next;
    if (next < entries_.size() && entries_[next].key == key) take_moved(entries_[next], line);
  }
  std::ranges::sort(moved_, {}, [](const MovedRecord& m) {
    return std::pair(m.record.is_error != 0, i64{m.record.offset});
  });
}

void Matcher::take_moved(Entry& entry, const Deferred& line) {
  entry.at.is_taken = 1;
  done_[static_cast<std::size_t>(line.id)] = true;
  moved_.push_back({entry.at, line.at});
}

i64 Matcher::file_index(const std::string& file) {
  const auto at = std::ranges::find(files_, file);
  if (at == files_.end()) files_.push_back(file);
  return at - files_.begin();
}

std::vector<i64> Matcher::kept(bool is_error) const {
  std::vector<i64> offsets;
  for (const Entry& e : entries_)
    if ((e.at.is_error != 0) == is_error && e.at.is_taken != 0) offsets.push_back(e.at.offset);
  std::ranges::sort(offsets);
  return offsets;
}

}  // namespace sticky::io
