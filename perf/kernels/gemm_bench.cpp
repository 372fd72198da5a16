// GEMM at the shapes of SmolLM2-135M on one thread: GFLOP/s, share of the peak that is measured in
// the same run, and GB/s of weights. Every call takes the weights of the next of 30 layers, so that
// they are as cold as in a real step. Processor time; the median of 11 repetitions. gemm_bench
// --benchmark_filter='amx/.*/M:256'
#include <algorithm>
#include <benchmark/benchmark.h>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "kernels/cpu/instruction_set.hpp"
#include "sticky/backend/make_backend.hpp"

#include "perf/kernels/peak.hpp"

namespace sticky::perf {
namespace {

struct Shape {
  const char* name;
  i64 n;
  i64 k;
  i64 n_copies;
};
constexpr Shape kShapes[] = {{"qkv", 960, 576, 30},
                             {"o", 576, 576, 30},
                             {"gateup", 3072, 576, 30},
                             {"down", 576, 1536, 30},
                             {"head", 49152, 576, 1}};

struct Case {
  std::string set;
  std::string dtype;     ///< arithmetic
  bool is_wide = false;  ///< weights that need 32 bits
};

std::vector<float> uniform(i64 n) {
  std::minstd_rand generator(1);
  std::vector<float> values(static_cast<std::size_t>(n));
  for (float& x : values)
    x = static_cast<float>(static_cast<int>(generator() >> 7 & 0xffffU) - 32768) / 32768.0F;
  return values;
}

std::unique_ptr<Weight> load(backend::Backend& backend, const Shape& shape, bool is_wide) {
  const auto row = uniform(shape.k);
  return backend.load_weight({shape.n, shape.k, [&](i64, i64 n, float* out) {
                                for (i64 i = 0; i < n * shape.k; ++i) {
                                  const float x = row[static_cast<std::size_t>(i % shape.k)];
                                  out[i] = is_wide ? x + 1e-4F : to_float(to_bf16(x));
                                }
                              }});
}

/// A backend and the weights of all layers, made when first needed and shared by all repetitions.
struct Layers {
  std::unique_ptr<backend::Backend> backend;
  std::vector<std::unique_ptr<Weight>> weights;

  void make(const Case& c, const Shape& shape) {
    if (backend) return;
    backend = backend::make_backend({.dtype = c.dtype, .cpu = c.set, .n_threads = 1});
    for (i64 i = 0; i < shape.n_copies; ++i)
      weights.push_back(load(*backend, shape, c.is_wide));
  }
};

void run(benchmark::State& state, Layers& layers, const Shape& shape, i64 m, double peak) {
  auto& [backend, weights] = layers;
  const auto x = uniform(m * shape.k);
  std::vector<float> y(static_cast<std::size_t>(m * shape.n));
  std::size_t copy = 0;
  for (auto _ : state) {
    const double begin = thread_seconds();
    backend->gemm({.x = Rows<const float>{x.data(), m, shape.k, shape.k},
                   .w = weights[copy].get(),
                   .y = Rows<float>{y.data(), m, shape.n, shape.n}});
    state.SetIterationTime(thread_seconds() - begin);
    copy = (copy + 1) % weights.size();
  }
  const auto calls = static_cast<double>(state.iterations());
  const double flops = 2.0 * static_cast<double>(m * shape.n * shape.k) * calls;
  const auto bytes = static_cast<double>(weights[0]->size_bytes()) * calls;
  state.counters["GFLOP/s"] = benchmark::Counter(flops * 1e-9, benchmark::Counter::kIsRate);
  state.counters["peak%"] = benchmark::Counter(flops / peak * 100, benchmark::Counter::kIsRate);
  state.counters["GB/s"] = benchmark::Counter(bytes * 1e-9, benchmark::Counter::kIsRate);
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const auto set : cpu::usable_instruction_sets()) {
    const std::string name(cpu::name(set));
    if (set == cpu::InstructionSet::avx2 || set == cpu::InstructionSet::avx512) {
      all.push_back({name, "f32", true});
      all.push_back({name, "f32", false});
    } else if (set > cpu::InstructionSet::avx512) {
      all.push_back({name, "bf16", false});
    }
  }
  return all;
}

void register_all() {
  std::map<std::string, double> peaks;
  for (const Case& c : cases()) {
    if (!peaks.contains(c.set)) peaks[c.set] = peak_flops(c.set);
    for (const Shape& shape : kShapes) {
      const auto layers = std::make_shared<Layers>();
      for (const i64 m : {1, 4, 16, 64, 256}) {
        const std::string weights = c.dtype == "bf16" ? "bf16" : c.is_wide ? "f32" : "bf16-wide";
        const std::string name =
            c.set + "/" + weights + "/" + shape.name + "/M:" + std::to_string(m);
        benchmark::RegisterBenchmark(name.c_str(),
                                     [=, peak = peaks[c.set]](benchmark::State& state) {
                                       layers->make(c, shape);
                                       run(state, *layers, shape, m, peak);
                                     })
            ->UseManualTime()
            ->MinTime(0.02)
            ->Repetitions(11)
            ->ReportAggregatesOnly();
      }
    }
  }
  for (const auto& [set, peak] : peaks)
    benchmark::AddCustomContext("peak of " + set, std::to_string(peak * 1e-9) + " GFLOP/s a core");
}

}  // namespace
}  // namespace sticky::perf

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  sticky::perf::register_all();
  benchmark::RunSpecifiedBenchmarks();
}
