#include "time_estimate.hpp"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "sticky/base/clock.hpp"

namespace sticky::cli {
namespace {

constexpr i64 kWeightsAtOnce = i64{1} << 25;  // 64 MiB at 16 bits
constexpr double kSecondsEach = 0.4;

double seconds_since(TimePoint start) {
  return std::chrono::duration<double>(SteadyClock().now() - start).count();
}

// Of one token, without the head.
i64 layer_weights(const model::ModelSpec& spec) {
  const i64 heads = (2 * spec.n_heads + 2 * spec.n_kv_heads) * spec.head_dim;
  return spec.n_layers * spec.d_model * (heads + 3 * spec.d_ff);
}

// Several matrices of the gate and up projections' shape: the widest that layers have.
class Products {
 public:
  Products(backend::Backend& backend, const model::ModelSpec& spec, i64 rows, bool stores_16_bits)
      : backend_(backend),
        k_(spec.d_model),
        n_(2 * spec.d_ff),
        x_(backend.allocate(rows * k_ * kBytes, "a measurement")),
        y_(backend.allocate(rows * n_ * kBytes, "a measurement")) {
    // Eighths need few bits; with 2^-20 on top they need all 32.
    const float on_top = stores_16_bits ? 0.0F : 0x1p-20F;
    const i64 n_matrices = std::max<i64>(1, kWeightsAtOnce / (n_ * k_));
    for (i64 i = 0; i < n_matrices; ++i) {
      weights_.push_back(backend.load_weight(
          {.n = n_, .k = k_, .fill = [this, on_top](i64 first, i64 n, float* out) {
             for (i64 j = 0; j < n * k_; ++j)
               out[j] = static_cast<float>((first + j) % 7 - 3) * 0.125F + on_top;
           }}));
    }
  }

  // Seconds per weight of a step of so many rows.
  double measure(i64 rows) {
    std::vector<std::byte> one(static_cast<std::size_t>(kBytes));
    multiply(0, rows);  // wakes threads and fills the kernels' buffers
    backend_.download(*y_, 0, one);
    const TimePoint start = SteadyClock().now();
    i64 n_done = 0;
    do {
      multiply(static_cast<std::size_t>(n_done) % weights_.size(), rows);
      backend_.download(*y_, 0, one);
      ++n_done;
    } while (seconds_since(start) < kSecondsEach);
    return seconds_since(start) / static_cast<double>(n_done * n_ * k_);
  }

 private:
  static constexpr i64 kBytes = size_bytes(DType::f32);

  void multiply(std::size_t matrix, i64 rows) {
    backend_.gemm({.x = Matrix(x_->data(), DType::f32, rows, k_, k_),
                   .w = weights_[matrix].get(),
                   .y = Matrix(y_->data(), DType::f32, rows, n_, n_)});
  }

  backend::Backend& backend_;
  i64 k_;
  i64 n_;
  std::unique_ptr<backend::Buffer> x_;
  std::unique_ptr<backend::Buffer> y_;
  std::vector<std::unique_ptr<Weight>> weights_;
};

}  // namespace

i64 rows_of_answer_step(const Workload& work) {
  const i64 n_each = (work.n_requests + work.n_workers - 1) / work.n_workers;
  return std::clamp<i64>(n_each, 1, std::max<i64>(1, work.n_sequences));
}

Pace measure_pace(backend::Backend& backend,
                  const model::ModelSpec& spec,
                  const Workload& work,
                  bool stores_16_bits) {
  const TimePoint start = SteadyClock().now();
  const i64 n_answer_rows = rows_of_answer_step(work);
  Products products(backend, spec, std::max(work.n_chunk, n_answer_rows), stores_16_bits);
  Pace pace{.prompt_step = products.measure(work.n_chunk),
            .answer_step = products.measure(n_answer_rows)};
  pace.measured_seconds = seconds_since(start);
  return pace;
}

TimeEstimate estimate_time(const model::ModelSpec& spec, const Workload& work, const Pace& pace) {
  const auto layers = static_cast<double>(layer_weights(spec));
  const auto head = static_cast<double>(spec.vocab * spec.d_model);
  const auto n_workers = static_cast<double>(work.n_workers);
  const auto n_rows = static_cast<double>(rows_of_answer_step(work));
  const double prompt_steps =
      static_cast<double>(work.prompt_tokens) / static_cast<double>(work.n_chunk);
  const double answer_steps = static_cast<double>(work.most_new_tokens) / n_rows;
  return {.prompt_seconds = prompt_steps * layers * pace.prompt_step / n_workers,
          .answer_seconds = answer_steps * (layers + head) * pace.answer_step / n_workers};
}

}  // namespace sticky::cli
