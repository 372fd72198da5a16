#pragma once

#include <map>
#include <set>
#include <string>

#include <gtest/gtest.h>

namespace sticky::test {

/// Collects which checks each family passes, and writes docs/conformance.md of them.
class ConformancePage : public testing::EmptyTestEventListener {
 public:
  void OnTestEnd(const testing::TestInfo& test) override;
  [[nodiscard]] std::string text() const;
  /// The tests that the page is made of, as --gtest_filter wants them.
  [[nodiscard]] static std::string filter();

 private:
  // Of a model and a test: whether it passed.
  std::map<std::string, std::map<std::string, bool>> passed_;
};

}  // namespace sticky::test
