// Thousands of random lives of a run: workers that come, fail, are lost and leave, orders, lists of
// idle hosts. What must always hold is checked after each decision; then the world is left in peace
// and the run must come to rest.
#include <algorithm>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "sticky/malleability/resize_policy.hpp"

namespace sticky::malleability {
namespace {

using State = Situation::State;
constexpr Duration kTurn = std::chrono::seconds(1);

class RandomRun {
 public:
  explicit RandomRun(std::uint64_t seed)
      : random_(seed),
        limits_(random_limits()),
        policy_(limits_) {
    now_.here = "here";
    now_.can_spawn = !one_in(8);
    now_.load_seconds = 1.0 + static_cast<double>(below(20));
    now_.request_seconds = 0.1 * static_cast<double>(1 + below(30));
    now_.n_free_here = one_in(3) ? below(12) : kNoLimit;
    for (i64 i = 0; i < limits_.initial; ++i)
      join(one_in(3) ? "node1" : "here", State::loading);
  }

  void live(int n_turns) {
    for (int i = 0; i < n_turns && !testing::Test::HasFailure(); ++i) {
      disturb();
      turn(random_orders());
    }
  }

  // Nobody is lost, nothing fails, much waits, the list stays. Once that has settled, what is grown
  // stays, and after a while nothing moves any more.
  void rest() {
    is_peaceful_ = true;
    now_.n_waiting = 100'000'000;
    for (int i = 0; i < 10; ++i)
      turn({});
    const i64 first_of_peace = next_id_ + static_cast<i64>(now_.spawning.size());
    i64 last_move = 0;
    for (i64 i = 0; i < 600 && !testing::Test::HasFailure(); ++i) {
      const Decision decision = turn({});
      if (!decision.grow.empty() || !decision.drain.empty()) last_move = i;
      for (const WorkerId id : decision.drain)
        EXPECT_LT(id.value, first_of_peace) << "a newcomer is sent away again";
    }
    EXPECT_LT(last_move, 500) << "it never comes to rest";
    const bool has_room = now_.can_spawn && now_.n_free_here == kNoLimit && !has_drained_by_hand_ &&
                          !was_listed_.contains("here") && n_failed_ == 0;
    if (has_room) {
      EXPECT_GE(n_present(), std::min(policy_.target(), limits_.max_workers));
    }
  }

 private:
  i64 below(i64 n) { return static_cast<i64>(random_() % static_cast<std::uint64_t>(n)); }
  bool one_in(i64 n) { return below(n) == 0; }
  std::string random_host() {
    static constexpr const char* kHosts[] = {"here", "node1", "node2", "node3"};
    return kHosts[below(4)];
  }
  Limits random_limits() {
    Limits limits{.initial = 1 + below(8), .min_workers = 1 + below(3)};
    limits.max_workers =
        one_in(3) ? kNoLimit : std::max(limits.initial, limits.min_workers) + below(6);
    limits.max_loading = 1 + below(4);
    return limits;
  }

  void join(const std::string& host, State state) {
    now_.workers.push_back({.id = {next_id_++}, .host = host, .state = state});
  }
  [[nodiscard]] i64 n_present() const {
    return std::count_if(now_.workers.begin(), now_.workers.end(),
                         [](const auto& worker) { return worker.state != State::leaving; });
  }

