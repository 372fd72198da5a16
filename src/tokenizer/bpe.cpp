#include "bpe.hpp"

#include <algorithm>
#include <functional>
#include <limits>

#include <fmt/format.h>

#include "sticky/base/error.hpp"
#include "sticky/base/utf8.hpp"

#include "byte_alphabet.hpp"
#include "unicode.hpp"

namespace sticky::tokenizer {

namespace {

constexpr i32 kNone = -1;
constexpr i32 kGone = -2;
constexpr std::string_view kBlank = "\xE2\x96\x81";  // U+2581

}  // namespace

Bpe::Bpe(const std::vector<VocabEntry>& vocabulary,
         const std::vector<BpeMerge>& merges,
         const Options& options)
    : options_(options),
      merges_(static_cast<i64>(merges.size())) {
  for (const BpeMerge& merge : merges)
    merges_.insert_or_assign(merge.left, merge.right, {merge.rank, merge.id});

  byte_ids_.fill(kNone);
  fallback_ids_.fill(kNone);
  std::unordered_map<std::string_view, i32> bytes_by_name;
  std::vector<std::string> names(256);
  for (unsigned b = 0; b < 256; ++b)
    bytes_by_name.emplace(names[b] = fmt::format("<0x{:02X}>", b), static_cast<i32>(b));

  for (const auto& [piece, id] : vocabulary) {
    if (const auto byte = bytes_by_name.find(piece); byte != bytes_by_name.end())
      fallback_ids_[static_cast<std::size_t>(byte->second)] = id;
    if (options_.byte_level) {
      const auto bytes = bytes_of_piece(piece);
      if (!bytes || bytes->empty()) continue;
      if (bytes->size() == 1) byte_ids_[static_cast<unsigned char>(bytes->front())] = id;
      if (options_.ignore_merges) words_.emplace(*bytes, id);
    } else if (!piece.empty()) {
      const auto [code_point, n_bytes] = utf8::decode(piece, 0);
      if (n_bytes == static_cast<i64>(piece.size())) character_ids_.emplace(code_point, id);
      if (options_.ignore_merges) words_.emplace(piece, id);
    }
  }
  find_joined(vocabulary, merges);
}

void Bpe::find_joined(const std::vector<VocabEntry>& vocabulary,
                      const std::vector<BpeMerge>& merges) {
  const bool none_vanishes = options_.unk || (options_.byte_fallback &&
                                              std::find(fallback_ids_.begin(), fallback_ids_.end(),
                                                        kNone) == fallback_ids_.end());
  // A blank that is a piece lets go all unknown characters before it: none is held over a cut.
  cuts_at_blanks_ = none_vanishes && !options_.byte_level && !options_.ignore_merges &&
                    character_ids_.contains(U'\u2581');
  if (!cuts_at_blanks_) return;
  std::unordered_map<i32, std::string_view> pieces;
  for (const auto& [piece, id] : vocabulary)
    pieces.emplace(id, piece);
  for (const BpeMerge& merge : merges) {
    const std::string_view left = pieces.at(merge.left);
    if (left.empty() || !pieces.at(merge.right).starts_with(kBlank)) continue;
    joined_with_blank_.insert(code_point_before(left, static_cast<i64>(left.size())));
    // These stand for characters that their own do not show.
    if (merge.left == options_.unk ||
        std::find(fallback_ids_.begin(), fallback_ids_.end(), merge.left) != fallback_ids_.end())
      cuts_at_blanks_ = false;
  }
}

void Bpe::encode(std::string_view word, BpeSpace& space, std::vector<i32>& ids) const {
  std::size_t done = 0;
  if (cuts_at_blanks_) {
    for (auto at = word.find(kBlank, 1); at != std::string_view::npos;
         at = word.find(kBlank, at + kBlank.size())) {
      if (joined_with_blank_.contains(code_point_before(word, static_cast<i64>(at)))) continue;
      encode_uncut(word.substr(done, at - done), space, ids);
      done = at;
    }
  }
  encode_uncut(word.substr(done), space, ids);
}

void Bpe::encode_uncut(std::string_view word, BpeSpace& space, std::vector<i32>& ids) const {
  if (word.size() > std::numeric_limits<i32>::max())
    fail<Error>("a word of {} bytes is too long to be tokenized", word.size());
  if (space.words_.append(word, ids)) return;
  const auto first = static_cast<std::ptrdiff_t>(ids.size());
  const auto whole = options_.ignore_merges ? words_.find(std::string(word)) : words_.end();
  if (whole != words_.end()) {
    ids.push_back(whole->second);
  } else {
    start(word, space);
    merge_all(space);
    for (const auto& symbol : space.symbols_) {
      if (symbol.id != kGone) ids.push_back(symbol.id);
    }
  }
  space.words_.remember(word, {ids.begin() + first, ids.end()});
}

// Unknown characters are held back until a known one comes, so that they can be fused. Byte
// fallback does not let them go: that is how the original has it.
void Bpe::start(std::string_view word, BpeSpace& space) const {
  auto& symbols = space.symbols_;
  symbols.clear();
  bool unknown_is_pending = false;
  const auto add = [&](i32 id) { symbols.push_back({id, kNone, kNone}); };
  const auto add_known = [&](i32 id) {
    if (unknown_is_pending) add(*options_.unk);
    unknown_is_pending = false;
    add(id);
  };
  std::string character;
  for (i64 at = 0; at < static_cast<i64>(word.size());) {
    if (options_.byte_level) {
      const auto byte = static_cast<unsigned char>(word[static_cast<std::size_t>(at)]);
      ++at;
      if (byte_ids_[byte] >= 0) {
        add_known(byte_ids_[byte]);
        continue;
      }
      character.clear();
      utf8::append(character, byte_character(byte));
    } else {
      const auto [code_point, n_bytes] = utf8::decode(word, at);
      const auto known = character_ids_.find(code_point);
      if (known != character_ids_.end()) add_known(known->second);
      character = word.substr(static_cast<std::size_t>(at), static_cast<std::size_t>(n_bytes));
      at += n_bytes;
      if (known != character_ids_.end()) continue;
    }
    add_unknown(character, unknown_is_pending, space);
  }
  if (unknown_is_pending) add(*options_.unk);
  for (i32 i = 0; i < static_cast<i32>(symbols.size()); ++i) {
    symbols[static_cast<std::size_t>(i)].before = i - 1;
    symbols[static_cast<std::size_t>(i)].behind = i + 1;
  }
  if (!symbols.empty()) symbols.back().behind = kNone;
}

void Bpe::add_unknown(std::string_view character, bool& is_pending, BpeSpace& space) const {
  const auto fallback = [&](char byte) { return fallback_ids_[static_cast<unsigned char>(byte)]; };
  if (options_.byte_fallback && std::all_of(character.begin(), character.end(),
                                            [&](char byte) { return fallback(byte) >= 0; })) {
    for (const char byte : character)
      space.symbols_.push_back({fallback(byte), kNone, kNone});
    return;
  }
  if (!options_.unk) return;
  if (is_pending && !options_.fuse_unk) space.symbols_.push_back({*options_.unk, kNone, kNone});
  is_pending = true;
}

// Puts the pair of `left` and its right neighbour on the heap, if there is a merge for it.
void Bpe::offer(i32 left, BpeSpace& space) const {
  const auto& symbol = space.symbols_[static_cast<std::size_t>(left)];
  if (symbol.behind == kNone) return;
  const auto* merge =
      merges_.find(symbol.id, space.symbols_[static_cast<std::size_t>(symbol.behind)].id);
  if (merge == nullptr) return;
  space.heap_.push_back(std::uint64_t{static_cast<std::uint32_t>(merge->rank)} << 32 |
                        static_cast<std::uint32_t>(left));
}

void Bpe::merge_all(BpeSpace& space) const {
  auto& symbols = space.symbols_;
  auto& heap = space.heap_;
  heap.clear();
  for (i32 i = 0; i < static_cast<i32>(symbols.size()); ++i)
    offer(i, space);
  std::make_heap(heap.begin(), heap.end(), std::greater<>());
  const auto offer_sifted = [&](i32 left) {
    const std::size_t n_before = heap.size();
    offer(left, space);
    if (heap.size() > n_before) std::push_heap(heap.begin(), heap.end(), std::greater<>());
  };
  while (!heap.empty()) {
    const auto rank = static_cast<i32>(heap.front() >> 32);
    const auto at = static_cast<i32>(heap.front() & 0xFFFFFFFFU);
    std::pop_heap(heap.begin(), heap.end(), std::greater<>());
    heap.pop_back();

    // A candidate is out of date when one of its two has meanwhile been joined with another.
    auto& left = symbols[static_cast<std::size_t>(at)];
    if (left.id == kGone || left.behind == kNone) continue;
    auto& right = symbols[static_cast<std::size_t>(left.behind)];
    const auto* merge = merges_.find(left.id, right.id);
    if (merge == nullptr || merge->rank != rank) continue;

    left.id = merge->id;
    left.behind = right.behind;
    right.id = kGone;
    if (left.behind != kNone) symbols[static_cast<std::size_t>(left.behind)].before = at;
    if (left.before != kNone) offer_sifted(left.before);
    offer_sifted(at);
  }
}

}  // namespace sticky::tokenizer
