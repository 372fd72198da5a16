// Attention at the shape of SmolLM2-135M (9 heads on 3 kv heads of 64) on one thread: GFLOP/s and
// the share of the f32 peak that is measured in the same run. decode: one row in each of 32
// sequences; prefill: one sequence from its beginning. Each call takes the next of 30 layers'
// pages. Processor time; the median of 11 repetitions.
#include <benchmark/benchmark.h>
#include <random>
#include <string>
#include <vector>

#include "kernels/cpu/instruction_set.hpp"
#include "sticky/backend/make_backend.hpp"

#include "perf/kernels/peak.hpp"

namespace sticky::perf {
namespace {

constexpr i64 kHeads = 9;
constexpr i64 kKvHeads = 3;
constexpr i64 kHeadDim = 64;
constexpr i64 kLayers = 30;
constexpr i64 kWidth = kHeads * kHeadDim;

std::vector<float> uniform(i64 n) {
  std::minstd_rand generator(1);
  std::vector<float> values(static_cast<std::size_t>(n));
  for (float& x : values)
    x = static_cast<float>(static_cast<int>(generator() >> 7 & 0xffffU) - 32768) / 32768.0F;
  return values;
}

struct Load {
  std::string name;
  i64 n_sequences = 1;
  i64 n_rows = 1;  ///< of each sequence, its last ones
  i64 context = 1;
};

void run(benchmark::State& state, const std::string& set, const Load& load, double peak) {
  const auto backend = backend::make_backend({.cpu = set, .n_threads = 1});
  const i64 pages_each = (load.context + kPageTokens - 1) / kPageTokens;
  const i64 n_pages = pages_each * load.n_sequences;
  const i64 layer_size = n_pages * kKvHeads * kPageTokens * kHeadDim;
  auto k = uniform(layer_size * kLayers);
  auto v = k;
  std::vector<i32> pages(static_cast<std::size_t>(n_pages));
  for (std::size_t i = 0; i < pages.size(); ++i)
    pages[i] = static_cast<i32>(i);
  std::vector<SequenceRows> sequences;
  for (i64 s = 0; s < load.n_sequences; ++s)
    sequences.push_back({s * load.n_rows, load.n_rows, load.context - load.n_rows,
                         std::span(pages).subspan(static_cast<std::size_t>(s * pages_each),
                                                  static_cast<std::size_t>(pages_each))});
  const i64 n_rows = load.n_rows * load.n_sequences;
  const auto q = uniform(n_rows * kWidth);
  std::vector<float> y(q.size());
  i64 layer = 0;
  for (auto _ : state) {
    const double begin = thread_seconds();
    backend->attention({.q = Rows<const float>{q.data(), n_rows, kWidth, kWidth},
                        .n_heads = kHeads,
                        .sequences = sequences,
                        .kv = {k.data() + layer * layer_size, v.data() + layer * layer_size,
                               DType::f32, n_pages, kKvHeads, kHeadDim},
                        .scale = 0.125F,
                        .y = Rows<float>{y.data(), n_rows, kWidth, kWidth}});
    state.SetIterationTime(thread_seconds() - begin);
    layer = (layer + 1) % kLayers;
  }
  double keys = 0.0;  // that all rows see
  for (i64 r = 0; r < load.n_rows; ++r)
    keys += static_cast<double>((load.context - r) * load.n_sequences);
  const double flops = 4.0 * keys * static_cast<double>(kWidth * state.iterations());
  state.counters["GFLOP/s"] = benchmark::Counter(flops * 1e-9, benchmark::Counter::kIsRate);
  state.counters["peak%"] = benchmark::Counter(flops / peak * 100, benchmark::Counter::kIsRate);
}

void register_all() {
  const std::vector<Load> loads = {{"decode", 32, 1, 50},    {"decode", 32, 1, 137},
                                   {"decode", 32, 1, 200},   {"decode", 1, 1, 2000},
                                   {"prefill", 1, 113, 113}, {"prefill", 1, 512, 512}};
  for (const auto set : cpu::usable_instruction_sets()) {
    if (set != cpu::InstructionSet::avx2 && set != cpu::InstructionSet::avx512) continue;
    const std::string name(cpu::name(set));
    const double peak = peak_flops(name);
    benchmark::AddCustomContext("peak of " + name, std::to_string(peak * 1e-9) + " GFLOP/s a core");
    for (const Load& load : loads) {
      const std::string title = name + "/" + load.name +
                                "/sequences:" + std::to_string(load.n_sequences) +
                                "/context:" + std::to_string(load.context);
      benchmark::RegisterBenchmark(title.c_str(),
                                   [=](benchmark::State& state) { run(state, name, load, peak); })
          ->UseManualTime()
          ->MinTime(0.02)
          ->Repetitions(11)
          ->ReportAggregatesOnly();
    }
  }
}

}  // namespace
}  // namespace sticky::perf

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  sticky::perf::register_all();
  benchmark::RunSpecifiedBenchmarks();
}
