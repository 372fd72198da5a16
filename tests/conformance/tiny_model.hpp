#pragma once

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sticky/backend/make_backend.hpp"
#include "sticky/model/load_model.hpp"
#include "tests/support/files.hpp"
#include "tests/support/golden_tensors.hpp"
#include "tests/support/model_steps.hpp"
#include "tests/support/temp_dir.hpp"

namespace sticky::test {

using Logits = std::vector<std::vector<float>>;

/// A checkpoint of tests/data/models with its recorded outputs, unpacked for as long as this lives.
class TinyModel {
 public:
  explicit TinyModel(const std::string& name)
      : cases(Json::parse(read_xz(source(name) + "/golden.json.xz"))),
        tensors(read_xz(source(name) + "/golden.safetensors.xz")) {
    for (const auto& file : std::filesystem::directory_iterator(source(name))) {
      const std::string path = file.path().string();
      if (file.path().stem().string().starts_with("golden")) continue;
      if (file.path().extension() == ".xz")
        folder_.write(file.path().stem().string(), read_xz(path));
      else
        folder_.write(file.path().filename().string(), read_file(path));
    }
  }

  [[nodiscard]] std::unique_ptr<model::LanguageModel> load(const std::string& dtype = "f32",
                                                           const std::string& cpu = "auto") const {
    return load(backend::make_backend({.kind = "cpu", .dtype = dtype, .cpu = cpu}));
  }
  [[nodiscard]] std::unique_ptr<model::LanguageModel> load(
      std::shared_ptr<backend::Backend> backend) const {
    const auto checkpoint = checkpoint::open_checkpoint(folder_.path());
    return model::load_model(*checkpoint, std::move(backend), {.kv_tokens = 2048});
  }
  [[nodiscard]] const std::string& folder() const { return folder_.path(); }
  [[nodiscard]] std::vector<i32> prompt(const std::string& name) const {
    return ids_of(*cases.find("prompts")->find(name)->find("ids"));
  }

  const Json cases;
  const GoldenTensors tensors;

 private:
  static std::string source(const std::string& name) {
    return std::string(STICKY_TEST_DATA "/models/") + name;
  }
  TempDir folder_;
};

/// All logits of one prompt, fed in pieces of `chunk` tokens, the first of at least `n_first`.
inline Logits all_logits(model::LanguageModel& model,
                         const std::vector<i32>& prompt,
                         std::size_t chunk = 512,
                         std::size_t n_first = 0) {
  ModelSteps steps(model);
  Logits all;
  for (std::size_t at = 0; at < prompt.size();) {
    const std::size_t n = std::max(chunk, at == 0 ? n_first : 0);
    const auto end = prompt.begin() + static_cast<i64>(std::min(at + n, prompt.size()));
    auto rows = steps.step({{.sequence = 0,
                             .tokens = {prompt.begin() + static_cast<i64>(at), end},
                             .logits_of_all = true}});
    std::ranges::move(rows, std::back_inserter(all));
    at += n;
  }
  return all;
}

/// Calls f(ours, recorded, position, id) for every recorded logit of a prompt.
template <class F>
void for_each_logit(const TinyModel& tiny,
                    const std::string& prompt,
                    const Logits& logits,
                    const F& f) {
  const auto expected = tiny.tensors.floats("logits." + prompt);
  const auto positions = tiny.tensors.integers("positions." + prompt);
  const std::size_t width = expected.size() / positions.size();
  const bool is_thinned = width < logits[0].size();  // see tests/data/models/pack_golden.py
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const std::size_t row = i / width;
    const std::size_t id = is_thinned ? 4 * (i % width) + row % 4 : i % width;
    const auto position = static_cast<std::size_t>(positions[row]);
    f(logits[position][id], expected[i], position, id);
  }
}

/// The checkpoints of tests/data/models, one of each family at least.
inline constexpr const char* kModels[] = {
    "tiny-gemma2",          "tiny-gemma3",  "tiny-gpt-neox", "tiny-gpt2", "tiny-llama-smollm2",
    "tiny-llama31-sharded", "tiny-mistral", "tiny-olmo2",    "tiny-phi3", "tiny-qwen2",
    "tiny-qwen2-r1distill", "tiny-qwen3",   "tiny-stablelm2"};
inline std::string model_test_name(const testing::TestParamInfo<const char*>& model) {
  std::string name = model.param;
  std::ranges::replace(name, '-', '_');
  return name;
}

/// What was measured, by model and check; printed as a table when the program ends.
class MeasuredTable : public testing::Environment {
 public:
  static void note(const std::string& model, const std::string& check, std::string value) {
    cells()[model][check] = std::move(value);
  }
  void TearDown() override {
    std::map<std::string, std::size_t> widths;
    for (const auto& [model, row] : cells()) {
      for (const auto& [check, value] : row)
        widths[check] = std::max({widths[check], check.size(), value.size()});
    }
    std::string text = fmt::format("\n{:<22}", "model");
    for (const auto& [check, width] : widths)
      text += fmt::format("  {:<{}}", check, width);
    for (const auto& [model, row] : cells()) {
      text += fmt::format("\n{:<22}", model);
      for (const auto& [check, width] : widths)
        text += fmt::format("  {:<{}}", row.contains(check) ? row.at(check) : "", width);
    }
    if (!cells().empty()) fmt::print(stderr, "{}\n\n", text);
  }

 private:
  static std::map<std::string, std::map<std::string, std::string>>& cells() {
    static std::map<std::string, std::map<std::string, std::string>> all;
    return all;
  }
};

}  // namespace sticky::test
