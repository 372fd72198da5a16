#include "kernels/attention.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "kernels/rope.hpp"
#include "tests/kernels/cpu_fixture.hpp"

namespace sticky::test {
namespace {

struct Shape {
  i64 n_heads = 9;
  i64 n_kv_heads = 3;
  i64 head_dim = 64;
  i64 window = 0;
  float softcap = 0.0F;

  [[nodiscard]] i64 group() const { return n_heads / n_kv_heads; }
  [[nodiscard]] i64 width() const { return (n_heads + 2 * n_kv_heads) * head_dim; }
};

/// One sequence: its fused q, k, v rows by position.
struct Sequence {
  i64 n_positions = 0;
  std::vector<float> qkv;
};

Sequence make_sequence(const Shape& shape, i64 n_positions, unsigned seed) {
  return {n_positions, uniform(n_positions * shape.width(), seed)};
}

/// Rows first … first + n - 1 of a sequence, to be computed in one step.
struct Chunk {
  const Sequence* sequence = nullptr;
  i64 first = 0;
  i64 n = 0;
};

/// A KV cache whose pages are handed out from the back, so that no sequence has them in order.
class Cache {
 public:
  Cache(const Shape& shape, i64 n_pages) : shape_(shape), n_pages_(n_pages) {
    // What an earlier user left behind must not be seen.
    const auto size =
        static_cast<std::size_t>(n_pages * shape.n_kv_heads * kPageTokens * shape.head_dim);
    k_.assign(size, std::numeric_limits<float>::quiet_NaN());
    v_.assign(size, std::numeric_limits<float>::quiet_NaN());
    next_ = static_cast<i32>(n_pages);
  }
  [[nodiscard]] KvPages pages() {
    return {k_.data(), v_.data(), DType::f32, n_pages_, shape_.n_kv_heads, shape_.head_dim};
  }
  std::vector<i32>& pages_of(const Sequence& sequence) {
    for (auto& [owner, pages] : owned_) {
      if (owner == &sequence) return pages;
    }
    std::vector<i32> pages;
    for (i64 p = 0; p < sequence.n_positions; p += kPageTokens)
      pages.push_back(--next_);
    return owned_.emplace_back(&sequence, pages).second;
  }

