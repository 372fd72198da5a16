#include "value.hpp"

#include <gtest/gtest.h>

namespace sticky::config {
namespace {

TEST(Values, OfTheCommandLineAreReadByTheKeysType) {
  EXPECT_EQ(value_of_text({.kind = Kind::boolean}, "true"), Json(true));
  EXPECT_EQ(value_of_text({.kind = Kind::text}, "true"), Json("true"));
  EXPECT_EQ(value_of_text({.kind = Kind::text}, "12"), Json("12"));
  EXPECT_EQ(value_of_text({.kind = Kind::text}, "\"a b\""), Json("a b"));
  EXPECT_EQ(value_of_text({.kind = Kind::integer}, "12"), Json(12));
  EXPECT_EQ(value_of_text({.kind = Kind::integer}, "auto"), Json("auto"));
  EXPECT_EQ(value_of_text({.kind = Kind::number}, "0.5"), Json(0.5));
  EXPECT_EQ(value_of_text({.kind = Kind::duration}, "5m"), Json("5m"));
  EXPECT_EQ(value_of_text({.kind = Kind::texts}, "a,b"), Json::array({"a", "b"}));
  EXPECT_EQ(value_of_text({.kind = Kind::texts}, "[\"a,b\"]"), Json::array({"a,b"}));
  EXPECT_EQ(value_of_text({.kind = Kind::texts}, ""), Json("")) << "no list";
  EXPECT_EQ(value_of_text({.kind = Kind::texts}, "[]"), Json::array());
  EXPECT_EQ(value_of_text({.kind = Kind::integers}, "1,2"), Json::array({1, 2}));
}

TEST(Values, AtTheEdgesOfTheRangeAreTakenAndBeyondRefused) {
  const Type type{.kind = Kind::integer, .min = 1, .max = 8};
  i64 field = 5;
  EXPECT_FALSE(store(type, Json(1), &field));
  EXPECT_EQ(field, 1);
  EXPECT_FALSE(store(type, Json(8), &field));
  EXPECT_EQ(field, 8);
  for (const Json& bad :
       {Json(0), Json(9), Json(2.5), Json("3"), Json(true), Json(), Json::array()})
    EXPECT_EQ(store(type, bad, &field), ": expected an integer from 1 to 8") << bad.dump();
  EXPECT_EQ(field, 8);
}

TEST(Values, NotANumberIsOutOfEveryRange) {
  double field = 0.5;
  const Json nan(std::numeric_limits<double>::quiet_NaN());
  EXPECT_TRUE(store({.kind = Kind::number, .min = 0.0, .max = 1.0}, nan, &field));
  EXPECT_EQ(field, 0.5);
}

TEST(Values, ASpecialWordStandsForItsValue) {
  i64 threads = 3;
  const Type type{.kind = Kind::integer, .min = 1, .special = "auto"};
  EXPECT_FALSE(store(type, Json("auto"), &threads));
  EXPECT_EQ(threads, 0);
  EXPECT_EQ(show(type, &threads), Json("auto"));

  std::optional<i64> seed = 3;
  const Type optional{.kind = Kind::integer, .special = "none"};
  EXPECT_FALSE(store(optional, Json("none"), &seed));
  EXPECT_FALSE(seed.has_value());
  EXPECT_EQ(show(optional, &seed), Json("none"));
}

TEST(Values, AListWithAWrongElementChangesNothing) {
  std::vector<std::string> field{"kept"};
  EXPECT_TRUE(store({.kind = Kind::texts}, Json::array({"a", 1}), &field));
  EXPECT_TRUE(store({.kind = Kind::texts}, Json::array({"a", ""}), &field));
  EXPECT_TRUE(store({.kind = Kind::texts}, Json("a"), &field));
  EXPECT_EQ(field, std::vector<std::string>{"kept"});
}

TEST(Values, WhatIsNotBuiltYetIsSaidPlainly) {
  std::string policy = "sticky";
  const Type type{.kind = Kind::choice, .words = {"sticky"}, .later_words = {"sticky-io"}};
  EXPECT_EQ(store(type, Json("sticky-io"), &policy), " is not built yet; so far: \"sticky\"");
  EXPECT_EQ(store(type, Json("slimy"), &policy), ": expected one of \"sticky\"");
  EXPECT_EQ(store({.kind = Kind::later}, Json(3), {}), " is not built yet");
  EXPECT_EQ(store({.kind = Kind::fixed, .words = {"true"}}, Json(true), {}), std::nullopt);
  EXPECT_EQ(store({.kind = Kind::fixed, .words = {"true"}}, Json(false), {}),
            " is not built yet; so far: \"true\"");
}

}  // namespace
}  // namespace sticky::config
