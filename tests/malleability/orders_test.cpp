#include "sticky/malleability/orders.hpp"

#include <gtest/gtest.h>

#include "sticky/base/error.hpp"

namespace sticky::malleability {
namespace {

const std::vector<Order> kOrders = {SetWorkers{4}, AddHost{{"node7", 2}}, DrainHost{"node7"}};

TEST(Order, SurvivesItsFile) {
  for (const Order& order : kOrders)
    EXPECT_EQ(order_of(Json::parse(to_json(order).dump())), order) << text_of(order);
}

TEST(Order, HasTheFormThatIsPromised) {
  EXPECT_EQ(to_json(SetWorkers{4}).dump(), R"({"version":1,"order":"set_workers","workers":4})");
  EXPECT_EQ(to_json(AddHost{{"n", 2}}).dump(),
            R"({"version":1,"order":"add_host","host":"n","slots":2})");
  EXPECT_EQ(to_json(DrainHost{"n"}).dump(), R"({"version":1,"order":"drain_host","host":"n"})");
}

TEST(Order, ReadsAsItIsTyped) {
  EXPECT_EQ(text_of(SetWorkers{4}), "--workers 4");
  EXPECT_EQ(text_of(AddHost{{"node7", 2}}), "--add node7:2");
  EXPECT_EQ(text_of(DrainHost{"node7"}), "--drain node7");
}

TEST(Order, IsRefusedWhenAnythingIsMissingUnknownOrOutOfRange) {
  for (const char* bad : {
           R"([])",
           R"(4)",
           R"({})",
           R"({"order":"set_workers","workers":4})",
           R"({"version":2,"order":"set_workers","workers":4})",
           R"({"version":1,"order":"set_workers"})",
           R"({"version":1,"order":"set_workers","workers":0})",
           R"({"version":1,"order":"set_workers","workers":-3})",
           R"({"version":1,"order":"set_workers","workers":1000001})",
           R"({"version":1,"order":"set_workers","workers":"4"})",
           R"({"version":1,"order":"set_workers","workers":4.0})",
           R"({"version":1,"order":"set_workers","workers":4,"host":"x"})",
           R"({"version":1,"order":"add_host","host":"n"})",
           R"({"version":1,"order":"add_host","host":"n","slots":0})",
           R"({"version":1,"order":"add_host","host":"a b","slots":1})",
           R"({"version":1,"order":"add_host","host":"-x","slots":1})",
           R"({"version":1,"order":"drain_host","host":7})",
           R"({"version":1,"order":"drain_host"})",
           R"({"version":1,"order":"shutdown"})",
           R"({"version":1,"order":3})",
       })
    EXPECT_THROW((void)order_of(Json::parse(bad)), FormatError) << bad;
}

}  // namespace
}  // namespace sticky::malleability
