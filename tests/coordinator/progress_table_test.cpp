#include "sticky/coordinator/progress_table.hpp"

#include <gtest/gtest.h>

namespace sticky::coordinator {
namespace {

TEST(ProgressTable, KeepsTheLatestUntilItIsErased) {
  ProgressTable table;
  table.keep({7}, "abc");
  table.keep({7}, "de");
  table.keep({8}, "f");

  EXPECT_EQ(table.find({7}), "de");
  EXPECT_EQ(table.n_bytes(), 3);
  table.erase({7});
  table.erase({7});
  EXPECT_EQ(table.find({7}), "");
  EXPECT_EQ(table.n_bytes(), 1);
}

TEST(ProgressTable, WhatDoesNotFitIsNotKeptAndWhatIsThereStays) {
  ProgressTable table(4);
  table.keep({1}, "abc");
  table.keep({2}, "de");
  table.keep({1}, "abcde");

  EXPECT_EQ(table.find({1}), "abc");
  EXPECT_EQ(table.find({2}), "");
  table.keep({1}, "abcd");
  EXPECT_EQ(table.find({1}), "abcd");
  EXPECT_EQ(table.n_bytes(), 4);
}

}  // namespace
}  // namespace sticky::coordinator
