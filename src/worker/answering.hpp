#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "sticky/base/hash.hpp"
#include "sticky/engine/engine.hpp"
#include "sticky/protocol/message.hpp"
#include "sticky/request/request.hpp"
#include "sticky/request/response.hpp"
#include "sticky/tokenizer/tokenizer.hpp"
#include "sticky/worker/intake.hpp"

namespace sticky::worker {

/// One request while engine jobs work at it. It has one job for each answer that is drawn; equal
/// answers (greedy, or of no tokens) are made once. Where the answer must be one of several texts
/// it has a job for each, which scores it behind the prompt. Decides nothing by time or order: the
/// response is a function of the outcomes.
class Answering {
 public:
  static constexpr i64 kMostJobs = std::max(request::kMaxAnswers, request::kMaxChoices);

  /// `identity`: of the request, for its draws.
  Answering(Accepted accepted, const Hash128& identity, const tokenizer::Tokenizer& tokenizer);

  /// Its jobs, job k under the key first_key + k, going on from `made`: the tokens of each answer
  /// that the same arithmetic has made elsewhere, if any.
  [[nodiscard]] std::vector<engine::Job> jobs(i64 first_key,
                                              const std::vector<std::vector<i32>>& made) const;
  [[nodiscard]] i64 n_jobs() const { return static_cast<i64>(outcomes_.size()); }
  /// Takes what became of job k and says whether all of them have come.
  [[nodiscard]] bool take(i64 k, engine::Outcome outcome);
  [[nodiscard]] bool is_done(i64 k) const { return at(k).has_value(); }
  /// What job k, which is done, has made, for another to go on from.
  [[nodiscard]] std::vector<i32> made_by(i64 k) const;

  [[nodiscard]] const request::Request& request() const { return request_; }
  /// What went wrong, if anything did; else empty. Once all jobs are done.
  [[nodiscard]] const std::string& fault() const;
  [[nodiscard]] request::Response response() const;
  /// Puts how long it took into a record's origin.
  void set_times(request::Origin& origin) const;

 private:
  [[nodiscard]] std::vector<engine::Job> scoring_jobs(i64 first_key) const;
  void choose(request::Response& response) const;
  [[nodiscard]] const std::optional<engine::Outcome>& at(i64 k) const {
    return outcomes_[static_cast<std::size_t>(k)];
  }

  request::Request request_;
  Hash128 identity_;
  request::PromptReport prompt_;           // ids, and text where it is echoed
  std::vector<std::vector<i32>> choices_;  // as Prompt has them
  i64 n_shared_ = 0;
  std::vector<std::optional<engine::Outcome>> outcomes_;
  i64 n_open_ = 0;
};

}  // namespace sticky::worker
