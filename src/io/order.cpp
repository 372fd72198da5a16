#include "sticky/io/order.hpp"

#include <algorithm>
#include <compare>
#include <fcntl.h>
#include <map>

#include "sticky/base/error.hpp"

#include "file.hpp"
#include "record.hpp"

namespace sticky::io {

namespace {

struct Place {
  FileLine line;
  i64 offset = 0;
  i64 n_bytes = 0;
  auto operator<=>(const Place&) const = default;
};

std::vector<Place> read_places(const std::string& path, const std::map<std::string, i64>& rank) {
  std::vector<Place> places;
  for_each_record_line(path, [&](std::string_view text, i64 offset) {
    const auto record = Record::from_json(text);
    if (!record) fail<FormatError>("{}: the line at byte {} is no record", path, offset);
    // Files that are not listed come last.
    const auto at = rank.find(record->file);
    const i64 file = at != rank.end() ? at->second : static_cast<i64>(rank.size());
    places.push_back({FileLine(file, record->line), offset, static_cast<i64>(text.size())});
  });
  return places;
}

void rewrite(const std::string& path, const std::vector<Place>& places) {
  constexpr std::size_t kPiece = 1U << 20U;
  const std::string temporary = path + ".tmp";
  const File in = File::open_regular(path);
  File out = File::open(temporary, O_WRONLY | O_CREAT | O_TRUNC);
  std::string pending;
  for (const Place& place : places) {
    const std::size_t at = pending.size();
    pending.resize(at + static_cast<std::size_t>(place.n_bytes));
    in.read_at({pending.data() + at, static_cast<std::size_t>(place.n_bytes)}, place.offset);
    pending += '\n';
    if (pending.size() < kPiece) continue;
    out.write(pending);
    pending.clear();
  }
  out.write(pending);
  out.sync();
  rename_file(temporary, path);
}

}  // namespace

void sort_by_input(const std::string& run_dir, const std::vector<std::string>& files) {
  std::map<std::string, i64> rank;
  for (const std::string& file : files)
    rank.try_emplace(file == "-" ? "stdin" : file, static_cast<i64>(rank.size()));
  for (const char* name : {"/results.jsonl", "/errors.jsonl"}) {
    auto places = read_places(run_dir + name, rank);
    if (std::ranges::is_sorted(places)) continue;
    std::ranges::sort(places);
    rewrite(run_dir + name, places);
  }
}

}  // namespace sticky::io
