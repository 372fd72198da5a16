#include "score_merges.hpp"

#include <algorithm>
#include <functional>
#include <string_view>
#include <unordered_map>

#include "sticky/base/utf8.hpp"

namespace sticky::tokenizer {

std::vector<BpeMerge> merges_of_scores(const std::vector<VocabEntry>& vocabulary,
                                       std::span<const double> scores) {
  std::vector<double> ranks(scores.begin(), scores.end());
  std::sort(ranks.begin(), ranks.end(), std::greater<>());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  std::unordered_map<std::string_view, i32> ids;
  ids.reserve(vocabulary.size());
  for (const auto& [piece, id] : vocabulary)
    ids.emplace(piece, id);

  std::vector<BpeMerge> out;
  for (std::size_t i = 0; i < vocabulary.size(); ++i) {
    const std::string_view piece = vocabulary[i].piece;
    const auto place = std::lower_bound(ranks.begin(), ranks.end(), scores[i], std::greater<>());
    const auto rank = static_cast<i32>(place - ranks.begin());
    for (i64 at = 0; at < static_cast<i64>(piece.size());) {
      at += utf8::decode(piece, at).n_bytes;
      const auto left = ids.find(piece.substr(0, static_cast<std::size_t>(at)));
      const auto right = ids.find(piece.substr(static_cast<std::size_t>(at)));
      if (left != ids.end() && right != ids.end())
        out.push_back({left->second, right->second, rank, vocabulary[i].id});
    }
  }
  return out;
}

}  // namespace sticky::tokenizer
