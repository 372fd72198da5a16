#include "sticky/malleability/host.hpp"

#include <gtest/gtest.h>

#include "sticky/base/error.hpp"

namespace sticky::malleability {
namespace {

TEST(HostName, IsWhatMpiAndALogCanBear) {
  for (const char* good : {"node7", "NODE-7.cluster.org", "10.0.0.7", "a_b", "7"})
    EXPECT_TRUE(is_host_name(good)) << good;
  for (const char* bad : {"", "-x", ".x", "a b", "a,b", "a;b", "a\nb", "a/b", "nöde", "a:1"})
    EXPECT_FALSE(is_host_name(bad)) << bad;
  EXPECT_TRUE(is_host_name(std::string(253, 'a')));
  EXPECT_FALSE(is_host_name(std::string(254, 'a')));
}

TEST(HostKey, JoinsTheNamesOfOneHostAndKeepsAddressesApart) {
  EXPECT_EQ(host_key("Node7.cluster.org"), "node7");
  EXPECT_EQ(host_key("node7"), "node7");
  EXPECT_EQ(host_key("10.0.0.7"), "10.0.0.7");
}

TEST(ParseHost, ReadsSlotsAfterAColon) {
  EXPECT_EQ(parse_host("node7"), (Host{"node7", 1}));
  EXPECT_EQ(parse_host("node7:12"), (Host{"node7", 12}));
  for (const char* bad : {"", ":", ":2", "n:", "n:0", "n:-1", "n:65537", "n:1x", "n:1:2", "n: 1",
                          "n:99999999999999999999"})
    EXPECT_THROW((void)parse_host(bad), FormatError) << bad;
}

}  // namespace
}  // namespace sticky::malleability
