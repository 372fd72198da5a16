// Options of configs that the models of families_test.cpp do not have – windows in use, yarn,
// longrope, StableLM 12B and the like – each in a model of some ten thousand weights that
// transformers wrote, against the logits that it computes
// (tests/data/models/make_option_models.py).
#include <filesystem>

#include <gtest/gtest.h>

#include "tests/conformance/option_model.hpp"
#include "tests/support/temp_dir.hpp"

namespace sticky::test {
namespace {

TEST(Options, LogitsAreThoseOfTransformers) {
  int n_models = 0;
  for (const auto& model :
       std::filesystem::directory_iterator(STICKY_TEST_DATA "/models/options")) {
    const auto source = model.path();
    const TempDir folder;
    folder.write("config.json", read_file((source / "config.json").string()));
    folder.write("model.safetensors", read_xz((source / "model.safetensors.xz").string()));
    expect_recorded_option_logits(source.filename().string(),
                                  *checkpoint::open_checkpoint(folder.path()));
    ++n_models;
  }
  EXPECT_EQ(n_models, 16);
}

}  // namespace
}  // namespace sticky::test
