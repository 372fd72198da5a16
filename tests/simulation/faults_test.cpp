// Thousands of seeded schedules of joins, losses, delays, doubled and late messages against the
// real coordinator: its shell and its reactor, over a simulated cluster and a clock that the test
// moves.
#include <chrono>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "sticky/base/log.hpp"
#include "sticky/coordinator/coordinator.hpp"
#include "tests/simulation/simulated_cluster.hpp"
#include "tests/support/memory_run.hpp"

namespace sticky::coordinator {
namespace {

using namespace std::chrono_literals;

// n lines in portions of random length; each tenth is no request.
class ScriptedFeed final : public LineFeed {
 public:
  ScriptedFeed(i64 n, unsigned seed) : n_(n), random_(seed) {}
  [[nodiscard]] Portion take() override {
    Portion portion;
    std::vector<protocol::Invocation> requests;
    for (auto k = random_() % 20; k > 0 && at_ < n_; --k, ++at_) {
      io::InputLine line;
      line.id = {at_};
      line.custom_id = fmt::format("r{}", at_);
      line.file = "f";
      line.line = at_ + 1;
      line.payload = "{}";
      if (is_bad(at_)) {
        line.error_code = "invalid_json_line";
        portion.bad_lines.push_back(std::move(line));
      } else {
        requests.push_back(to_invocation(std::move(line)));
      }
    }
    portion.blocks.emplace_back(requests);
    portion.has_ended = at_ == n_;
    return portion;
  }
  static bool is_bad(i64 id) { return id % 10 == 9; }

 private:
  i64 n_;
  i64 at_ = 0;
  std::mt19937 random_;
};

struct Schedule {
  i64 n_requests = 0;
  std::vector<test::Fate> fates;
  std::set<i64> poison;
  double stop_at = -1.0;
  bool has_pressure = false;  // the journal is full now and then
};

class Dice {
 public:
  explicit Dice(unsigned seed) : random_(seed) {}
  bool chance(double p) { return static_cast<double>(random_()) / 4294967296.0 < p; }
  double any(double high) { return high * static_cast<double>(random_()) / 4294967296.0; }
  i64 below(i64 n) { return static_cast<i64>(random_()) % n; }

