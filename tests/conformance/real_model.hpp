#pragma once

#include <utility>
#include <vector>

#include "sticky/base/json.hpp"
#include "sticky/model/load_model.hpp"
#include "sticky/tensor/dtype.hpp"
#include "tests/support/golden_tensors.hpp"
#include "tests/support/model_steps.hpp"

// For models whose weights were published, and of which answers were recorded.

namespace sticky::test {

/// A checkpoint with every value rounded to bf16, or those of matrices only.
class RoundedCheckpoint final : public checkpoint::Checkpoint {
 public:
  explicit RoundedCheckpoint(const checkpoint::Checkpoint& exact, bool matrices_only = false)
      : exact_(exact),
        matrices_only_(matrices_only) {}
  [[nodiscard]] const std::string& path() const override { return exact_.path(); }
  [[nodiscard]] bool is_gguf() const override { return exact_.is_gguf(); }
  [[nodiscard]] const Json& config() const override { return exact_.config(); }
  [[nodiscard]] const Json& generation_config() const override {
    return exact_.generation_config();
  }
  [[nodiscard]] const std::vector<checkpoint::TensorInfo>& tensors() const override {
    return exact_.tensors();
  }
  void read_rows(const checkpoint::TensorInfo& tensor,
                 i64 first,
                 i64 n,
                 std::span<float> out) const override {
    exact_.read_rows(tensor, first, n, out);
    if (matrices_only_ && tensor.shape.size() == 1) return;
    for (float& value : out)
      value = to_float(to_bf16(value));
  }

 private:
  const checkpoint::Checkpoint& exact_;
  bool matrices_only_;
};

struct Answer {
  std::vector<i32> ids;
  std::vector<double> logprobs;
};

/// Greedy answers to all prompts at once, each as long as the recorded one.
class GreedyAnswers {
 public:
  GreedyAnswers(model::LanguageModel& model, const Json::Array& rows) : steps_(model), rows_(rows) {
    std::vector<ModelSteps::Part> parts;
    for (const Json& row : rows)
      parts.push_back(
          {.sequence = static_cast<i64>(parts.size()), .tokens = ids_of(*row.find("prompt_ids"))});
    answers_.resize(rows.size());
    prompt_logits_ = steps_.step(parts);
    auto logits = prompt_logits_;
    while (!parts.empty())
      advance(parts, logits);
  }
  std::vector<Answer> answers_;
  std::vector<std::vector<float>> prompt_logits_;

 private:
  void advance(std::vector<ModelSteps::Part>& parts, std::vector<std::vector<float>>& logits) {
    std::vector<ModelSteps::Part> next;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const auto row = static_cast<std::size_t>(parts[i].sequence);
      const i32 id = argmax(logits[i]);
      answers_[row].ids.push_back(id);
      answers_[row].logprobs.push_back(logprob(logits[i], id));
      if (answers_[row].ids.size() < rows_[row].find("new_ids")->as_array().size())
        next.push_back({.sequence = parts[i].sequence, .tokens = {id}});
    }
    parts = std::move(next);
    if (!parts.empty()) logits = steps_.step(parts);
  }

  ModelSteps steps_;
  const Json::Array& rows_;
};

}  // namespace sticky::test
