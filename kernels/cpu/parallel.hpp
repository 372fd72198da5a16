#pragma once

#include <algorithm>

#include "sticky/base/types.hpp"

namespace sticky::cpu {

/// Something callable as f(i), by reference: it must outlive the use.
class IndexFunction {
 public:
  template <class F>
  explicit IndexFunction(const F& f)
      : object_(&f),
        call_([](const void* object, i64 i) { (*static_cast<const F*>(object))(i); }) {}
  void operator()(i64 i) const { call_(object_, i); }

 private:
  const void* object_;
  void (*call_)(const void*, i64);
};

/// Threads that share the work of one operation.
class Parallel {
 public:
  Parallel() = default;
  Parallel(const Parallel&) = delete;
  Parallel& operator=(const Parallel&) = delete;
  virtual ~Parallel() = default;
  [[nodiscard]] virtual i64 n_threads() const = 0;
  /// Calls f(0) … f(n - 1), each once, in any order, maybe at the same time; returns when all are
  /// done. f may not throw.
  virtual void for_each(i64 n, IndexFunction f) = 0;
};

/// Calls f(begin, end) for parts of 0 … n - 1, of at least n_least each where there are so many,
/// and a few for each thread, so that one which is interrupted does not make all wait.
template <class F>
void for_parts(Parallel& parallel, i64 n, i64 n_least, const F& f) {
  if (n <= 0) return;
  const i64 n_threads = parallel.n_threads();
  const i64 parts = n_threads == 1 ? 1 : std::clamp<i64>(n / n_least, 1, 4 * n_threads);
  parallel.for_each(parts, IndexFunction([&](i64 i) { f(n * i / parts, n * (i + 1) / parts); }));
}

}  // namespace sticky::cpu
