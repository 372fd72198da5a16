// Thousands of seeded plots of joins, losses, drains, unlike speeds, take-backs and copies against
// the reactor alone, with a referee that keeps its own books.
#include <algorithm>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "tests/simulation/reactor_world.hpp"

namespace sticky::coordinator {
namespace {

using test::Life;
using test::Plot;
using test::ReactorWorld;

class Dice {
 public:
  explicit Dice(unsigned seed) : random_(seed) {}
  double any(double low, double high) {
    return low + (high - low) * static_cast<double>(random_()) / 4294967296.0;
  }
  bool chance(double p) { return any(0.0, 1.0) < p; }
  i64 below(i64 n) { return static_cast<i64>(any(0.0, static_cast<double>(n))); }

 private:
  std::mt19937 random_;
};

// The time of whatever happens to the workers of a plot.
constexpr double kEventful = 40.0;

void draw_troubles(Life& life, Dice& dice) {
  if (dice.chance(0.2)) life.dies_at = dice.any(0.0, kEventful);
  if (dice.chance(0.15)) {
    life.freezes_at = dice.any(0.0, kEventful);
    if (dice.chance(0.7)) life.thaws_at = life.freezes_at + dice.any(0.0, 15.0);
  }
  if (dice.chance(0.05)) life.hangs_at = dice.any(0.0, kEventful);
  if (dice.chance(0.15)) {
    life.signalled_at = dice.any(0.0, kEventful);
    if (dice.chance(0.5)) life.killed_after = dice.any(0.0, 5.0);
  }
  if (dice.chance(0.2)) {
    life.leave_asked_at = dice.any(0.0, kEventful);
    life.leaves_at_once = dice.chance(0.5);
  }
  life.is_death_reported = dice.chance(0.5);
}

Life draw_life(Dice& dice) {
  Life life;
  life.is_expected = dice.chance(0.7);
  life.hello_at = life.is_expected ? dice.any(0.0, 3.0) : dice.any(0.0, kEventful);
  life.host = "host " + std::to_string(dice.below(4));
  life.arithmetic = dice.chance(0.8) ? "a" : "b";
  life.load_time = dice.any(0.1, 5.0);
  life.width = 1 + dice.below(6);
  life.slots = life.width + dice.below(8);
  life.run_time = dice.chance(0.3) ? dice.any(0.5, 3.0) : dice.any(0.02, 0.3);
  if (dice.chance(0.3)) life.slow_runs = 0.05;
  if (dice.chance(0.3)) life.doubles = 0.3;
  if (dice.chance(0.3)) life.lies = 0.3;
  if (dice.chance(0.3)) life.gives_back = dice.any(0.0, 1.0);
  if (dice.chance(0.3)) life.answers_late = dice.any(0.0, 6.0);
  if (dice.chance(0.7)) draw_troubles(life, dice);
  return life;
}

Plot draw_plot(unsigned seed) {
  Dice dice(seed);
  Plot plot;
  plot.options.attempts = 1 + dice.below(4);
  plot.options.grace_seconds = dice.any(1.0, 20.0);
  plot.options.hang_seconds = 20.0;
  plot.options.load_timeout_seconds = 60.0;
  plot.options.max_readers = dice.below(3);
  plot.options.batch = dice.chance(0.2) ? 1 + dice.below(3) : 0;
  plot.n_requests = dice.below(dice.chance(0.1) ? 800 : 200);
  for (i64 n = 1 + dice.below(8); n > 0; --n)
    plot.lives.push_back(draw_life(dice));
  if (dice.chance(0.25)) plot.poison.insert(dice.below(plot.n_requests + 1));
  if (dice.chance(0.1)) plot.stop_at = dice.any(0.0, kEventful);
  plot.stops_at_once = dice.chance(0.5);
  if (dice.chance(0.2)) plot.pauses_at = {dice.any(0.0, 10.0), dice.any(10.0, kEventful)};
  plot.has_pressure = dice.chance(0.2);
  plot.reading = dice.chance(0.5) ? 1.0 : dice.any(0.02, 1.0);
  return plot;
}

struct Sums {
  i64 n_complete = 0;
  i64 n_lost = 0;
  i64 n_stopped = 0;
  i64 n_failures = 0;
  i64 n_copies = 0;
  i64 n_races = 0;
  i64 n_asked_back = 0;
  i64 n_taken_back = 0;
  i64 n_deaths = 0;
  i64 n_planned = 0;
};

// Enough for the slowest of them alone, and for every deadline that may pass before it is alone.
double patience_for(const Plot& plot) {
  double slowest = 0.0;
  for (const Life& life : plot.lives)
    slowest = std::max(slowest, life.run_time * (1.0 + 30.0 * life.slow_runs));
  return 1000.0 + 1.5 * static_cast<double>(plot.n_requests) * slowest;
}

void play(const Plot& plot, unsigned seed, Sums& sums) {
  ReactorWorld world(plot, seed);
  EXPECT_TRUE(world.play(patience_for(plot))) << "the run does not end";
  const Reactor& reactor = world.reactor();
  const test::Referee& referee = world.referee();
  if (reactor.is_complete()) {
    ++sums.n_complete;
    EXPECT_EQ(referee.n_recorded(), plot.n_requests);
  } else if (reactor.are_all_lost()) {
    ++sums.n_lost;
  } else {
    ++sums.n_stopped;
    EXPECT_EQ(reactor.stop_reason(), "asked");
  }
  sums.n_failures += referee.n_failures;
  sums.n_copies += referee.n_copies;
  sums.n_races += referee.n_races;
  sums.n_asked_back += referee.n_asked_back;
  sums.n_taken_back += referee.n_taken_back;
  sums.n_deaths += referee.n_deaths;
  sums.n_planned += referee.n_planned;
}

TEST(ReactorFaults, EveryRequestIsRecordedOnceAndEveryRuleKeptInThousandsOfPlots) {
  Sums sums;
  for (unsigned seed = 1; seed <= 4000 && !HasFailure(); ++seed) {
    play(draw_plot(seed), seed, sums);
    if (HasFailure()) std::printf("failing seed: %u\n", seed);
  }

  // The plots must reach what they are meant to test.
  EXPECT_GT(sums.n_complete, 2000);
  EXPECT_GT(sums.n_lost, 100);
  EXPECT_GT(sums.n_stopped, 100);
  EXPECT_GT(sums.n_failures, 500);
  EXPECT_GT(sums.n_copies, 1000);
  EXPECT_GT(sums.n_races, 1000);
  EXPECT_GT(sums.n_asked_back, 1000);
  EXPECT_GT(sums.n_taken_back, 1000);
  EXPECT_GT(sums.n_deaths, 1000);
  EXPECT_GT(sums.n_planned, 1000);
}

// Nothing happens to these; so time can be compared with what the work needs.
double seconds_of(Plot plot, unsigned seed) {
  plot.longest_turn = plot.longest_delay = 0.005;
  ReactorWorld world(plot, seed);
  EXPECT_TRUE(world.play(1000.0));
  EXPECT_TRUE(world.reactor().is_complete());
  return world.seconds();
}

// 2 x 40 + 4 answers a second: 10 s, and the last run of the slow one up to 1.5 s. Shared by slots
// alone it would hold 24 at the end, 6 s of work. Neither copies nor take-backs help here.
TEST(ReactorFaults, AWorkerThatIsTenTimesSlowerHardlyDelaysTheEnd) {
  const Life fast{.load_time = 0.1, .slots = 24, .width = 4, .run_time = 0.1};
  const Life slow{.arithmetic = "b",
                  .load_time = 0.1,
                  .slots = 24,
                  .width = 4,
                  .run_time = 1.0,
                  .gives_back = 0.0};
  Plot plot;
  plot.n_requests = 840;
  plot.lives = {fast, fast, slow};
  double seconds = 0.0;
  for (unsigned seed = 1; seed <= 20; ++seed)
    seconds += seconds_of(plot, seed) / 20.0;
  EXPECT_LT(seconds, 10.0 + 1.5);
}

// One of fifty runs takes 30 times as long: 10 s all in all, and up to 22 s more where the last are
// among them.
TEST(ReactorFaults, AStragglerIsOvertakenByItsCopy) {
  Plot plot;
  plot.n_requests = 200;
  plot.lives.assign(4,
                    {.load_time = 0.1, .slots = 6, .width = 4, .run_time = 0.5, .slow_runs = 0.02});
  double seconds = 0.0;
  for (unsigned seed = 1; seed <= 50; ++seed)
    seconds += seconds_of(plot, seed) / 50.0;
  EXPECT_LT(seconds, 12.0);
}

TEST(ReactorFaults, StoppingTheWholeJobForAMinuteLosesNobody) {
  Plot plot;
  plot.n_requests = 300;
  plot.lives.assign(3, {.run_time = 0.2});
  plot.pauses_at = {0.5, 3.0, 6.0, 12.0};
  for (unsigned seed = 1; seed <= 50 && !HasFailure(); ++seed) {
    ReactorWorld world(plot, seed);
    EXPECT_TRUE(world.play(100.0));
    EXPECT_TRUE(world.reactor().is_complete());
    EXPECT_EQ(world.referee().n_deaths, 0);
    if (HasFailure()) std::printf("failing seed: %u\n", seed);
  }
}

// Found among 60,000 seeds: of the help that was expected none came; a worker that was asked by its
// system to leave while it loaded was given work.
TEST(ReactorFaults, PlotsThatOnceFailed) {
  Sums sums;
  for (const unsigned seed : {6853U, 20522U}) {
    play(draw_plot(seed), seed, sums);
    if (HasFailure()) std::printf("failing seed: %u\n", seed);
  }
}

}  // namespace
}  // namespace sticky::coordinator
