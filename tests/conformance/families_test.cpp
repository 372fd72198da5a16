// A tiny model of each family against what transformers computes in fp32 (tests/data/README.md).
// Run by itself, the program prints a table of what was measured.
#include <algorithm>
#include <cmath>

#include "sticky/base/clock.hpp"
#include "sticky/engine/engine.hpp"
#include "tests/conformance/recorded_answers.hpp"
#include "tests/conformance/rounding_backend.hpp"

namespace sticky::test {
namespace {

const auto* const kTable = testing::AddGlobalTestEnvironment(new MeasuredTable);

class EachFamily : public testing::TestWithParam<const char*> {
 protected:
  static void note(const std::string& check, std::string value) {
    MeasuredTable::note(GetParam(), check, std::move(value));
  }
  [[nodiscard]] std::unique_ptr<model::LanguageModel> load() const { return tiny_.load(); }

  const TinyModel tiny_{GetParam()};
};

TEST_P(EachFamily, LogitsOfEveryPromptAreThoseOfTransformers) {
  const auto model = load();
  const double most = expect_recorded_logits(tiny_, *model);
  note("|logit - recorded|", fmt::format("{:.1e}", most));
}

TEST_P(EachFamily, GreedyContinuationsAreThoseOfTransformersWhileTheMarginIsClear) {
  const auto model = load();
  const int n_equal = expect_recorded_greedy_ids(tiny_, *model);
  note("greedy ids equal", fmt::format("{} of 128", n_equal));
}

TEST_P(EachFamily, APromptGivesTheSameBitsWholeInPiecesAndTokenByToken) {
  const auto model = load();
  const auto ids = tiny_.prompt("p300");
  const Logits whole = all_logits(*model, ids);

  EXPECT_EQ(all_logits(*model, ids, 7), whole);
  EXPECT_EQ(all_logits(*model, ids, 64), whole);
  // Token by token across position 256, where attention begins another part.
  EXPECT_EQ(all_logits(*model, ids, 1, 240), whole);
}

TEST_P(EachFamily, ARowOfABatchGivesTheSameBitsAsAloneAndTheRecordedAnswer) {
  const auto model = load();
  const auto& rows = tiny_.cases.find("batch")->find("rows")->as_object();
  ASSERT_EQ(rows.size(), 6U);
  ModelSteps together(*model);
  std::vector<ModelSteps::Part> parts;
  for (const auto& [name, row] : rows)
    parts.push_back(
        {.sequence = static_cast<i64>(parts.size()), .tokens = ids_of(*row.find("ids"))});
  std::vector<Logits> in_batch(parts.size());
  for (std::size_t step = 0; step < 16; ++step) {
    const Logits logits = together.step(parts);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      in_batch[i].push_back(logits[i]);
      parts[i].tokens = {ids_of(*rows[i].value.find("new_ids"))[step]};
    }
  }

