#include "page_pool.hpp"

#include "sticky/base/check.hpp"

namespace sticky::engine {

PagePool::PagePool(i64 n_pages) : pages_(static_cast<std::size_t>(n_pages)) {
  free_.reserve(pages_.size());
  for (i64 page = n_pages - 1; page >= 0; --page) {
    free_.push_back(static_cast<i32>(page));
  }
}

i32 PagePool::allocate() {
  STICKY_CHECK(n_available() > 0);
  i32 page = oldest_;
  if (!free_.empty()) {
    page = free_.back();
    free_.pop_back();
  } else {
    remove_cached(page);
    published_.erase(*at(page).hash);
    at(page).hash.reset();
  }
  at(page).n_holders = 1;
  return page;
}

void PagePool::retain(i32 page) {
  Page& p = at(page);
  STICKY_CHECK(p.n_holders > 0 || p.hash);
  if (p.n_holders == 0) remove_cached(page);
  ++p.n_holders;
}

void PagePool::release(i32 page) {
  Page& p = at(page);
  STICKY_CHECK(p.n_holders > 0);
  if (--p.n_holders > 0) return;
  if (p.hash) {
    append_cached(page);
  } else {
    free_.push_back(page);
  }
}

std::optional<i32> PagePool::find(const Hash128& hash) const {
  const auto found = published_.find(hash);
  if (found == published_.end()) return std::nullopt;
  return found->second;
}

void PagePool::publish(i32 page, const Hash128& hash) {
  Page& p = at(page);
  STICKY_CHECK(p.n_holders > 0 && !p.hash);
  if (published_.try_emplace(hash, page).second) p.hash = hash;
}

void PagePool::append_cached(i32 page) {
  Page& p = at(page);
  p.older = newest_;
  p.newer = kNone;
  (newest_ == kNone ? oldest_ : at(newest_).newer) = page;
  newest_ = page;
  ++n_cached_;
}

void PagePool::remove_cached(i32 page) {
  const Page& p = at(page);
  (p.older == kNone ? oldest_ : at(p.older).newer) = p.newer;
  (p.newer == kNone ? newest_ : at(p.newer).older) = p.older;
  --n_cached_;
}

}  // namespace sticky::engine
