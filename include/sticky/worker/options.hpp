#pragma once

#include <string>
#include <vector>

#include "sticky/backend/options.hpp"
#include "sticky/base/json.hpp"
#include "sticky/engine/options.hpp"
#include "sticky/request/sampling.hpp"

namespace sticky::worker {

/// A state template: what a sticky task loads once.
struct StateOptions {
  std::string name = "default";
  std::string model;                ///< folder or .gguf file
  std::vector<std::string> serves;  ///< other names that requests may ask for
  std::string dtype = "auto";       ///< auto | f32 | bf16
  std::string kv_dtype = "auto";    ///< auto | f32 | bf16
  i64 context = 0;                  ///< tokens of one sequence; 0: as the model, at most 4096
  double memory = 0.90;             ///< share of the device for weights and KV cache
};

struct ChatOptions {
  std::string template_file;               ///< empty: the model's own
  std::string content = "auto";            ///< auto | hf
  bool special_tokens_in_content = false;  ///< false: what a user wrote stays text
  std::string now;  ///< fixed time for templates, ISO 8601; empty: the present
};

/// All that a worker needs to know. Travels from the coordinator as JSON.
struct Options {
  StateOptions state;
  ChatOptions chat;
  request::Sampling sampling;  ///< defaults of requests
  bool check_model = false;
  backend::Options backend;
  engine::Options engine;
  double orphan_timeout_seconds = 120.0;  ///< silence of the coordinator after which it ends itself
};

[[nodiscard]] Json to_json(const Options& options);
/// FormatError when a field is missing or of another kind.
[[nodiscard]] Options options_from_json(const Json& json);

}  // namespace sticky::worker