 private:
  std::mt19937 random_;
};

test::Fate draw_fate(Dice& dice) {
  test::Fate fate;
  fate.hello_at = dice.any(3.0);
  fate.load_time = dice.any(5.0);
  fate.is_death_reported = dice.chance(0.5);
  fate.can_be_killed = dice.chance(0.8);
  if (dice.chance(0.25)) fate.dies_at = dice.any(30.0);
  if (dice.chance(0.2)) {
    fate.freezes_at = dice.any(30.0);
    if (dice.chance(0.7)) fate.thaws_at = fate.freezes_at + dice.any(15.0);
  }
  if (dice.chance(0.1)) fate.hangs_at = dice.any(30.0);
  if (dice.chance(0.15)) fate.leaves_at = dice.any(30.0);
  fate.fails_to_load = dice.chance(0.05);
  if (dice.chance(0.3)) fate.doubles = 0.3;
  if (dice.chance(0.3)) fate.lies = 0.3;
  return fate;
}

Schedule draw_schedule(unsigned seed) {
  Dice dice(seed);
  Schedule schedule;
  schedule.n_requests = dice.below(300);
  for (i64 n = 1 + dice.below(6); n > 0; --n)
    schedule.fates.push_back(draw_fate(dice));
  if (dice.chance(0.2) && schedule.n_requests > 0)
    schedule.poison.insert(dice.below(schedule.n_requests));
  if (dice.chance(0.15)) schedule.stop_at = dice.any(30.0);
  schedule.has_pressure = dice.chance(0.2);
  return schedule;
}

struct Played {
  RunOutcome outcome;
  test::MemoryResults results;
  std::vector<i64> left_behind;
  double seconds = 0.0;
};

// Plays a schedule to its end, checking the invariants after every turn.
void play(const Schedule& schedule, unsigned seed, Played& played) {
  ManualClock clock;
  test::SimulatedCluster cluster(clock, schedule.fates, seed);
  cluster.poison = schedule.poison;
  test::MemoryFolder folder;
  ScriptedFeed feed(schedule.n_requests, seed);
  Dice dice(seed + 1);
  const auto seconds = [&] {
    return std::chrono::duration<double>(clock.now().time_since_epoch()).count();
  };
  Coordinator coordinator({}, {.worker_options_json = "{}", .state_name = "s"}, feed,
                          {.transport = cluster,
                           .processes = cluster,
                           .results = played.results,
                           .folder = folder,
                           .clock = clock,
                           .stop_wish = [&] {
                             return schedule.stop_at >= 0.0 && seconds() >= schedule.stop_at
                                        ? StopWish::drain
                                        : StopWish::none;
                           }});
  while (coordinator.turn({})) {
    coordinator.reactor().check();
    clock.advance(std::chrono::milliseconds(1 + dice.below(100)));
    if (schedule.has_pressure) played.results.n_queued_now = dice.chance(0.3) ? 1 << 20 : 0;
    cluster.act();
    ASSERT_LT(seconds(), 2000.0) << "the run does not end";
  }
  played.outcome = coordinator.finish();
  played.seconds = seconds();
  // The farewells arrive; late messages find nobody; whoever is stuck after its goodbye is killed.
  for (int k = 0; k < 500; ++k) {
    clock.advance(100ms);
    cluster.act();
  }
  coordinator.kill_stragglers();
  played.left_behind = cluster.left_behind();
}

i64 n_bad_lines(i64 n) {
  return n / 10;
}

void judge(const Schedule& schedule, const Played& played) {
  const auto& results = played.results.results;
  const auto& errors = played.results.errors;
  for (const auto* records : {&results, &errors})
    for (const auto& [record, n] : *records)
      EXPECT_EQ(n, 1) << "recorded more than once: " << record;
  EXPECT_FALSE(results.contains("a lie"));
  for (const i64 id : schedule.poison)
    EXPECT_FALSE(results.contains(std::to_string(id) + " answered"));
  EXPECT_TRUE(played.left_behind.empty()) << "worker " << played.left_behind.at(0);

  const Counts& counts = played.outcome.last.counts;
  EXPECT_EQ(counts.n_results, static_cast<i64>(results.size()));
  EXPECT_EQ(counts.n_errors, static_cast<i64>(errors.size()));
  switch (played.outcome.ending) {
    case Ending::complete:
      EXPECT_EQ(counts.n_results + counts.n_errors, schedule.n_requests);
      EXPECT_EQ(counts.n_errors - counts.n_quarantined, n_bad_lines(schedule.n_requests));
      EXPECT_EQ(played.outcome.exit_code, counts.n_errors > 0 ? 3 : 0);
      // Nobody is quarantined before the third death.
      if (played.outcome.last.losses.size() < 3) {
        EXPECT_EQ(counts.n_quarantined, 0);
      }
      break;
    case Ending::drained:
      EXPECT_GE(schedule.stop_at, 0.0);
      EXPECT_EQ(played.outcome.exit_code, 4);
      break;
    case Ending::workers_lost:
    case Ending::load_failed:
      for (const WorkerStatus& worker : played.outcome.last.workers)
        EXPECT_TRUE(worker.state == "lost" || worker.state == "left") << worker.state;
      EXPECT_GE(played.outcome.exit_code, 4);
      break;
    default:
      ADD_FAILURE() << "ended as " << name_of(played.outcome.ending);
  }
  if (!played.outcome.last.losses.empty()) {
    EXPECT_FALSE(played.outcome.may_finalize);
  }
}

class Faults : public testing::Test {
 protected:
  void SetUp() override { log::set_level(log::Level::error); }
  void TearDown() override { log::set_level(log::Level::info); }
};

TEST_F(Faults, EveryRequestIsRecordedOnceInThousandsOfSchedules) {
  std::map<Ending, i64> endings;
  i64 n_losses = 0, n_quarantined = 0;
  for (unsigned seed = 1; seed <= 3000 && !HasFailure(); ++seed) {
    const Schedule schedule = draw_schedule(seed);
    Played played;
    play(schedule, seed, played);
    if (!HasFailure()) judge(schedule, played);
    if (HasFailure()) std::printf("failing seed: %u\n", seed);
    ++endings[played.outcome.ending];
    n_losses += static_cast<i64>(played.outcome.last.losses.size());
    n_quarantined += played.outcome.last.counts.n_quarantined;
  }

  // The schedules must reach what they are meant to test.
  EXPECT_GT(endings[Ending::complete], 500);
  EXPECT_GT(endings[Ending::workers_lost], 50);
  EXPECT_GT(endings[Ending::drained], 50);
  EXPECT_GT(n_losses, 1000);
  EXPECT_GT(n_quarantined, 10);
}

TEST_F(Faults, APoisonousRequestAmongSixWorkersIsQuarantinedAloneAndAllElseIsAnswered) {
  for (unsigned seed = 1; seed <= 200 && !HasFailure(); ++seed) {
    Schedule schedule;
    schedule.n_requests = 100;
    schedule.poison = {static_cast<i64>(seed) % 9};
    schedule.fates.assign(6, test::Fate{.is_death_reported = true});
    Played played;
    play(schedule, seed, played);

    EXPECT_EQ(played.outcome.ending, Ending::complete);
    EXPECT_EQ(played.outcome.last.counts.n_quarantined, 1);
    EXPECT_EQ(played.outcome.last.counts.n_results, 89);
    EXPECT_EQ(played.outcome.last.losses.size(), 3U);
    if (HasFailure()) std::printf("failing seed: %u\n", seed);
  }
}

TEST_F(Faults, ACleanRunMayBeFinalized) {
  Schedule schedule;
  schedule.n_requests = 50;
  schedule.fates.assign(3, test::Fate{});
  Played played;
  play(schedule, 1, played);

  EXPECT_TRUE(played.outcome.may_finalize);
  EXPECT_EQ(played.outcome.last.counts.n_results, 45);
}

}  // namespace
}  // namespace sticky::coordinator