  for (std::size_t i = 0; i < parts.size(); ++i) {
    ModelSteps alone(*model);
    ModelSteps::Part part{.sequence = 0, .tokens = ids_of(*rows[i].value.find("ids"))};
    const auto new_ids = ids_of(*rows[i].value.find("new_ids"));
    const auto& logprobs = rows[i].value.find("logprobs")->as_array();
    for (std::size_t step = 0; step < new_ids.size(); ++step) {
      const auto logits = alone.step({part})[0];
      ASSERT_EQ(logits, in_batch[i][step]) << rows[i].name << " step " << step;
      EXPECT_NEAR(logprob(logits, new_ids[step]), logprobs[step].as_double(), kTolerance);
      if (rows[i].value.find("min_margin")->as_double() > kTolerance) {
        EXPECT_EQ(argmax(logits), new_ids[step]) << rows[i].name << " step " << step;
      }
      part.tokens = {new_ids[step]};
    }
  }
  note("batch rows", "as alone");
}

TEST_P(EachFamily, EveryInstructionSetGivesTheSameBits) {
  const auto ids = tiny_.prompt("p17");

  EXPECT_EQ(all_logits(*tiny_.load("f32", "scalar"), ids), all_logits(*load(), ids));
}

// transformers' own bf16 differs from fp32 by the recorded mean; twice that, and 4 of 5 best ids,
// is what the reference asks of another bf16 arithmetic.
class EachFamilyInBf16 : public EachFamily {
 protected:
  void check(const std::shared_ptr<backend::Backend>& backend) {
    const auto model = tiny_.load(backend);
    double worst = 0.0;
    int fewest = 17;
    for (const std::string name : {"p17", "p200", "p300"}) {
      const Logits logits = all_logits(*model, tiny_.prompt(name));
      double sum = 0.0;
      double n = 0.0;
      for_each_logit(tiny_, name, logits, [&](float ours, float theirs, std::size_t, std::size_t) {
        sum += std::abs(double{ours} - double{theirs});
        n += 1.0;
      });
      const auto best = tiny_.tensors.integers("best." + name);
      const auto positions = tiny_.tensors.integers("positions." + name);
      int n_agree = 0;
      for (std::size_t i = 0; i < best.size(); ++i)
        n_agree += argmax(logits[static_cast<std::size_t>(positions[i])]) == best[i] ? 1 : 0;
      const double recorded =
          tiny_.cases.find("prompts")->find(name)->find("meandiff_bf16_fp32")->as_double();
      EXPECT_LT(sum / n, 2.0 * recorded) << name;
      EXPECT_GE(n_agree, 14) << name << ": of 17 best ids";
      worst = std::max(worst, sum / n / recorded);
      fewest = std::min(fewest, n_agree);
    }
    note(backend->arithmetic() + ": mean / transformers', best ids",
         fmt::format("{:.2f}, {} of 17", worst, fewest));
  }
};

TEST_P(EachFamilyInBf16, ProductsOfRoundedNumbersStayAsCloseToFp32AsTransformersOwnBf16) {
  check(std::make_shared<RoundingBackend>());
}

// The same without instructions for bf16, where that mode computes in f32.
TEST_P(EachFamilyInBf16, TheProcessorsBf16StaysAsCloseToFp32AsTransformersOwnBf16) {
  check(backend::make_backend({.kind = "cpu", .dtype = "bf16"}));
}

/// Cases that whole answers were recorded of, run by an engine at once.
class EachFamilyAnswers : public EachFamily {
 protected:
  // All jobs are greedy and end after 32 tokens.
  void add(const std::string& prompt, const Json& expected, request::Sampling sampling) {
    sampling.temperature = 0.0;
    sampling.max_tokens = 32;
    expected_.push_back(&expected);
    jobs_.push_back({.key = static_cast<i64>(jobs_.size()),
                     .prompt = tiny_.prompt(prompt),
                     .sampling = std::move(sampling)});
  }
  std::map<i64, request::Answer> run(std::vector<i32> eos_ids = {}) {
    const auto model = load();
    const auto text = tokenizer::load_from_folder(tiny_.folder());
    const SteadyClock clock;
    engine::Engine engine(*model, *text.tokenizer, std::move(eos_ids), {}, clock);
    for (engine::Job& job : jobs_)
      engine.submit(std::move(job));
    std::map<i64, request::Answer> answers;
    while (!engine.idle()) {
      for (engine::Outcome& outcome : engine.step()) {
        EXPECT_EQ(outcome.fault, "");
        answers[outcome.key] = std::move(outcome.answer);
      }
    }
    return answers;
  }
  // Whether the first n tokens of the greedy run of a prompt are beyond doubt.
  [[nodiscard]] bool is_clear(const std::string& prompt, std::size_t n) const {
    const auto& margins = tiny_.cases.find("greedy")->find(prompt)->find("margins")->as_array();
    return std::ranges::all_of(margins.begin(), margins.begin() + static_cast<i64>(n),
                               [](const Json& m) { return m.as_double() > kTolerance; });
  }
  [[nodiscard]] const Json& expected(i64 key) const {
    return *expected_[static_cast<std::size_t>(key)];
  }

