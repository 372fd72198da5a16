#pragma once

#include <string>

#include <gtest/gtest.h>

#include "sticky/backend/make_backend.hpp"
#include "sticky/model/load_model.hpp"
#include "tests/support/files.hpp"
#include "tests/support/golden_tensors.hpp"
#include "tests/support/model_steps.hpp"

namespace sticky::test {

/// A checkpoint of a model of tests/data/models/options against what transformers computes. The
/// largest logits are about 10, so that 1e-4 is some hundred roundoffs of them: sums of two layers
/// in another order are well within, a part left out is far outside.
inline void expect_recorded_option_logits(const std::string& name,
                                          const checkpoint::Checkpoint& checkpoint) {
  const Json expected =
      Json::parse(read_file(STICKY_TEST_DATA "/models/options/" + name + "/expected.json"));
  const auto model =
      model::load_model(checkpoint, backend::make_backend({.kind = "cpu", .dtype = "f32"}),
                        {.context = expected.find("context")->as_integer(), .kv_tokens = 128});

  const auto logits = ModelSteps(*model).step(
      {{.sequence = 0, .tokens = ids_of(*expected.find("ids")), .logits_of_all = true}});

  const auto& rows = expected.find("logits")->as_array();
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const auto& ours = logits[logits.size() - rows.size() + r];
    ASSERT_EQ(ours.size(), rows[r].as_array().size());
    for (std::size_t id = 0; id < ours.size(); ++id)
      ASSERT_NEAR(ours[id], rows[r].as_array()[id].as_double(), 1e-4)
          << name << " row " << r << " id " << id;
  }
}

}  // namespace sticky::test
