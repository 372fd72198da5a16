// Against what Jinja2 printed: tests/data/chat/README.md says how the files were made.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/chat/rendering.hpp"
#include "tests/support/files.hpp"

namespace sticky::chat::testing {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> golden_names() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(golden_folder() / "golden"))
    names.push_back(entry.path().stem().string());
  std::ranges::sort(names);
  return names;
}

RenderInput input_of(const Json& golden, const Json& one) {
  RenderInput input;
  input.messages = *one.find("messages");
  if (const Json* tools = one.find("tools")) input.tools = *tools;
  input.add_generation_prompt = one.find("add_generation_prompt")->as_bool();
  input.variables = *golden.find("tokens");
  if (const Json* more = one.find("variables")) {
    for (const auto& [name, value] : more->as_object())
      input.variables.set(name, value);
  }
  input.now = golden.find("now")->as_string();
  return input;
}

// Whether the error says "line N" with a line of the template.
void expect_line(const std::string& error, const std::string& source) {
  const auto at = error.find("line ");
  ASSERT_NE(at, std::string::npos) << error;
  const auto n_lines = std::ranges::count(source, '\n') + 1;
  const int line = std::stoi(error.substr(at + 5));
  EXPECT_TRUE(line >= 1 && line <= n_lines) << error;
}

class Golden : public ::testing::TestWithParam<std::string> {};

TEST_P(Golden, EveryRenderingOfTheTemplateIsThatOfJinja2) {
  const Json golden = Json::parse(read_file(golden_folder() / "golden" / (GetParam() + ".json")));
  const std::string source = read_file(golden_folder() / "templates" / (GetParam() + ".jinja"));
  const auto chat_template = ChatTemplate::compile(source);
  const auto& cases = golden.find("cases")->as_array();

  for (const Json& one : cases) {
    SCOPED_TRACE(one.find("id")->as_string());
    const RenderInput input = input_of(golden, one);
    if (one.find("error") != nullptr) {
      const std::string error = error_of(source, input);
      EXPECT_NE(error, "") << "Jinja2: " << one.find("error")->as_string();
      expect_line(error, source);
    } else {
      EXPECT_EQ(chat_template.render(input).text, one.find("text")->as_string());
    }
  }
  EXPECT_EQ(cases.size(), 46U);
}

INSTANTIATE_TEST_SUITE_P(Chat, Golden, ::testing::ValuesIn(golden_names()), [](const auto& golden) {
  std::string name = golden.param;
  std::ranges::replace_if(
      name, [](char c) { return c == '.' || c == '-'; }, '_');
  return name;
});

TEST(Golden, AllTwelveTemplatesAreThere) {
  EXPECT_EQ(golden_names().size(), 12U);
}

void expect_each_case(const Json& golden) {
  const RenderInput input{.messages = {},
                          .tools = {},
                          .variables = *golden.find("variables"),
                          .now = golden.find("now")->as_string()};
  for (const Json& one : golden.find("cases")->as_array()) {
    const std::string& source = one.find("template")->as_string();
    SCOPED_TRACE(source);
    const std::string error = error_of(source, input);
    if (const Json* expected = one.find("error")) {
      EXPECT_NE(error, "") << "Jinja2: " << expected->as_string();
      if (!error.empty()) expect_line(error, source);
    } else if (error.empty()) {
      EXPECT_EQ(render(source, input).text, one.find("text")->as_string());
    } else {
      ADD_FAILURE() << error;
    }
  }
}

TEST(Golden, EachFeatureOfJinja2GivesWhatJinja2Gives) {
  expect_each_case(Json::parse(read_file(golden_folder() / "features.json")));
}

TEST(Golden, RandomTemplatesGiveWhatJinja2Gives) {
  const Json golden = Json::parse(test::read_xz(golden_folder() / "random.json.xz"));
  EXPECT_GT(golden.find("cases")->as_array().size(), 500U);
  expect_each_case(golden);
}

TEST(Golden, TemplatesInTheStyleOfOtherFamiliesGiveWhatJinja2Gives) {
  Json golden = Json::parse(test::read_xz(golden_folder() / "styles.json.xz"));
  for (const auto& [name, cases] : golden.find("templates")->as_object()) {
    const std::string source = read_file(golden_folder() / "styles" / (name + ".jinja"));
    for (const Json& one : cases.as_array()) {
      SCOPED_TRACE(name + ": " + one.find("id")->as_string());
      const RenderInput input = input_of(golden, one);
      const Json* text = one.find("text");
      const std::string error = error_of(source, input);
      if (text == nullptr) {
        EXPECT_NE(error, "") << "Jinja2: " << one.find("error")->as_string();
        if (!error.empty()) expect_line(error, source);
      } else if (error.empty()) {
        EXPECT_EQ(render(source, input).text, text->as_string());
      } else {
        ADD_FAILURE() << error;
      }
    }
  }
}

}  // namespace
}  // namespace sticky::chat::testing
