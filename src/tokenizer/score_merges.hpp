#pragma once

#include <span>
#include <vector>

#include "bpe.hpp"

namespace sticky::tokenizer {

/// The merges of a SentencePiece BPE vocabulary, which has a score for each piece instead: two
/// neighbours may be joined when that makes a piece, the one with the highest score first. Every
/// way to divide a piece into two pieces becomes a merge; pieces of one score have one rank, and
/// Bpe then takes the leftmost pair, as SentencePiece does.
/// scores[i] belongs to vocabulary[i]. Single characters need no score.
[[nodiscard]] std::vector<BpeMerge> merges_of_scores(const std::vector<VocabEntry>& vocabulary,
                                                     std::span<const double> scores);

}  // namespace sticky::tokenizer