  // What a second brings.
  void disturb() {
    now_.n_waiting = one_in(4) ? below(100) : below(100'000);
    now_.n_held = below(50);
    now_.has_input_ended = one_in(2);
    if (one_in(20)) now_.can_spawn = !now_.can_spawn;
    if (one_in(6)) {
      now_.idle.reset();
    } else if (one_in(6)) {
      now_.idle.emplace();
      for (i64 n = below(4); n > 0; --n)
        now_.idle->push_back({random_host(), below(4)});
    }
    for (auto& worker : now_.workers)
      worker.n_held = below(4);
  }

  // Spawns arrive or fail, states are ready, those that leave are gone, some die.
  void let_time_pass() {
    const i64 hurry = is_peaceful_ ? 2 : 4;
    std::vector<std::string> still;
    for (const std::string& host : now_.spawning) {
      if (!one_in(hurry)) {
        still.push_back(host);
      } else if (!is_peaceful_ && one_in(5)) {
        fail(host);
      } else {
        join(host.empty() ? "here" : host, State::joining);
      }
    }
    now_.spawning = still;
    std::erase_if(now_.workers, [&](auto& worker) {
      if (worker.state == State::leaving) return one_in(hurry);
      if (!is_peaceful_ && one_in(30)) {
        if (worker.state != State::ready) fail(worker.host);
        return true;
      }
      if (worker.state == State::joining && one_in(hurry))
        worker.state = State::loading;
      else if (worker.state == State::loading && one_in(hurry))
        worker.state = State::ready;
      return false;
    });
  }
  void fail(const std::string& host) {
    now_.failures.push_back({.host = host, .reason = "bad luck"});
    ++n_failed_;
  }

  std::vector<Ordered> random_orders() {
    std::vector<Ordered> orders;
    while (one_in(12)) {
      const std::string id = std::to_string(orders.size());
      switch (below(3)) {
        case 0:
          orders.push_back({id, SetWorkers{1 + below(12)}});
          break;
        case 1:
          orders.push_back({id, AddHost{{random_host(), 1 + below(3)}}});
          break;
        default:
          orders.push_back({id, DrainHost{random_host()}});
      }
    }
    return orders;
  }

  Decision turn(const std::vector<Ordered>& orders) {
    const i64 n_before = n_present();
    const Decision decision = policy_.decide(now_, orders);
    note(orders, decision);
    check(decision, orders, n_before);
    obey(decision);
    now_.failures.clear();
    let_time_pass();
    now_.now += kTurn;
    return decision;
  }

  void note(const std::vector<Ordered>& orders, const Decision& decision) {
    ASSERT_EQ(decision.verdicts.size(), orders.size());
    for (std::size_t i = 0; i < orders.size(); ++i) {
      EXPECT_EQ(decision.verdicts[i].id, orders[i].id);
      EXPECT_FALSE(decision.verdicts[i].reason.empty());
      if (!decision.verdicts[i].is_accepted) continue;
      if (std::holds_alternative<DrainHost>(orders[i].order)) has_drained_by_hand_ = true;
      if (const auto* added = std::get_if<AddHost>(&orders[i].order))
        offered_.insert(added->host.name);
    }
    if (!now_.idle) return;
    for (const Host& host : *now_.idle) {
      offered_.insert(host.name);
      was_listed_.insert(host.name);
    }
  }

  void check(const Decision& decision, const std::vector<Ordered>& orders, i64 n_before) {
    const auto n_grown = static_cast<i64>(decision.grow.size());
    const auto n_drained = static_cast<i64>(decision.drain.size());
    const auto n_spawning = static_cast<i64>(now_.spawning.size());
    const auto n_total = static_cast<i64>(now_.workers.size()) + n_spawning;
    EXPECT_GE(policy_.target(), limits_.min_workers);
    EXPECT_LE(policy_.target(), limits_.max_workers);
    if (n_grown > 0) {
      EXPECT_TRUE(now_.can_spawn);
      EXPECT_LE(n_total + n_grown, limits_.max_workers) << "more than the most";
      EXPECT_LE(n_spawning + n_loading_after(decision) + n_grown, limits_.max_loading)
          << "a stampede";
      EXPECT_TRUE(decision.will_grow);
    }
    if (n_drained > 0 && !has_drained_by_hand_) {
      EXPECT_GE(n_before - n_drained, limits_.min_workers) << "fewer than the least";
    }
    if (n_grown + n_drained > 0) {
      EXPECT_FALSE(decision.why.empty());
    }
    for (const std::string& host : decision.grow)
      EXPECT_TRUE(host.empty() || offered_.contains(host)) << host;
    std::set<WorkerId> drained(decision.drain.begin(), decision.drain.end());
    EXPECT_EQ(static_cast<i64>(drained.size()), n_drained) << "told twice";
    for (const WorkerId id : drained) {
      const auto found = std::find_if(now_.workers.begin(), now_.workers.end(),
                                      [&](const auto& worker) { return worker.id == id; });
      ASSERT_NE(found, now_.workers.end());
      EXPECT_NE(found->state, State::leaving);
    }
    if (orders.empty() && !has_drained_by_hand_ && was_listed_.empty()) {
      EXPECT_TRUE(decision.grow.empty() || decision.drain.empty()) << "both at once";
    }
  }
  [[nodiscard]] i64 n_loading_after(const Decision& decision) const {
    return std::count_if(now_.workers.begin(), now_.workers.end(), [&](const auto& worker) {
      return (worker.state == State::joining || worker.state == State::loading) &&
             std::ranges::find(decision.drain, worker.id) == decision.drain.end();
    });
  }

  void obey(const Decision& decision) {
    for (const std::string& host : decision.grow) {
      now_.spawning.push_back(host);
      if ((host.empty() || host == "here") && now_.n_free_here != kNoLimit) --now_.n_free_here;
    }
    for (auto& worker : now_.workers) {
      if (std::ranges::find(decision.drain, worker.id) != decision.drain.end())
        worker.state = State::leaving;
    }
  }

  std::mt19937_64 random_;
  Limits limits_;
  ResizePolicy policy_;
  Situation now_;
  i64 next_id_ = 0;
  i64 n_failed_ = 0;
  bool is_peaceful_ = false;
  bool has_drained_by_hand_ = false;
  std::set<std::string> offered_;
  std::set<std::string> was_listed_;
};

TEST(ResizePolicyAtRandom, KeepsItsLimitsAndComesToRest) {
  constexpr std::uint64_t kSeeds = 1500;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    RandomRun run(seed);
    run.live(80);
    run.rest();
    ASSERT_FALSE(testing::Test::HasFailure()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace sticky::malleability
