#include "src/engine/page_pool.hpp"

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include <gtest/gtest.h>

namespace sticky::engine {
namespace {

Hash128 hash_of(std::uint64_t n) {
  return {.high = n * 7 + 1, .low = n};
}

TEST(PagePool, GivesEachPageOnce) {
  PagePool pool(3);

  const std::set<i32> pages{pool.allocate(), pool.allocate(), pool.allocate()};

  EXPECT_EQ(pages, (std::set<i32>{0, 1, 2}));
  EXPECT_EQ(pool.n_available(), 0);
  EXPECT_EQ(pool.n_used(), 3);
}

TEST(PagePool, ASharedPageIsFreedByItsLastHolder) {
  PagePool pool(1);
  const i32 page = pool.allocate();
  pool.retain(page);

  pool.release(page);
  EXPECT_EQ(pool.n_used(), 1);
  pool.release(page);
  EXPECT_EQ(pool.n_free(), 1);
}

TEST(PagePool, APublishedPageIsFoundWhileUsedAndAfter) {
  PagePool pool(2);
  const i32 page = pool.allocate();
  pool.publish(page, hash_of(1));
  EXPECT_EQ(pool.find(hash_of(1)), page);
  EXPECT_EQ(pool.find(hash_of(2)), std::nullopt);

  pool.release(page);
  EXPECT_EQ(pool.n_cached(), 1);
  EXPECT_EQ(pool.find(hash_of(1)), page);

  pool.retain(page);
  EXPECT_EQ(pool.n_cached(), 0);
  EXPECT_EQ(pool.n_holders(page), 1);
}

TEST(PagePool, TakesFreePagesBeforeCachedOnesAndOfThoseTheLongestUnused) {
  PagePool pool(3);
  const i32 a = pool.allocate();
  const i32 b = pool.allocate();
  pool.publish(a, hash_of(1));
  pool.publish(b, hash_of(2));
  pool.release(a);
  pool.release(b);
  pool.retain(a);  // used again: now b is the older
  pool.release(a);

  const i32 first = pool.allocate();
  EXPECT_TRUE(first != a && first != b);
  EXPECT_EQ(pool.allocate(), b);
  EXPECT_EQ(pool.find(hash_of(2)), std::nullopt);
  EXPECT_EQ(pool.find(hash_of(1)), a);
}

TEST(PagePool, TheFirstPageOfAHashStays) {
  PagePool pool(2);
  const i32 first = pool.allocate();
  const i32 second = pool.allocate();
  pool.publish(first, hash_of(1));
  pool.publish(second, hash_of(1));
  EXPECT_EQ(pool.find(hash_of(1)), first);

  pool.release(second);
  EXPECT_EQ(pool.n_free(), 1);
  EXPECT_EQ(pool.find(hash_of(1)), first);
}

TEST(PagePoolDeathTest, MisuseIsABug) {
  PagePool pool(1);
  EXPECT_DEATH(pool.release(0), "bug");
  EXPECT_DEATH(pool.retain(0), "bug");
  (void)pool.allocate();
  EXPECT_DEATH((void)pool.allocate(), "bug");
}

// What the pool should be, written down without thought of cost.
struct Ledger {
  std::map<i32, i64> n_holders;            // used pages
  std::map<std::uint64_t, i32> published;  // hash number → page
  std::vector<i32> cached;                 // longest unused first

  [[nodiscard]] bool is_published(i32 page) const {
    return std::ranges::any_of(published, [&](const auto& entry) { return entry.second == page; });
  }
  void allocate(i32 page) {
    if (std::erase(cached, page) > 0) {
      std::erase_if(published, [&](const auto& entry) { return entry.second == page; });
    }
    n_holders[page] = 1;
  }
  void retain(i32 page) {
    std::erase(cached, page);
    ++n_holders[page];
  }
  void release(i32 page) {
    if (--n_holders[page] > 0) return;
    n_holders.erase(page);
    if (is_published(page)) cached.push_back(page);
  }
};

void expect_equal(const PagePool& pool, const Ledger& ledger, std::uint64_t n_hashes) {
  ASSERT_EQ(pool.n_free() + pool.n_used() + pool.n_cached(), pool.n_total());
  ASSERT_EQ(pool.n_used(), std::ssize(ledger.n_holders));
  ASSERT_EQ(pool.n_cached(), std::ssize(ledger.cached));
  for (const auto& [page, n] : ledger.n_holders)
    ASSERT_EQ(pool.n_holders(page), n);
  for (std::uint64_t h = 0; h < n_hashes; ++h) {
    const auto want = ledger.published.find(h);
    const auto found = pool.find(hash_of(h));
    ASSERT_EQ(found.has_value(), want != ledger.published.end());
    if (found) {
      ASSERT_EQ(*found, want->second);
    }
  }
}

TEST(PagePool, AgreesWithALedgerOverRandomCalls) {
  constexpr std::uint64_t kHashes = 12;
  for (unsigned seed = 0; seed < 50; ++seed) {
    std::mt19937 random(seed);
    PagePool pool(7);
    Ledger ledger;
    for (int call = 0; call < 300; ++call) {
      const std::uint64_t h = random() % kHashes;
      auto used = ledger.n_holders.begin();
      if (!ledger.n_holders.empty()) std::advance(used, random() % ledger.n_holders.size());
      switch (random() % 4) {
        case 0:
          if (pool.n_available() == 0) break;
          {
            const bool evicts = pool.n_free() == 0;
            const i32 page = pool.allocate();
            ASSERT_TRUE(!evicts || page == ledger.cached.front());
            ASSERT_FALSE(ledger.n_holders.contains(page));
            ledger.allocate(page);
          }
          break;
        case 1:
          if (const auto page = pool.find(hash_of(h))) {
            pool.retain(*page);
            ledger.retain(*page);
          }
          break;
        case 2:
          if (used == ledger.n_holders.end()) break;
          pool.release(used->first);
          ledger.release(used->first);
          break;
        default:
          if (used == ledger.n_holders.end() || ledger.is_published(used->first)) break;
          pool.publish(used->first, hash_of(h));
          ledger.published.try_emplace(h, used->first);
      }
      expect_equal(pool, ledger, kHashes);
    }
  }
}

}  // namespace
}  // namespace sticky::engine
