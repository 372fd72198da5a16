#include "step_planner.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "kernels/kv_pages.hpp"

namespace sticky::engine {
namespace {

i64 n_uncomputed(const SequenceView& s) {
  return s.n_tokens - s.n_computed;
}
bool decodes(const SequenceView& s) {
  return n_uncomputed(s) == 1;
}
i64 n_held(const SequenceView& s) {
  return static_cast<i64>(s.pages.size());
}

/// Full pages of `s` that may be taken from the cache. Never the one with its last token: that
/// token must be computed for what follows it.
std::span<const Hash128> sharable(const SequenceView& s) {
  const auto n = static_cast<std::size_t>((s.n_tokens - 1) / kPageTokens);
  return s.page_hashes.first(std::min(n, s.page_hashes.size()));
}

class Planning {
 public:
  Planning(std::span<const SequenceView> running, const PagePool& pool, const PlanLimits& limits)
      : running_(running),
        pool_(pool),
        limits_(limits),
        n_kept_(static_cast<i64>(running.size())),
        n_rows_left_(limits.max_batch_tokens),
        n_available_(pool.n_available()) {}

  void serve_running();
  void admit(std::span<const SequenceView> waiting);
  [[nodiscard]] StepPlan take() { return std::move(plan_); }

 private:
  struct CacheHits {
    i64 n_pages = 0;
    i64 n_unheld = 0;  // of these: taking them makes them unavailable to others
  };
  struct LowWord {
    std::size_t operator()(const Hash128& hash) const { return hash.low; }
  };

  [[nodiscard]] i64 n_rows_that_fit(const SequenceView& s) const {
    return (n_held(s) + n_available_) * kPageTokens - s.n_computed;
  }
  void return_youngest();
  void grant(i64 index, i64 n_rows);
  [[nodiscard]] i64 n_pages_reserved() const;
  [[nodiscard]] CacheHits cache_hits(const SequenceView& s) const;
  void promise(const SequenceView& s, i64 first_page);

  std::span<const SequenceView> running_;
  const PagePool& pool_;
  const PlanLimits& limits_;
  StepPlan plan_;
  i64 n_kept_;                 // running sequences that are not returned: the first ones
  i64 n_rows_left_;            // of the step's budget
  i64 n_available_;            // pages
  i64 n_decoders_behind_ = 0;  // kept sequences behind the one being served that decode
  std::unordered_map<i32, i64> n_releases_;        // of pages of returned sequences
  std::unordered_set<Hash128, LowWord> promised_;  // pages that this step or a later computes
};

void Planning::serve_running() {
  n_decoders_behind_ = std::ranges::count_if(running_, decodes);
  for (i64 i = 0; i < n_kept_; ++i) {
    const SequenceView& s = running_[i];
    if (decodes(s)) --n_decoders_behind_;
    const i64 n_for_others = decodes(s) ? 0 : n_decoders_behind_;
    const i64 share = std::max(n_rows_left_ - n_for_others, i64{i == 0});
    const i64 n_wanted = std::min({n_uncomputed(s), s.n_reachable - s.n_computed, share});
    if (n_wanted <= 0) continue;
    while (n_rows_that_fit(s) == 0 && n_kept_ > i + 1)
      return_youngest();
    const i64 n_rows = std::min(n_wanted, n_rows_that_fit(s));
    if (n_rows > 0) grant(i, n_rows);
  }
}

void Planning::return_youngest() {
  const SequenceView& s = running_[--n_kept_];
  for (const i32 page : s.pages) {
    if (++n_releases_[page] == pool_.n_holders(page)) ++n_available_;
  }
  if (decodes(s)) --n_decoders_behind_;
  plan_.returned.push_back(n_kept_);
}

void Planning::grant(i64 index, i64 n_rows) {
  const SequenceView& s = running_[index];
  n_available_ -= std::max(n_pages_for(s.n_computed + n_rows) - n_held(s), i64{0});
  n_rows_left_ -= n_rows;
  plan_.granted.push_back({index, n_rows});
}

/// Pages that the running sequences will take soon: for tokens that they know and one to grow.
i64 Planning::n_pages_reserved() const {
  i64 n = 0;
  for (const SequenceView& s : running_)
    n += n_pages_for(s.n_tokens) + 1 - n_held(s);
  for (const auto& [index, n_rows] : plan_.granted) {
    const SequenceView& s = running_[index];
    n -= std::max(n_pages_for(s.n_computed + n_rows) - n_held(s), i64{0});
  }
  return n;
}

Planning::CacheHits Planning::cache_hits(const SequenceView& s) const {
  CacheHits hits;
  for (const Hash128& hash : sharable(s)) {
    const auto page = pool_.find(hash);
    if (!page) break;
    ++hits.n_pages;
    if (pool_.n_holders(*page) == 0) ++hits.n_unheld;
  }
  return hits;
}

void Planning::promise(const SequenceView& s, i64 first_page) {
  const auto n_known = static_cast<i64>(s.page_hashes.size());
  for (i64 p = first_page; p < n_known; ++p)
    promised_.insert(s.page_hashes[p]);
}

void Planning::admit(std::span<const SequenceView> waiting) {
  i64 n_slots = limits_.max_sequences - n_kept_;
  if (!plan_.returned.empty() || waiting.empty() || n_slots <= 0 || n_rows_left_ <= 0) return;
  for (const SequenceView& s : running_)
    promise(s, s.n_published);
  i64 n_spare = n_available_ - n_pages_reserved();

  for (std::size_t i = 0; i < waiting.size() && n_slots > 0 && n_rows_left_ > 0; ++i) {
    const SequenceView& s = waiting[i];
    const CacheHits hits = cache_hits(s);
    const i64 n_needed = n_pages_for(s.n_tokens) - hits.n_pages + hits.n_unheld;
    const auto missing = sharable(s).subspan(hits.n_pages);
    if (!missing.empty() && promised_.contains(missing.front())) {
      n_spare -= n_needed + 1;  // kept for it, as the slot is
      --n_slots;
      continue;
    }
    const bool is_alone = running_.empty() && plan_.admitted.empty();
    if (n_needed > n_spare && !is_alone) return;
    const i64 n_cached = hits.n_pages * kPageTokens;
    const i64 n_rows = std::min({s.n_tokens - n_cached, s.n_reachable - n_cached, n_rows_left_});
    plan_.admitted.push_back({static_cast<i64>(i), hits.n_pages, n_rows});
    promise(s, hits.n_pages);
    n_spare -= n_needed + 1;
    n_rows_left_ -= n_rows;
    --n_slots;
  }
}

}  // namespace

StepPlan plan_step(std::span<const SequenceView> running,
                   std::span<const SequenceView> waiting,
                   const PagePool& pool,
                   const PlanLimits& limits) {
  Planning planning(running, pool, limits);
  planning.serve_running();
  planning.admit(waiting);
  return planning.take();
}

i64 n_pages_for(i64 n_tokens) {
  return (n_tokens + kPageTokens - 1) / kPageTokens;
}

}  // namespace sticky::engine
