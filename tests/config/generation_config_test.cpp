#include <algorithm>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>

#include <gtest/gtest.h>

#include "sticky/config/load.hpp"
#include "tests/support/temp_dir.hpp"

namespace sticky::config {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class GenerationConfig : public testing::Test {
 protected:
  // The configuration with a model folder that has this generation_config.json; nullptr: none.
  Loaded load_with(const char* json, std::vector<std::string> sets = {}) {
    const fs::path model = fs::path(dir_.path()) / "model";
    fs::create_directories(model);
    fs::remove(model / "generation_config.json");
    if (json != nullptr) std::ofstream(model / "generation_config.json") << json;
    sets.emplace_back("sampling.defaults=model");
    sets.push_back("state.default.model=" + model.string());
    return load({.sets = std::move(sets), .needs_input = false});
  }
  static std::string problem_of(const Loaded& loaded) { return to_text(loaded.problems); }

 private:
  test::TempDir dir_;
};

// As Qwen2.5-7B-Instruct publishes it.
constexpr const char* kPublished = R"({"bos_token_id": 151643, "pad_token_id": 151643,
  "do_sample": true, "eos_token_id": [151645, 151643], "repetition_penalty": 1.05,
  "temperature": 0.7, "top_p": 0.8, "top_k": 20, "min_p": null, "transformers_version": "4.37.0"})";

TEST_F(GenerationConfig, SaysWhatNobodyElseSays) {
  const Loaded loaded = load_with(kPublished, {"sampling.top_k=5", "sampling.max_tokens=9"});
  ASSERT_EQ(problem_of(loaded), "");
  const request::Sampling& sampling = loaded.config.worker.sampling;
  EXPECT_EQ(sampling.temperature, 0.7);
  EXPECT_EQ(sampling.top_p, 0.8);
  EXPECT_EQ(sampling.top_k, 5);
  EXPECT_EQ(sampling.min_p, 0.0);
  EXPECT_EQ(sampling.repetition_penalty, 1.05);
  EXPECT_EQ(sampling.max_tokens, 9);
  const auto top_p = std::ranges::find(loaded.settings, "sampling.top_p", &Setting::key);
  ASSERT_NE(top_p, loaded.settings.end());
  EXPECT_THAT(top_p->origin, HasSubstr("model/generation_config.json"));
}

TEST_F(GenerationConfig, IsOnlyReadWhereItIsAskedFor) {
  const std::string model = load_with(kPublished).config.worker.state.model;
  const Loaded loaded = load({.sets = {"state.default.model=" + model}, .needs_input = false});
  ASSERT_EQ(problem_of(loaded), "");
  EXPECT_EQ(loaded.config.worker.sampling.temperature, 1.0);
  EXPECT_EQ(loaded.config.worker.sampling.repetition_penalty, 1.0);
}

TEST_F(GenerationConfig, WithoutDoSampleTakesTheBestToken) {
  for (const char* json : {R"({"temperature": 0.6, "top_p": 0.9, "max_new_tokens": 7})",
                           R"({"do_sample": false, "top_k": 50, "max_new_tokens": 7})"}) {
    const Loaded loaded = load_with(json);
    ASSERT_EQ(problem_of(loaded), "");
    EXPECT_EQ(loaded.config.worker.sampling.temperature, 0.0);
    EXPECT_EQ(loaded.config.worker.sampling.top_p, 1.0);
    EXPECT_EQ(loaded.config.worker.sampling.top_k, 0);
    EXPECT_EQ(loaded.config.worker.sampling.max_tokens, 7);
  }
}

TEST_F(GenerationConfig, ThatIsMissingOrDamagedIsAProblemWithItsName) {
  EXPECT_THAT(problem_of(load_with(nullptr)), HasSubstr("no generation_config.json"));
  EXPECT_THAT(problem_of(load_with("{\"a\":")), HasSubstr("generation_config.json: "));
  EXPECT_THAT(problem_of(load_with("[]")), HasSubstr("expected an object, found an array"));
  EXPECT_THAT(problem_of(load_with(R"({"do_sample": true, "top_p": 7})")),
              testing::AllOf(HasSubstr("generation_config.json"), HasSubstr("sampling.top_p = 7")));
  EXPECT_THAT(problem_of(load_with(R"({"do_sample": true, "temperature": "hot"})")),
              HasSubstr("sampling.temperature = \"hot\""));
}

}  // namespace
}  // namespace sticky::config
