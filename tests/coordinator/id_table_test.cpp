#include "sticky/coordinator/id_table.hpp"

#include <map>
#include <random>
#include <string>

#include <gtest/gtest.h>

namespace sticky::coordinator {
namespace {

TEST(IdTable, BehavesAsAMapUnderRandomInsertionsAndErasures) {
  std::mt19937 random(7);
  IdTable<std::string> table;
  std::map<i64, std::string> expected;
  i64 next = 0;
  for (int step = 0; step < 20000; ++step) {
    if (random() % 2 == 0) {
      next += 1 + random() % 3;
      table.insert({next}) = expected[next] = std::to_string(random());
    } else if (!expected.empty()) {
      auto it = expected.lower_bound(static_cast<i64>(random()) % (next + 1));
      if (it == expected.end()) it = expected.begin();
      table.erase({it->first});
      expected.erase(it);
    }
    const i64 probe = static_cast<i64>(random()) % (next + 300);
    const std::string* found = table.find(InvocationId{probe});
    const auto it = expected.find(probe);
    ASSERT_EQ(found != nullptr, it != expected.end()) << probe;
    if (found != nullptr) {
      ASSERT_EQ(*found, it->second);
    }
    ASSERT_EQ(table.size(), static_cast<i64>(expected.size()));
  }
}

TEST(IdTable, NoIdIsFoundBelowZeroOrBeyondTheLast) {
  IdTable<int> table;
  table.insert({0}) = 1;

  EXPECT_EQ(table.find({-1}), nullptr);
  EXPECT_EQ(table.find({1}), nullptr);
  EXPECT_EQ(table.find({1 << 20}), nullptr);
}

TEST(IdTableDeathTest, ToEraseAnEntryThatIsNotThereIsABug) {
  IdTable<int> table;
  table.insert({300}) = 1;

  EXPECT_DEATH(table.erase({301}), "bug: ");
  EXPECT_DEATH(table.erase({0}), "bug: ");  // of a chunk that never was
  EXPECT_DEATH(table.erase({1 << 20}), "bug: ");
  EXPECT_DEATH(table.erase({-1}), "bug: ");
}

}  // namespace
}  // namespace sticky::coordinator
