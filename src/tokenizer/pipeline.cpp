#include "pipeline.hpp"

#include <unordered_set>

#include "sticky/base/check.hpp"
#include "sticky/base/utf8.hpp"

#include "valid_text.hpp"

namespace sticky::tokenizer {

struct PipelineTokenizer::Space {
  MatchSpace match;
  BpeSpace bpe;
  std::string normalized;
  std::vector<Segment> raw_segments;
  std::vector<Segment> segments;
  Pieces pieces;
};

class PipelineTokenizer::Borrowed {
 public:
  explicit Borrowed(const PipelineTokenizer& owner) : owner_(owner) {
    {
      const std::lock_guard lock(owner_.spaces_mutex_);
      if (!owner_.spaces_.empty()) {
        space_ = std::move(owner_.spaces_.back());
        owner_.spaces_.pop_back();
      }
    }
    if (!space_) space_ = std::make_unique<Space>();
  }
  Borrowed(const Borrowed&) = delete;
  Borrowed& operator=(const Borrowed&) = delete;
  ~Borrowed() {
    const std::lock_guard lock(owner_.spaces_mutex_);
    owner_.spaces_.push_back(std::move(space_));
  }
  Space& operator*() { return *space_; }

 private:
  const PipelineTokenizer& owner_;
  std::unique_ptr<Space> space_;
};

PipelineTokenizer::PipelineTokenizer(TokenizerParts parts)
    : normalizer_(std::move(parts.normalizer)),
      added_(std::move(parts.added), normalizer_),
      pre_tokenizer_(std::move(parts.pre_tokenizer)),
      bpe_(parts.vocabulary, parts.merges, parts.bpe),
      decoder_(std::move(parts.decoder)),
      ids_before_(std::move(parts.ids_before)),
      ids_behind_(std::move(parts.ids_behind)) {
  for (const auto& [piece, id] : parts.vocabulary)
    add_entry(piece, id, piece);
  std::unordered_set<std::string_view> special;
  for (const AddedToken& token : added_.tokens()) {
    add_entry(token.content, token.id, token.decoded);
    entries_[static_cast<std::size_t>(token.id)].is_special = token.special;
    if (token.special) special.insert(token.content);
  }
  for (Entry& entry : entries_)
    entry.is_skipped = entry.exists && special.contains(entry.piece);
}

PipelineTokenizer::~PipelineTokenizer() = default;

void PipelineTokenizer::add_entry(const std::string& content, i32 id, const std::string& piece) {
  STICKY_CHECK(id >= 0 && id < kMaxVocab);
  const auto at = static_cast<std::size_t>(id);
  if (at >= entries_.size()) entries_.resize(at + 1);
  entries_[at] = {piece, decoder_.decode_piece(piece, false), true};
  ids_.insert_or_assign(content, id);
}

const PipelineTokenizer::Entry* PipelineTokenizer::entry(i32 id) const {
  if (id < 0 || id >= vocab_size()) return nullptr;
  const Entry& found = entries_[static_cast<std::size_t>(id)];
  return found.exists ? &found : nullptr;
}

std::vector<i32> PipelineTokenizer::encode(std::string_view text,
                                           const EncodeOptions& options) const {
  return encode_with_content(text, {}, options);
}

std::vector<i32> PipelineTokenizer::encode_with_content(std::string_view text,
                                                        std::span<const ByteRange> content,
                                                        const EncodeOptions& options) const {
  if (utf8::first_invalid(text) >= 0) {
    const ValidText valid = make_valid(text, content);
    return encode_with_content(valid.text, valid.content, options);
  }
  std::vector<i32> ids;
  if (options.add_special_tokens) ids = ids_before_;
  const Recognition recognition{options.special_tokens_in_text, content};
  Borrowed borrowed(*this);
  Space& space = *borrowed;
  space.raw_segments.clear();
  added_.cut_raw(text, recognition, space.raw_segments);
  for (const Segment& segment : space.raw_segments) {
    if (segment.id >= 0) {
      ids.push_back(segment.id);
    } else {
      encode_text(text, segment.range, recognition, space, ids);
    }
  }
  if (options.add_special_tokens) ids.insert(ids.end(), ids_behind_.begin(), ids_behind_.end());
  return ids;
}

void PipelineTokenizer::encode_text(std::string_view text,
                                    ByteRange range,
                                    const Recognition& recognition,
                                    Space& space,
                                    std::vector<i32>& ids) const {
  const auto part = [](std::string_view whole, ByteRange of) {
    return whole.substr(static_cast<std::size_t>(of.first), static_cast<std::size_t>(of.n));
  };
  const std::string_view normalized =
      normalizer_.apply(part(text, range), space.match, space.normalized);
  space.segments.clear();
  added_.cut_normalized(normalized, range.first, recognition, space.segments);
  for (const Segment& segment : space.segments) {
    if (segment.id >= 0) {
      ids.push_back(segment.id);
      continue;
    }
    Pieces& pieces = space.pieces;
    pieces.text = part(normalized, segment.range);
    pieces.ranges.assign(1, {0, segment.range.n});
    pieces.begins_text = range.first == 0 && segment.range.first == 0;
    pre_tokenizer_.apply(pieces, space.match);
    for (const ByteRange& word : pieces.ranges)
      bpe_.encode(part(pieces.text, word), space.bpe, ids);
  }
}

std::string PipelineTokenizer::piece(i32 id) const {
  const Entry* found = entry(id);
  return found == nullptr ? std::string() : found->decoded.bytes;
}

void PipelineTokenizer::decode_next(DecodeState& state,
                                    i32 id,
                                    bool skip_special,
                                    std::string& out) const {
  const Entry* found = entry(id);
  if (found == nullptr || (skip_special && found->is_skipped)) return;
  if (state.at_start && decoder_.differs_at_start()) {
    decoder_.next(state, found->piece, decoder_.decode_piece(found->piece, true), out);
  } else {
    decoder_.next(state, found->piece, found->decoded, out);
  }
}

void PipelineTokenizer::decode_end(DecodeState& state, std::string& out) const {
  decoder_.end(state, out);
}

std::string PipelineTokenizer::decode(std::span<const i32> ids, bool skip_special) const {
  std::string out;
  DecodeState state;
  for (const i32 id : ids)
    decode_next(state, id, skip_special, out);
  decode_end(state, out);
  return out;
}

std::optional<i32> PipelineTokenizer::id_of(std::string_view piece) const {
  const auto found = ids_.find(std::string(piece));
  if (found == ids_.end()) return std::nullopt;
  return found->second;
}

bool PipelineTokenizer::is_special(i32 id) const {
  const Entry* found = entry(id);
  return found != nullptr && found->is_special;
}

}  // namespace sticky::tokenizer
