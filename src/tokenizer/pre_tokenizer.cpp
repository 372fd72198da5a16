#include "pre_tokenizer.hpp"

#include "sticky/base/utf8.hpp"

#include "byte_alphabet.hpp"
#include "unicode.hpp"

namespace sticky::tokenizer {

namespace {

std::string_view part(std::string_view text, ByteRange range) {
  return text.substr(static_cast<std::size_t>(range.first), static_cast<std::size_t>(range.n));
}

void split_at_characters(std::string_view subject,
                         i64 base,
                         const CharacterStep& step,
                         std::vector<ByteRange>& out) {
  PartCollector parts(step.behavior, out);
  const i64 size = static_cast<i64>(subject.size());
  i64 done = 0;
  for (i64 at = 0; at < size;) {
    const auto [code_point, n_bytes] = utf8::decode(subject, at);
    if (step.has_it(code_point)) {
      if (at > done) parts.add({base + done, at - done}, false);
      parts.add({base + at, n_bytes}, true);
      done = at + n_bytes;
    }
    at += n_bytes;
  }
  if (done < size) parts.add({base + done, size - done}, false);
}

// Source: Whitespace of the Hugging Face tokenizers, \w+|[^\w\s]+ in Rust's regular expressions.
void split_into_words(std::string_view subject, i64 base, std::vector<ByteRange>& out) {
  enum class Kind : unsigned char { word, space, other };
  const auto kind_of = [](char32_t c) {
    return is_word(c) ? Kind::word : is_white_space(c) ? Kind::space : Kind::other;
  };
  Kind before = Kind::space;
  for (i64 at = 0; at < static_cast<i64>(subject.size());) {
    const auto [code_point, n_bytes] = utf8::decode(subject, at);
    const Kind kind = kind_of(code_point);
    if (kind != Kind::space && kind == before) {
      out.back().n += n_bytes;
    } else if (kind != Kind::space) {
      out.push_back({base + at, n_bytes});
    }
    before = kind;
    at += n_bytes;
  }
}

// Rewrites every piece by `rewrite(piece, is_first_of_text, out)` and lets the ranges follow.
template <class Rewrite>
void rewrite_pieces(Pieces& pieces, Rewrite rewrite) {
  std::string out;
  out.reserve(pieces.text.size() + pieces.ranges.size());
  for (ByteRange& range : pieces.ranges) {
    const i64 first = static_cast<i64>(out.size());
    rewrite(part(pieces.text, range), pieces.begins_text && range.first == 0, out);
    range = {first, static_cast<i64>(out.size()) - first};
  }
  pieces.storage = std::move(out);
  pieces.text = pieces.storage;
}

struct Apply {
  Pieces& pieces;
  MatchSpace& space;

  // Cuts every piece by `cut(piece, its first byte, out)`.
  template <class Cut>
  void cut_pieces(Cut cut) const {
    std::vector<ByteRange> out;
    out.reserve(pieces.ranges.size() * 2);
    for (const ByteRange& range : pieces.ranges)
      cut(part(pieces.text, range), range.first, out);
    pieces.ranges = std::move(out);
  }

  void operator()(const SplitStep& step) const {
    const Split split{&step.pattern, step.behavior, step.invert};
    cut_pieces([&](std::string_view piece, i64 first, std::vector<ByteRange>& out) {
      split.apply(piece, first, space, out);
    });
  }

  void operator()(const CharacterStep& step) const {
    cut_pieces([&](std::string_view piece, i64 first, std::vector<ByteRange>& out) {
      split_at_characters(piece, first, step, out);
    });
  }

  void operator()(WordsStep /*step*/) const {
    cut_pieces([&](std::string_view piece, i64 first, std::vector<ByteRange>& out) {
      split_into_words(piece, first, out);
    });
  }

  void operator()(const ByteLevelStep& step) const {
    if (step.add_prefix_space) {
      rewrite_pieces(pieces, [](std::string_view piece, bool, std::string& out) {
        if (!piece.starts_with(' ')) out += ' ';
        out += piece;
      });
    }
    if (step.words) {
      const Split split{&*step.words, SplitBehavior::isolated, false};
      cut_pieces([&](std::string_view piece, i64 first, std::vector<ByteRange>& out) {
        split.apply(piece, first, space, out);
      });
    }
    if (!step.writes_characters) return;
    rewrite_pieces(pieces, [](std::string_view piece, bool, std::string& out) {
      for (const char c : piece)
        utf8::append(out, byte_character(static_cast<unsigned char>(c)));
    });
  }

  void operator()(const MetaspaceStep& step) const {
    rewrite_pieces(pieces, [&](std::string_view piece, bool begins_text, std::string& out) {
      const bool prepends = step.prepend == PrependScheme::always ||
                            (step.prepend == PrependScheme::first && begins_text);
      if (prepends && !piece.starts_with(' ') && !piece.starts_with(step.replacement))
        out += step.replacement;
      for (const char c : piece) {
        if (c == ' ') {
          out += step.replacement;
        } else {
          out += c;
        }
      }
    });
    if (!step.split) return;
    const Split split{&*step.split, SplitBehavior::merged_with_next, false};
    cut_pieces([&](std::string_view piece, i64 first, std::vector<ByteRange>& out) {
      split.apply(piece, first, space, out);
    });
  }
};

}  // namespace

void PreTokenizer::apply(Pieces& pieces, MatchSpace& space) const {
  for (const Step& step : steps_)
    std::visit(Apply{pieces, space}, step);
}

}  // namespace sticky::tokenizer
