#include "sticky/config/reference.hpp"

#include <fstream>
#include <gmock/gmock.h>
#include <iterator>
#include <set>

#include <gtest/gtest.h>

#include "rows.hpp"

namespace sticky::config {
namespace {

TEST(Reference, IsThePageInDocs) {
  std::ifstream in(STICKY_SOURCE_DIR "/docs/configuration.md", std::ios::binary);
  const std::string page{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};

  EXPECT_EQ(page, reference())
      << "renew it: stickyinvoc --print-config-reference > docs/configuration.md";
}

TEST(Reference, NamesEveryKeyOnce) {
  const std::string text = reference();
  std::set<std::string_view> keys;
  for (const Row& row : rows()) {
    EXPECT_TRUE(keys.insert(row.key).second) << row.key << " stands in two rows";
    EXPECT_THAT(text, testing::HasSubstr("| `" + std::string(row.key) + "` |"));
  }
}

TEST(Rows, AcceptTheirOwnDefaults) {
  for (const Row& row : rows()) {
    if (row.type.kind == Kind::later) continue;
    Config config;
    const Field field = row.field == nullptr ? Field{} : row.field(config);
    const Json value = show(row.type, field);
    EXPECT_EQ(store(row.type, value, field), std::nullopt) << row.key << " = " << value.dump();
    EXPECT_EQ(show(row.type, field), value) << row.key;
  }
}

TEST(Rows, AreFoundWithAnyNameInThePlaceOfName) {
  EXPECT_EQ(find_row("state.claims.model")->key, "state.NAME.model");
  EXPECT_EQ(find_row("run.grace")->key, "run.grace");
  EXPECT_EQ(find_row("state.model"), nullptr);
  EXPECT_EQ(find_row("state.a.b.model"), nullptr);
  EXPECT_EQ(find_row("run.x.grace"), nullptr);
  EXPECT_EQ(find_row(""), nullptr);
}

}  // namespace
}  // namespace sticky::config
