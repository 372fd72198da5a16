#include "tests/simulation/referee.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include <gtest/gtest.h>

namespace sticky::test {

using namespace coordinator;
using Reason = protocol::HandBack::Reason;

void Referee::see(const What& event) {
  expected_.clear();
  if (const auto* joined = std::get_if<WorkerJoined>(&event)) {
    workers_[joined->worker.value].host = joined->host;
  } else if (const auto* ready = std::get_if<WorkerReady>(&event)) {
    Worker& worker = workers_[ready->worker.value];
    worker.is_ready = true;
    worker.is_loading = false;
    worker.slots = ready->slots;
    worker.arithmetic = ready->arithmetic;
  } else if (const auto* results = std::get_if<ResultsArrived>(&event)) {
    see(*results);
  } else if (const auto* back = std::get_if<HandedBack>(&event)) {
    see(*back);
  } else if (const auto* bye = std::get_if<WorkerBye>(&event)) {
    workers_[bye->worker.value].may_be_planned = true;
  } else if (const auto* input = std::get_if<InputRead>(&event)) {
    for (const InputRead::Line& line : input->lines)
      read_.insert(line.id.value);
  } else if (const auto* pressed = std::get_if<JournalPressed>(&event)) {
    is_pressed_ = pressed->is_pressed;
  }
}

void Referee::see(const ResultsArrived& event) {
  Worker& worker = workers_[event.worker.value];
  if (worker.is_gone) return;
  for (const protocol::Result& result : event.results) {
    const i64 id = result.id.value;
    if (worker.has.erase(id) == 0 || is_recorded(id)) continue;
    expected_.insert(id);
    if (!holders(id).empty()) ++n_races;
  }
}

void Referee::see(const HandedBack& event) {
  Worker& worker = workers_[event.worker.value];
  if (worker.is_gone) return;
  for (const InvocationId id : event.ids) {
    if (worker.has.erase(id.value) == 0) continue;
    if (event.reason == Reason::taken_back) ++n_taken_back;
    come_back(id.value);
  }
  if (event.reason == Reason::taken_back) {
    worker.is_asked_back = false;
  } else {
    worker.is_leaving = worker.may_be_planned = true;
  }
}

void Referee::judge(const Actions& actions) {
  for (const Action& action : actions)
    std::visit([&](const auto& one) { do_one(one); }, action);
  EXPECT_TRUE(expected_.empty()) << "a result is not recorded: " << *expected_.begin();
  expected_.clear();
}

void Referee::do_one(const SendWelcome& action) {
  Worker& worker = workers_[action.worker.value];
  EXPECT_FALSE(worker.is_gone || worker.is_loading || worker.is_ready);
  const i64 n_readers_before = n_readers();
  worker.is_loading = true;
  // A host whose ready workers are lost while others load becomes a reader by itself.
  if (options_.max_readers > 0 && n_readers() > n_readers_before) {
    EXPECT_LE(n_readers(), options_.max_readers) << "a stampede";
  }
}

i64 Referee::n_readers() const {
  std::set<std::string> loading, warm;
  for (const auto& [id, worker] : workers_) {
    if (worker.is_gone) continue;
    if (worker.is_loading) loading.insert(worker.host);
    if (worker.is_ready) warm.insert(worker.host);
  }
  return std::ranges::count_if(loading, [&](const auto& host) { return !warm.contains(host); });
}

void Referee::do_one(const SendWork& action) {
  Worker& worker = workers_[action.worker.value];
  EXPECT_TRUE(worker.is_ready && !worker.is_leaving && !worker.is_gone);
  EXPECT_FALSE(is_pressed_);
  for (const SendWork::One& one : action.invocations)
    judge_one(one.id.value, one.attempt, action.worker.value, action.invocations.size() == 1);
  EXPECT_LE(static_cast<i64>(worker.has.size()), worker.slots) << "more than its slots";
}

void Referee::judge_one(i64 id, i64 attempt, i64 to, bool is_alone) {
  Worker& worker = workers_[to];
  const auto deaths = deaths_.find(id);
  const i64 n_died = deaths == deaths_.end() ? 0 : static_cast<i64>(deaths->second.size());
  EXPECT_TRUE(read_.contains(id) && !is_recorded(id));
  EXPECT_EQ(attempt, 1 + n_died);
  const std::vector<i64> others = holders(id);
  if (others.empty()) {
    for (const i64 other : worker.has) {
      // Unless it became one when its other copy was lost.
      EXPECT_TRUE(!is_suspect(other) || copied_.contains(other)) << "company for a suspect";
    }
    EXPECT_TRUE(!is_suspect(id) || (is_alone && worker.has.empty())) << "a suspect in company";
    copied_.erase(id);
    returned_.erase(id);
    if (sent_.insert(id).second) {
      EXPECT_GT(id, std::exchange(last_new_, id)) << "sent before what came before it";
      const auto starved =
          std::ranges::find_if_not(returned_, [&](i64 one) { return is_suspect(one); });
      EXPECT_TRUE(starved == returned_.end()) << "new work is sent before what came back";
    }
  } else {
    ++n_copies;
    EXPECT_TRUE(copied_.insert(id).second) << "copied twice";
    EXPECT_EQ(others.size(), 1U) << "a third copy";
    EXPECT_NE(others.front(), to);
    EXPECT_EQ(n_died, 0) << "a copy of what may be poisonous";
    EXPECT_EQ(workers_[others.front()].arithmetic, worker.arithmetic);
  }
  EXPECT_TRUE(worker.has.insert(id).second);
}

void Referee::do_one(const SendTakeBack& action) {
  Worker& worker = workers_[action.worker.value];
  EXPECT_FALSE(worker.is_gone || worker.is_leaving || worker.is_asked_back);
  worker.is_asked_back = true;
  EXPECT_FALSE(action.ids.empty());
  for (const InvocationId id : action.ids)
    EXPECT_TRUE(worker.has.contains(id.value));
  n_asked_back += static_cast<i64>(action.ids.size());
}

void Referee::do_one(const SendLeave& action) {
  workers_[action.worker.value].is_leaving = true;
}

void Referee::do_one(const Record& action) {
  for (const protocol::Result& result : action.results) {
    EXPECT_EQ(expected_.erase(result.id.value), 1U) << "recorded by mistake: " << result.id.value;
    EXPECT_TRUE(ended_.insert(result.id.value).second) << "recorded twice: " << result.id.value;
  }
}

void Referee::do_one(const RecordFailure& action) {
  const i64 id = action.id.value;
  EXPECT_EQ(action.deaths, deaths_[id]);
  EXPECT_GE(static_cast<i64>(action.deaths.size()), options_.attempts);
  EXPECT_TRUE(holders(id).empty()) << "given up while it runs";
  EXPECT_TRUE(ended_.insert(id).second) << "recorded twice: " << id;
  returned_.erase(id);
  ++n_failures;
}

void Referee::do_one(const DropWorker& action) {
  Worker& worker = workers_[action.worker.value];
  EXPECT_FALSE(worker.is_gone);
  const bool is_planned = coordinator::is_planned(action.cause);
  EXPECT_TRUE(!is_planned || worker.may_be_planned) << name_of(action.cause);
  std::erase_if(worker.has, [&](i64 id) { return is_recorded(id); });
  EXPECT_EQ(action.n_returned, static_cast<i64>(worker.has.size()));
  if (!is_planned) {
    for (const i64 id : worker.has)
      deaths_[id].push_back(action.cause);
  }
  ++(is_planned ? n_planned : n_deaths);
  worker.is_gone = true;
  for (const i64 id : std::exchange(worker.has, {}))
    come_back(id);
}

void Referee::come_back(i64 id) {
  if (!is_recorded(id) && holders(id).empty()) returned_.insert(id);
}

void Referee::judge_idleness(const Reactor& reactor) {
  if (reactor.phase() != Reactor::Phase::running || is_pressed_ || reactor.n_waiting() == 0) return;
  const bool is_idle = std::ranges::any_of(workers_, [](const auto& one) {
    const Worker& worker = one.second;
    return worker.is_ready && !worker.is_leaving && !worker.is_gone && worker.has.empty();
  });
  if (!is_idle) return;
  for (const i64 id : read_) {
    EXPECT_TRUE(is_recorded(id) || is_suspect(id) || !holders(id).empty())
        << id << " waits beside an idle worker";
  }
}

bool Referee::is_suspect(i64 id) const {
  const auto deaths = deaths_.find(id);
  return deaths != deaths_.end() &&
         static_cast<i64>(deaths->second.size()) + 1 >= options_.attempts;
}

std::vector<i64> Referee::holders(i64 id) const {
  std::vector<i64> out;
  for (const auto& [number, worker] : workers_) {
    if (!worker.is_gone && worker.has.contains(id)) out.push_back(number);
  }
  return out;
}

}  // namespace sticky::test
