#include "row_source.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "tests/model/memory_checkpoint.hpp"

namespace sticky::test {
namespace {

using model::RowPart;

// Rows 0 … 5 of one element each, whose value is their number.
MemoryCheckpoint six_rows() {
  MemoryCheckpoint out;
  out.put("w", {6, 1}, {0, 1, 2, 3, 4, 5});
  return out;
}

std::vector<float> rows_of(const MemoryCheckpoint& checkpoint, const RowPart& part) {
  model::RowSource source(checkpoint, {{.place = {.name = "w", .shape = {6, 1}, .part = part},
                                        .stored = *checkpoint.find("w")}});
  std::vector<float> out(static_cast<std::size_t>(source.rows()));
  source.fill(0, source.rows(), out.data());
  return out;
}

TEST(RowSource, APartTakesItsBlocksByTheirStep) {
  const auto checkpoint = six_rows();

  EXPECT_EQ(rows_of(checkpoint, {.n_rows = 3, .begin = 1, .block = 1, .step = 2}),
            (std::vector<float>{1, 3, 5}));
  EXPECT_EQ(rows_of(checkpoint, {.n_rows = 4, .begin = 0, .block = 2, .step = 4}),
            (std::vector<float>{0, 1, 4, 5}));
}

TEST(RowSourceDeathTest, ARowBesideItsTensorIsABug) {
  const auto checkpoint = six_rows();

  EXPECT_DEATH((void)rows_of(checkpoint, {.n_rows = 3, .begin = 2, .block = 1, .step = 2}),
               "bug: ");
  EXPECT_DEATH((void)rows_of(checkpoint, {.n_rows = 2, .begin = 0, .block = 1, .step = 21}),
               "bug: ");
}

}  // namespace
}  // namespace sticky::test
