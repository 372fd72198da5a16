#include "sticky/coordinator/kept_invocations.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace sticky::coordinator {
namespace {

protocol::Invocation invocation(i64 id) {
  return {.id = {id},
          .custom_id = "r" + std::to_string(id),
          .file = "f",
          .hash = {},
          .payload = std::string(static_cast<std::size_t>(10 * id), 'x')};
}

protocol::EncodedInvocations block(i64 first, i64 n) {
  std::vector<protocol::Invocation> out;
  for (i64 id = first; id < first + n; ++id)
    out.push_back(invocation(id));
  return protocol::EncodedInvocations(out);
}

TEST(KeptInvocations, EachIsFoundByItsIdWhicheverBlockItCameIn) {
  KeptInvocations kept;
  kept.add(block(3, 2));
  kept.add(block(5, 3));

  for (i64 id = 3; id < 8; ++id)
    EXPECT_EQ(protocol::decode_invocation(kept.at({id})), invocation(id));
  EXPECT_FALSE(kept.contains({2}));
  EXPECT_FALSE(kept.contains({8}));
}

TEST(KeptInvocations, ABlockGoesWithItsLastInvocationAndTheOthersStay) {
  KeptInvocations kept;
  kept.add(block(0, 2));
  kept.add(block(2, 2));
  kept.add({});
  ASSERT_EQ(kept.n_blocks(), 2);

  kept.erase({0});
  EXPECT_EQ(kept.n_blocks(), 2);
  EXPECT_FALSE(kept.contains({0}));
  EXPECT_EQ(protocol::decode_invocation(kept.at({1})), invocation(1));
  kept.erase({1});
  EXPECT_EQ(kept.n_blocks(), 1);
  EXPECT_EQ(protocol::decode_invocation(kept.at({3})), invocation(3));
}

TEST(KeptInvocationsDeathTest, ToTakeOneThatIsNotThereIsABug) {
  KeptInvocations kept;
  kept.add(block(3, 2));
  kept.erase({4});

  EXPECT_DEATH((void)kept.at({4}), "bug: ");
  EXPECT_DEATH(kept.erase({4}), "bug: ");
  EXPECT_DEATH((void)kept.at({1 << 20}), "bug: ");
  EXPECT_DEATH(kept.erase({1 << 20}), "bug: ");
}

}  // namespace
}  // namespace sticky::coordinator
