#pragma once

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

}  // namespace sticky::cpu
