#pragma once

#include <limits>
#include <span>
#include <vector>

#include "sticky/base/hash.hpp"
#include "sticky/base/types.hpp"

#include "page_pool.hpp"

namespace sticky::engine {

// Who computes how many tokens in the next step. Prompts, replays and decoding are one thing here:
// a sequence has tokens whose keys and values are not computed yet, and computing the last of them
// gives its next token. One such token left: it decodes. More: it prefills, in chunks.
//
// Rules:
//  1. Running sequences are served oldest first. One that prefills leaves a row of the step's
//  budget
//     to every decoding one behind it; the oldest gets a row in any case.
//  2. Where a page is needed and none is available, the youngest running sequence gives all its
//     pages back and returns to waiting, to be replayed later. The youngest itself waits with what
//     it has. So the oldest goes on in every step, whatever the pool, and all finish.
//  3. Waiting sequences are admitted oldest first, in a step without such a return, while a slot,
//     rows and pages are there: pages for all its tokens beside what the running ones still lack
//     of theirs, and one page to grow for each of those. Alone it is always admitted. One that must
//     wait holds up those behind it, so it starves no longer than the running ones need to end.
//  4. A waiting sequence whose next page of prompt is being computed by a running one is put off
//     and keeps its slot and pages: a step or so later it finds that page in the cache.

/// A sequence as the planner sees it.
struct SequenceView {
  i64 n_tokens = 0;    ///< known so far: prompt and generated
  i64 n_computed = 0;  ///< of these, whose keys and values are in pages
  /// Known tokens that the next step may get to: it has a bounded number of logits.
  i64 n_reachable = std::numeric_limits<i64>::max();
  i64 n_published = 0;         ///< full pages that others can find by now
  std::span<const i32> pages;  ///< held
  /// Of its full pages, as far as they may come from the cache; empty without prefix cache.
  std::span<const Hash128> page_hashes;
};

struct PlanLimits {
  i64 max_sequences = 0;
  i64 max_batch_tokens = 0;
};

struct StepPlan {
  /// Tokens n_computed … n_computed + n_rows - 1 of a sequence are computed.
  struct Grant {
    i64 index = 0;
    i64 n_rows = 0;
    bool operator==(const Grant&) const = default;
  };
  /// The same for one that starts behind the pages that the cache holds of it.
  struct Admission {
    i64 index = 0;
    i64 n_cached_pages = 0;
    i64 n_rows = 0;
    bool operator==(const Admission&) const = default;
  };

  std::vector<i64> returned{};        ///< of running: back to waiting, youngest first
  std::vector<Grant> granted{};       ///< of running, ascending
  std::vector<Admission> admitted{};  ///< of waiting, ascending
  bool operator==(const StepPlan&) const = default;
};

/// Pure. Both lists are ordered oldest first; `waiting` may be cut after as many as there are free
/// slots. The pool must be able to hold any one sequence alone.
[[nodiscard]] StepPlan plan_step(std::span<const SequenceView> running,
                                 std::span<const SequenceView> waiting,
                                 const PagePool& pool,
                                 const PlanLimits& limits);

/// Pages for a number of tokens.
[[nodiscard]] i64 n_pages_for(i64 n_tokens);

}  // namespace sticky::engine
