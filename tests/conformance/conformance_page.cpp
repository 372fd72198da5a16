// The program of the family tests. With --page=FILE it runs the tests that docs/conformance.md
// tells of and fails when FILE says something else; with --print-page it prints what FILE should
// say.
#include "conformance_page.hpp"

#include <fstream>
#include <gmock/gmock.h>
#include <iterator>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace sticky::test {

namespace {

struct Column {
  std::string_view title;
  std::vector<std::string_view> tests;  ///< all have to pass
};
const std::vector<Column>& columns() {
  static const std::vector<Column> all{
      {"f32 logits", {"LogitsOfEveryPromptAreThoseOfTransformers"}},
      {"greedy ids", {"GreedyContinuationsAreThoseOfTransformersWhileTheMarginIsClear"}},
      {"bf16 rule",
       {"ProductsOfRoundedNumbersStayAsCloseToFp32AsTransformersOwnBf16",
        "TheProcessorsBf16StaysAsCloseToFp32AsTransformersOwnBf16"}},
      {"batch = single", {"ARowOfABatchGivesTheSameBitsAsAloneAndTheRecordedAnswer"}},
      {"repetition penalty", {"RepetitionPenaltiesAreThoseOfTransformers"}},
      {"eos", {"AnEosTokenEndsATextAndIsNoText"}},
      {"stop", {"AStopStringEndsATextBeforeIt"}},
  };
  return all;
}

constexpr std::string_view kHead = R"(# Conformance of the families

A tiny model of each family, with random weights, beside what Hugging Face transformers 5.24.0 recorded of it in fp32
([test data](../tests/data/README.md)). Written by `tests/conformance/family_conformance --print-page`; the test
`conformance_page` fails when this page says something else than the tests do. What was measured on a machine, the program prints
when it is run by itself.

| column | yes: |
| --- | --- |
| f32 logits | all recorded logits of four prompts (1, 17, 200 and 300 tokens) differ by less than 1e-3 |
| greedy ids | 32 new tokens of each prompt are the recorded ones while the recorded margin is above 1e-3; their logprobs differ by less than 1e-3 |
| bf16 rule | the mean difference of the logits from fp32 is below twice that of transformers' own bf16, and at least 14 of 17 best ids agree; by products of rounded numbers and by the processor's own bf16 |
| batch = single | six rows of 1 to 130 tokens have the same bits together as each alone, and the recorded answers |
| repetition penalty | penalties 1.3 and 0.8 give the recorded tokens |
| eos | the recorded token ends the text and is none of it |
| stop | the recorded stop strings end the text before them |

)";

}  // namespace

void ConformancePage::OnTestEnd(const testing::TestInfo& test) {
  // "TestName/tiny_model"
  const std::string_view name = test.name();
  const auto slash = name.find('/');
  if (slash == std::string_view::npos || !name.substr(slash + 1).starts_with("tiny_")) return;
  passed_[std::string(name.substr(slash + 6))][std::string(name.substr(0, slash))] =
      test.result()->Passed();
}

std::string ConformancePage::text() const {
  std::string out(kHead);
  out += "| family |";
  for (const Column& column : columns())
    out += fmt::format(" {} |", column.title);
  out += "\n|" + std::string(" --- |");
  for (std::size_t i = 0; i < columns().size(); ++i)
    out += " --- |";
  out += '\n';
  for (const auto& [model, tests] : passed_) {
    out += fmt::format("| {} |", model);
    for (const Column& column : columns()) {
      bool holds = true;
      for (const std::string_view test : column.tests) {
        const auto found = tests.find(std::string(test));
        holds = holds && found != tests.end() && found->second;
      }
      out += holds ? " yes |" : " **no** |";
    }
    out += '\n';
  }
  return out;
}

std::string ConformancePage::filter() {
  std::string out;
  for (const Column& column : columns()) {
    for (const std::string_view test : column.tests)
      out += fmt::format("{}*.{}/*", out.empty() ? "" : ":", test);
  }
  return out;
}

namespace {

int check_page(const ConformancePage& page, const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string there{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (there == page.text()) return 0;
  fmt::print(stderr,
             "{} says something else than the tests; renew it: family_conformance "
             "--print-page > docs/conformance.md\n{}",
             path, page.text());
  return 1;
}

int run(int argc, char** argv) {
  constexpr std::string_view kPage = "--page=";
  constexpr std::string_view kPrint = "--print-page";
  testing::InitGoogleMock(&argc, argv);
  std::string path;
  bool prints = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument.starts_with(kPage)) path = argument.substr(kPage.size());
    prints = prints || argument == kPrint;
  }
  auto& listeners = testing::UnitTest::GetInstance()->listeners();
  auto owned = std::make_unique<ConformancePage>();
  ConformancePage* page = owned.get();
  listeners.Append(owned.release());  // the test program deletes it at its end
  if (prints || !path.empty()) GTEST_FLAG_SET(filter, ConformancePage::filter());
  if (prints) delete listeners.Release(listeners.default_result_printer());
  const int failed = RUN_ALL_TESTS();
  if (prints) fmt::print("{}", page->text());
  return path.empty() ? failed : failed | check_page(*page, path);
}

}  // namespace

}  // namespace sticky::test

int main(int argc, char** argv) {
  return sticky::test::run(argc, argv);
}
