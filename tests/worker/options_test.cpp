#include "sticky/worker/options.hpp"

#include <gtest/gtest.h>

#include "sticky/base/error.hpp"

namespace sticky::worker {
namespace {

// Every field differs from its default, so that one that is forgotten on the way is seen.
Options unusual() {
  Options options;
  options.state = {.name = "fact",
                   .model = "models/x",
                   .serves = {"a", "b"},
                   .dtype = "bf16",
                   .kv_dtype = "f32",
                   .context = 77,
                   .memory = 0.5};
  options.chat = {.template_file = "t.jinja",
                  .content = "hf",
                  .special_tokens_in_content = true,
                  .now = "2026-01-02"};
  options.sampling.temperature = 0.25;
  options.sampling.top_p = 0.5;
  options.sampling.top_k = 3;
  options.sampling.min_p = 0.125;
  options.sampling.repetition_penalty = 1.5;
  options.sampling.presence_penalty = 0.75;
  options.sampling.frequency_penalty = -1.0;
  options.sampling.seed = -7;
  options.sampling.max_tokens = 9;
  options.sampling.min_tokens = 2;
  options.sampling.ignore_eos = true;
  options.sampling.stop = {"end"};
  options.sampling.stop_token_ids = {4, 5};
  options.sampling.include_stop_str_in_output = true;
  options.check_model = true;
  options.backend = {.kind = "cpu", .dtype = "f32", .cpu = "avx2", .n_threads = 5};
  options.engine = {.max_sequences = 6,
                    .max_batch_tokens = 8,
                    .prefix_cache = false,
                    .run_seed = ~std::uint64_t{4}};
  options.orphan_timeout_seconds = 1.5;
  return options;
}

TEST(WorkerOptions, AreTheSameAfterTheWayThroughJson) {
  const Json sent = to_json(unusual());

  const Options arrived = options_from_json(Json::parse(sent.dump()));

  EXPECT_EQ(to_json(arrived), sent);
  EXPECT_EQ(arrived.state.serves, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(arrived.sampling.seed, -7);
  EXPECT_EQ(arrived.engine.run_seed, ~std::uint64_t{4});
  const Json defaults = to_json(Options{});
  for (const auto& [name, value] : defaults.as_object()) {
    EXPECT_FALSE(value == *sent.find(name)) << name << " is not tested: it stands at its default";
  }
}

TEST(WorkerOptions, NoSeedAndNoLengthStayAbsent) {
  const Options arrived = options_from_json(to_json(Options{}));

  EXPECT_FALSE(arrived.sampling.seed);
  EXPECT_FALSE(arrived.sampling.max_tokens);
}

TEST(WorkerOptions, AMissingOrWrongFieldIsNamed) {
  const Json defaults = to_json(Options{});
  for (const auto& [name, value] : defaults.as_object()) {
    Json json = defaults;
    json.set(name, Json::object());
    EXPECT_THROW((void)options_from_json(json), FormatError) << name;
    json.erase(name);
    try {
      (void)options_from_json(json);
      FAIL() << name;
    } catch (const FormatError& error) {
      EXPECT_EQ(error.what(), "worker options: " + name + " is missing");
    }
  }
}

}  // namespace
}  // namespace sticky::worker