 private:
  std::vector<engine::Job> jobs_;
  std::vector<const Json*> expected_;
};

TEST_P(EachFamilyAnswers, RepetitionPenaltiesAreThoseOfTransformers) {
  for (const auto& [name, run] : tiny_.cases.find("repetition_penalty")->as_object()) {
    if (run.find("min_margin")->as_double() <= kTolerance) continue;
    add(run.find("prompt")->as_string(), run,
        {.repetition_penalty = run.find("penalty")->as_double(), .ignore_eos = true});
  }
  const auto answers = run();
  EXPECT_GE(answers.size(), 2U);
  for (const auto& [key, answer] : answers)
    EXPECT_EQ(answer.token_ids, ids_of(*expected(key).find("new_ids")));
  note("penalties", fmt::format("{} of 4", answers.size()));
}

TEST_P(EachFamilyAnswers, AnEosTokenEndsATextAndIsNoText) {
  const Json& expected = *tiny_.cases.find("eos");
  const auto new_ids = ids_of(*expected.find("new_ids"));
  ASSERT_TRUE(is_clear(expected.find("prompt")->as_string(), new_ids.size()));
  add(expected.find("prompt")->as_string(), expected, {});
  const auto answers = run(ids_of(*expected.find("eos_token_ids")));
  EXPECT_EQ(answers.at(0).token_ids, new_ids);
  EXPECT_EQ(answers.at(0).text, expected.find("text")->as_string());
  EXPECT_EQ(answers.at(0).finish_reason, "stop");
  note("eos", "as recorded");
}

// The recorded texts were cut when they were known to the end. A token that is one byte ("<0x3B>")
// is a character or a part of one only when the next token is known, so there we end one later.
TEST_P(EachFamilyAnswers, AStopStringEndsATextBeforeIt) {
  const auto text = tokenizer::load_from_folder(tiny_.folder());
  const auto is_byte = [&](i32 id) {
    const std::string piece = text.tokenizer->piece(id);
    return piece.size() == 1 && text.tokenizer->id_of(fmt::format(
                                    "<0x{:02X}>", static_cast<unsigned char>(piece[0]))) == id;
  };
  for (const Json& expected : tiny_.cases.find("stop_strings")->as_array()) {
    const std::string prompt = expected.find("prompt")->as_string();
    if (!is_clear(prompt, expected.find("new_ids")->as_array().size())) continue;
    std::vector<std::string> stop;
    for (const Json& s : expected.find("stop")->as_array())
      stop.push_back(s.as_string());
    add(prompt, expected, {.ignore_eos = true, .stop = std::move(stop)});
  }
  const auto answers = run();
  EXPECT_GE(answers.size(), 3U);
  for (const auto& [key, answer] : answers) {
    auto new_ids = ids_of(*expected(key).find("new_ids"));
    if (answer.token_ids.size() > new_ids.size() && is_byte(new_ids.back()))
      new_ids.push_back(answer.token_ids.back());
    EXPECT_EQ(answer.token_ids, new_ids);
    EXPECT_EQ(answer.text, expected(key).find("text_before_stop")->as_string());
    EXPECT_EQ(answer.finish_reason, expected(key).find("finish_reason")->as_string());
  }
  note("stop strings", fmt::format("{} of {}", answers.size(),
                                   tiny_.cases.find("stop_strings")->as_array().size()));
}

INSTANTIATE_TEST_SUITE_P(Of, EachFamily, testing::ValuesIn(kModels), model_test_name);
INSTANTIATE_TEST_SUITE_P(Of, EachFamilyInBf16, testing::ValuesIn(kModels), model_test_name);
INSTANTIATE_TEST_SUITE_P(Of, EachFamilyAnswers, testing::ValuesIn(kModels), model_test_name);

}  // namespace
}  // namespace sticky::test
