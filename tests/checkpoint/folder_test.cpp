#include <cstdio>
#include <filesystem>
#include <gmock/gmock.h>

#include <gtest/gtest.h>

#include "tests/checkpoint/hostile.hpp"

namespace sticky::test {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

std::string one_tensor(const std::string& name) {
  return safetensors("{\"" + name + R"(":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", 4);
}

class Folder : public testing::Test {
 protected:
  Folder() {
    write("config.json", R"({"model_type":"llama"})");
    write("one.safetensors", one_tensor("a"));
    write("two.safetensors", one_tensor("b"));
  }
  void write(std::string_view name, std::string_view bytes) { (void)folder_.write(name, bytes); }
  std::string open_index(std::string_view index) {
    write("model.safetensors.index.json", index);
    return open_and_read(folder_.path());
  }
  TempDir folder_;
};

TEST_F(Folder, ShardsAreFoundByTheirIndex) {
  write(
      "model.safetensors.index.json",
      R"({"metadata":{"total_size":8},"weight_map":{"b":"two.safetensors","a":"one.safetensors"}})");
  write("generation_config.json", R"({"eos_token_id":[2,3]})");

  const auto checkpoint = checkpoint::open_checkpoint(folder_.path());

  ASSERT_NE(checkpoint->find("a"), nullptr);
  ASSERT_NE(checkpoint->find("b"), nullptr);
  EXPECT_NE(checkpoint->find("a")->file, checkpoint->find("b")->file);
  EXPECT_FALSE(checkpoint->is_gguf());
  EXPECT_EQ(checkpoint->path(), folder_.path());
  EXPECT_EQ(checkpoint->config().dump(), R"({"model_type":"llama"})");
  EXPECT_EQ(checkpoint->generation_config().dump(), R"({"eos_token_id":[2,3]})");
}

TEST_F(Folder, ALinkThatLeadsNowhereOrInACircleIsNamed) {
  write("model.safetensors", one_tensor("a"));
  for (const char* name : {"config.json", "generation_config.json", "model.safetensors"}) {
    const std::string path = folder_ / name;
    const std::string kept = folder_ / "kept";
    (void)std::rename(path.c_str(), kept.c_str());
    for (const char* target : {name, "no-such-file"}) {
      std::filesystem::create_symlink(target, path);
      EXPECT_THAT(open_and_read(folder_.path()), HasSubstr(path + ": cannot be read: ")) << target;
      std::filesystem::remove(path);
    }
    (void)std::rename(kept.c_str(), path.c_str());
  }
  std::filesystem::create_symlink("loop", folder_ / "loop");
  EXPECT_THAT(open_and_read(folder_ / "loop"), HasSubstr("/loop: cannot be looked at: "));
}

TEST_F(Folder, AnIndexAtOddsWithItsShardsIsRefused) {
  EXPECT_THAT(open_index("{}"), EndsWith(R"(.index.json: has no object "weight_map")"));
  EXPECT_THAT(open_index(R"({"weight_map":{"a":"../one.safetensors"}})"),
              HasSubstr(R"(weight_map: a: "../one.safetensors", but must be the name)"));
  EXPECT_THAT(open_index(R"({"weight_map":{"a":"one.safetensors","b":"one.safetensors"}})"),
              EndsWith("weight_map: tensor b should be in one.safetensors, but is not"));
  EXPECT_THAT(open_index(R"({"weight_map":{"c":"two.safetensors"}})"),
              HasSubstr("/two.safetensors: holds tensor b, but "));
  EXPECT_THAT(open_index(R"({"weight_map":{"a":"three.safetensors"}})"),
              EndsWith("/three.safetensors: cannot be read: No such file or directory"));
}

TEST_F(Folder, WhatIsMissingIsNamed) {
  EXPECT_THAT(open_and_read(folder_.path()),
              HasSubstr(": has neither model.safetensors nor model.safetensors.index.json"));
  EXPECT_THAT(open_and_read(folder_ / "nothing"),
              EndsWith("/nothing: there is no such model folder or file"));
  EXPECT_THAT(open_and_read(folder_ / "one.safetensors"), HasSubstr("is neither a model folder"));
  const TempDir empty;
  EXPECT_THAT(open_and_read(empty.path()), HasSubstr(": has no config.json"));
}

TEST_F(Folder, AConfigThatIsNoJsonObjectIsNamed) {
  write("model.safetensors", one_tensor("a"));
  write("config.json", "{\"a\":1");
  EXPECT_THAT(open_and_read(folder_.path()), HasSubstr("/config.json: at byte 7"));
  write("config.json", "[]");
  EXPECT_THAT(open_and_read(folder_.path()),
              EndsWith("/config.json: is an array, but must be an object"));
}

}  // namespace
}  // namespace sticky::test
