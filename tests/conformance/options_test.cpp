// Options of configs that the models of families_test.cpp do not have – windows in use, yarn,
// longrope, StableLM 12B and the like – each in a model of some ten thousand weights that
// transformers wrote, against the logits that it computes
// (tests/data/models/make_option_models.py).
#include <filesystem>

#include <gtest/gtest.h>

#include "sticky/backend/make_backend.hpp"
#include "sticky/model/load_model.hpp"
#include "tests/support/files.hpp"
#include "tests/support/golden_tensors.hpp"
#include "tests/support/model_steps.hpp"
#include "tests/support/temp_dir.hpp"

namespace sticky::test {
namespace {

const std::string kOptions = STICKY_TEST_DATA "/models/options";

// The largest logits are about 10, so that 1e-4 is some hundred roundoffs of them: sums of two
// layers in another order are well within, a part left out is far outside.
void compare(const std::filesystem::path& source) {
  const TempDir folder;
  folder.write("config.json", read_file((source / "config.json").string()));
  folder.write("model.safetensors", read_xz((source / "model.safetensors.xz").string()));
  const Json expected = Json::parse(read_file((source / "expected.json").string()));
  const auto checkpoint = checkpoint::open_checkpoint(folder.path());
  const auto model =
      model::load_model(*checkpoint, backend::make_backend({.kind = "cpu", .dtype = "f32"}),
                        {.context = expected.find("context")->as_integer(), .kv_tokens = 128});

  const auto logits = ModelSteps(*model).step(
      {{.sequence = 0, .tokens = ids_of(*expected.find("ids")), .logits_of_all = true}});

  const auto& rows = expected.find("logits")->as_array();
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const auto& ours = logits[logits.size() - rows.size() + r];
    ASSERT_EQ(ours.size(), rows[r].as_array().size());
    for (std::size_t id = 0; id < ours.size(); ++id)
      ASSERT_NEAR(ours[id], rows[r].as_array()[id].as_double(), 1e-4)
          << "row " << r << " id " << id;
  }
}

TEST(Options, LogitsAreThoseOfTransformers) {
  int n_models = 0;
  for (const auto& model : std::filesystem::directory_iterator(kOptions)) {
    SCOPED_TRACE(model.path().filename().string());
    compare(model.path());
    ++n_models;
  }
  EXPECT_EQ(n_models, 16);
}

}  // namespace
}  // namespace sticky::test