 private:
  Shape shape_;
  i64 n_pages_;
  i32 next_ = 0;
  std::vector<float> k_, v_;
  std::vector<std::pair<const Sequence*, std::vector<i32>>> owned_;
};

/// Stores and attends to the chunks as one step; the outputs of their rows, one after another.
std::vector<float> step(const cpu::Context& context,
                        const Shape& shape,
                        Cache& cache,
                        const std::vector<Chunk>& chunks) {
  std::vector<SequenceRows> rows;
  std::vector<float> qkv;
  i64 n_rows = 0;
  for (const Chunk& chunk : chunks) {
    cache.pages_of(*chunk.sequence);
    const auto begin = chunk.sequence->qkv.begin() + chunk.first * shape.width();
    qkv.insert(qkv.end(), begin, begin + chunk.n * shape.width());
  }
  for (const Chunk& chunk : chunks) {
    rows.push_back({n_rows, chunk.n, chunk.first, cache.pages_of(*chunk.sequence)});
    n_rows += chunk.n;
  }
  const std::vector<float> none;
  const ConstMatrix no_rotation = Rows<const float>{none.data(), 1 << 20, 0, 0};
  const auto all = matrix(qkv, n_rows, shape.width());
  cpu::rope_and_store(context, {.qkv = all,
                                .n_heads = shape.n_heads,
                                .cos = no_rotation,
                                .sin = no_rotation,
                                .sequences = rows,
                                .kv = cache.pages()});
  const i64 width = shape.n_heads * shape.head_dim;
  std::vector<float> y = uniform(n_rows * width, 77);  // garbage, must be overwritten
  cpu::attention(context, {.q = all.columns(0, width),
                           .n_heads = shape.n_heads,
                           .sequences = rows,
                           .kv = cache.pages(),
                           .scale = 1.5F,
                           .window = shape.window,
                           .softcap = shape.softcap,
                           .y = matrix(y, n_rows, width)});
  return y;
}

std::vector<float> whole(const cpu::Context& context,
                         const Shape& shape,
                         const Sequence& sequence) {
  Cache cache(shape, sequence.n_positions / kPageTokens + 1);
  return step(context, shape, cache, {{&sequence, 0, sequence.n_positions}});
}

/// The oracle: the formula in double precision on the unpaged rows, and with it the largest |s| and
/// |v| that were met, which the error bound needs.
struct Expected {
  double value = 0.0;
  double largest_score = 0.0;
};

Expected expected(const Shape& shape, const Sequence& sequence, i64 row, i64 head, i64 d) {
  const i64 width = shape.width();
  const i64 kv_head = head / shape.group();
  const auto at = [&](i64 position, i64 column) {
    return static_cast<double>(sequence.qkv[static_cast<std::size_t>(position * width + column)]);
  };
  const i64 first = shape.window > 0 ? std::max<i64>(0, row - shape.window + 1) : 0;
  std::vector<double> scores;
  Expected result;
  for (i64 j = first; j <= row; ++j) {
    double s = 0.0;
    for (i64 c = 0; c < shape.head_dim; ++c)
      s += at(row, head * shape.head_dim + c) *
           at(j, (shape.n_heads + kv_head) * shape.head_dim + c);
    s *= 1.5;
    if (shape.softcap > 0.0F)
      s = static_cast<double>(shape.softcap) * std::tanh(s / static_cast<double>(shape.softcap));
    scores.push_back(s);
    result.largest_score = std::max(result.largest_score, std::abs(s));
  }
  const double max = *std::ranges::max_element(scores);
  double sum = 0.0;
  for (i64 j = first; j <= row; ++j) {
    const double p = std::exp(scores[static_cast<std::size_t>(j - first)] - max);
    sum += p;
    result.value += p * at(j, (shape.n_heads + shape.n_kv_heads + kv_head) * shape.head_dim + d);
  }
  result.value /= sum;
  return result;
}

class AttentionTest : public EachSet {};

void expect_formula(const cpu::Context& context, const Shape& shape, i64 n_positions) {
  const Sequence sequence = make_sequence(shape, n_positions, 3);
  const std::vector<float> y = whole(context, shape, sequence);
  const i64 width = shape.n_heads * shape.head_dim;
  for (i64 i = 0; i < n_positions * width; i += 17) {  // 17: meets every head, row and column class
    const i64 row = i / width;
    const Expected want =
        expected(shape, sequence, row, i % width / shape.head_dim, i % shape.head_dim);
    // |q|, |k|, |v| < 1, so a score of head_dim terms is off by head_dim roundoffs of a sum under
    // 1.5 head_dim, at worst; typically by its square root, which random signs give: 4 times that
    // is allowed. The weights inherit that error; they and their sums, n terms each, and the merges
    // add n + 20 roundoffs, typically the square root again.
    const double score_error = 4.0 * std::sqrt(static_cast<double>(shape.head_dim)) *
                               (want.largest_score + 1.0) * kRoundoff;
    const double sum_error = 4.0 * (std::sqrt(static_cast<double>(row)) + 20.0) * kRoundoff;
    ASSERT_NEAR(static_cast<double>(y[static_cast<std::size_t>(i)]), want.value,
                2.0 * score_error + sum_error)
        << "row " << row << " column " << i % width;
  }
}

TEST_P(AttentionTest, MatchesTheFormulaAtEveryLengthAroundAPageAndASplit) {
  for (const i64 n : {1, 15, 16, 17, 40})
    expect_formula(context(), {}, n);
  for (const i64 n : {255, 256, 257, 530})
    expect_formula(context(), {.n_heads = 3, .n_kv_heads = 1, .head_dim = 16}, n);
}

TEST_P(AttentionTest, MatchesTheFormulaForOddHeadSizesAndGroups) {
  expect_formula(context(), {.n_heads = 4, .n_kv_heads = 4, .head_dim = 8}, 40);
  expect_formula(context(), {.n_heads = 14, .n_kv_heads = 2, .head_dim = 72}, 33);
  expect_formula(context(), {.n_heads = 32, .n_kv_heads = 1, .head_dim = 20}, 21);
}

TEST_P(AttentionTest, MatchesTheFormulaWithAWindowAndASoftcap) {
  expect_formula(context(), {.n_heads = 4, .n_kv_heads = 2, .head_dim = 16, .window = 5}, 60);
  expect_formula(context(), {.n_heads = 4, .n_kv_heads = 2, .head_dim = 16, .window = 270}, 540);
  expect_formula(context(), {.n_heads = 4, .n_kv_heads = 2, .head_dim = 16, .softcap = 2.0F}, 60);
}

TEST_P(AttentionTest, ARowsBitsDoNotDependOnHowItsPromptWasCut) {
  for (const i64 window : {0, 290}) {
    const Shape shape = {.n_heads = 4, .n_kv_heads = 2, .head_dim = 8, .window = window};
    const Sequence sequence = make_sequence(shape, 540, 5);
    const std::vector<float> want = whole(context(), shape, sequence);

    for (const i64 chunk : {1, 5, 100}) {
      Cache cache(shape, 40);
      std::vector<float> y;
      for (i64 first = 0; first < sequence.n_positions; first += chunk) {
        const i64 n = std::min(chunk, sequence.n_positions - first);
        const auto part = step(context(), shape, cache, {{&sequence, first, n}});
        y.insert(y.end(), part.begin(), part.end());
      }
      EXPECT_TRUE(same_bits(y, want)) << "chunks of " << chunk << ", window " << window;
    }
  }
}

TEST_P(AttentionTest, ARowsBitsDoNotDependOnItsNeighbours) {
  const Shape shape;
  const Sequence a = make_sequence(shape, 70, 1);
  const Sequence b = make_sequence(shape, 33, 2);
  const Sequence c = make_sequence(shape, 300, 3);
  Cache cache(shape, 40);
  (void)step(context(), shape, cache, {{&a, 0, 69}, {&c, 0, 100}});

  const auto y = step(context(), shape, cache, {{&b, 0, 33}, {&a, 69, 1}, {&c, 100, 200}});

  std::vector<float> want = whole(context(), shape, b);
  const auto alone_a = whole(context(), shape, a);
  const auto alone_c = whole(context(), shape, c);
  const i64 width = shape.n_heads * shape.head_dim;
  want.insert(want.end(), alone_a.end() - width, alone_a.end());
  want.insert(want.end(), alone_c.begin() + 100 * width, alone_c.end());
  EXPECT_TRUE(same_bits(y, want));
}

TEST_P(AttentionTest, RowsInNoSequenceAreLeftAlone) {
  const Shape shape = {.n_heads = 1, .n_kv_heads = 1, .head_dim = 4};
  Cache cache(shape, 2);
  std::vector<float> q(8, 1.0F);
  std::vector<float> y(8, 42.0F);
  const std::vector<i32> pages = {0};
  const SequenceRows nothing = {.first_row = 2, .n_rows = 0, .first_position = 0, .pages = pages};

  cpu::attention(context(), {.q = matrix(q, 2, 4),
                             .n_heads = 1,
                             .sequences = {&nothing, 1},
                             .kv = cache.pages(),
                             .y = matrix(y, 2, 4)});

  EXPECT_EQ(y, std::vector<float>(8, 42.0F));
}

TEST_P(AttentionTest, PagesThatAWindowHidesMayBeGone) {
  const Shape shape = {.n_heads = 2, .n_kv_heads = 1, .head_dim = 4, .window = 20};
  const Sequence sequence = make_sequence(shape, 70, 4);
  const std::vector<float> want = whole(context(), shape, sequence);
  Cache cache(shape, 8);
  (void)step(context(), shape, cache, {{&sequence, 0, 69}});

  cache.pages_of(sequence)[0] = -1;  // position 69 sees 50 … 69
  cache.pages_of(sequence)[2] = -1;
  const std::vector<float> y = step(context(), shape, cache, {{&sequence, 69, 1}});

  EXPECT_TRUE(same_bits(y, {want.end() - 8, want.end()}));
}

TEST_P(AttentionTest, RowsBeyondTheBatchAndMissingPagesAreRefused) {
  const Shape shape = {.n_heads = 1, .n_kv_heads = 1, .head_dim = 4};
  Cache cache(shape, 2);
  std::vector<float> q(8, 1.0F);
  std::vector<float> y(8);
  const std::vector<i32> pages = {0};
  const std::vector<i32> wrong_pages = {2};
  const std::vector<i32> negative_pages = {-1};
  const auto attend = [&](const SequenceRows& rows) {
    cpu::attention(context(), {.q = matrix(q, 2, 4),
                               .n_heads = 1,
                               .sequences = {&rows, 1},
                               .kv = cache.pages(),
                               .y = matrix(y, 2, 4)});
  };

  EXPECT_THROW(attend({1, 2, 0, pages}), std::invalid_argument);
  EXPECT_THROW(attend({0, 2, 15, pages}), std::invalid_argument);
  EXPECT_THROW(attend({0, 1, 0, wrong_pages}), std::invalid_argument);
  EXPECT_THROW(attend({0, 1, 0, negative_pages}), std::invalid_argument);
  EXPECT_NO_THROW(attend({0, 2, 0, pages}));
}

INSTANTIATE_TEST_SUITE_P(On, AttentionTest, testing::ValuesIn(exact_sets()), name_of_set);

TEST(AttentionOnAllSets, GivesTheSameBits) {
  for (const Shape& shape :
       {Shape{},
        Shape{.n_heads = 14, .n_kv_heads = 2, .head_dim = 20, .window = 30, .softcap = 3.0F}}) {
    const Sequence sequence = make_sequence(shape, 300, 9);
    SerialParallel serial;
    const auto want =
        whole({cpu::kernel_table(cpu::InstructionSet::scalar), serial}, shape, sequence);
    for (const auto set : exact_sets()) {
      EXPECT_TRUE(same_bits(whole({cpu::kernel_table(set), serial}, shape, sequence), want))
          << cpu::name(set);
    }
  }
}

}  // namespace
}  // namespace sticky::test
