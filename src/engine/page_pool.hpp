#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "sticky/base/hash.hpp"
#include "sticky/base/types.hpp"

namespace sticky::engine {

// Who holds which page of the KV cache. The pool owns page numbers, not memory.
//
//            allocate                 release, no holder left
//   free ──────────────▶ used ────────────────────────────────▶ free     (never published)
//     ▲                   ▲ └──────────────────────────────────▶ cached  (published)
//     │                   └──────────── retain ───────────────────┘ │
//     └─ (allocate takes the longest unused cached page when none is free) ◀┘
//
// A page is published under a hash of all tokens up to its end, so equal hashes mean equal keys and
// values. The hash has 128 bits and is trusted without looking at the tokens again: with a million
// pages the chance of one false hit is below 1e-26.

/// free + used + cached = total after every call. A page held by several is freed by the last.
class PagePool {
 public:
  explicit PagePool(i64 n_pages);

  [[nodiscard]] i64 n_total() const { return static_cast<i64>(pages_.size()); }
  [[nodiscard]] i64 n_free() const { return static_cast<i64>(free_.size()); }
  [[nodiscard]] i64 n_cached() const { return n_cached_; }
  [[nodiscard]] i64 n_used() const { return n_total() - n_free() - n_cached(); }
  /// What allocate() can give: free and cached pages.
  [[nodiscard]] i64 n_available() const { return n_free() + n_cached(); }
  [[nodiscard]] i64 n_holders(i32 page) const { return at(page).n_holders; }

  /// A page with one holder; a cached one loses what it held. n_available() must be above 0.
  [[nodiscard]] i32 allocate();
  /// One holder more of a page that is used or cached.
  void retain(i32 page);
  /// One holder less. Of the pages of a sequence the last should be released first: cached pages
  /// are taken in order of release, and a page without those before it cannot be found.
  void release(i32 page);

  /// The page published under this hash, used or cached.
  [[nodiscard]] std::optional<i32> find(const Hash128& hash) const;
  /// Makes a used page findable. Where the hash has a page already, that one stays and this one
  /// remains unpublished.
  void publish(i32 page, const Hash128& hash);

 private:
  static constexpr i32 kNone = -1;

  struct Page {
    i64 n_holders = 0;
    std::optional<Hash128> hash;  // set: published
    i32 older = kNone;            // neighbours in the list of cached pages
    i32 newer = kNone;
  };
  struct LowWord {
    std::size_t operator()(const Hash128& hash) const { return hash.low; }
  };

  [[nodiscard]] const Page& at(i32 page) const { return pages_.at(static_cast<std::size_t>(page)); }
  [[nodiscard]] Page& at(i32 page) { return pages_.at(static_cast<std::size_t>(page)); }
  void append_cached(i32 page);
  void remove_cached(i32 page);

  std::vector<Page> pages_;
  std::vector<i32> free_;  // a stack
  std::unordered_map<Hash128, i32, LowWord> published_;
  i32 oldest_ = kNone;
  i32 newest_ = kNone;
  i64 n_cached_ = 0;
};

}  // namespace sticky::engine
