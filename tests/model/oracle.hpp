#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/model/memory_checkpoint.hpp"

namespace sticky::test {

using Vector = std::vector<double>;

/// Where a model departs from Llama.
struct Mathematics {
  bool layer_norms = false;    ///< in the place of RMS norms
  bool head_norms = false;     ///< layer norms of each head of q and k, with weights of their own
  bool parallel = false;       ///< the MLP reads what attention's norm gave, and adds to the same x
  bool plain_mlp = false;      ///< down(gelu(up x)), the exact gelu
  i64 rotary_dim = 0;          ///< 0: all of a head
  std::vector<i64> windows{};  ///< of each layer, 0: none; empty: none anywhere
  std::vector<double> divisors{};  ///< of each pair's frequency; empty: 1
  double rope_scale = 1.0;
};

/// The forward pass in double, from the formulas. Shares nothing with the one under test: no
/// backend, no pages, no fused weights, no tables. Biases are added where the checkpoint has them.
class Oracle {
 public:
  Oracle(const MemoryCheckpoint& weights, SmallLlama sizes, Mathematics m = {})
      : w_(weights),
        s_(sizes),
        m_(std::move(m)) {
    if (m_.rotary_dim == 0) m_.rotary_dim = s_.head_dim;
  }

  /// Logits after the last token.
  [[nodiscard]] Vector logits(const std::vector<i32>& tokens) const {
    std::vector<Vector> x;
    for (const i32 token : tokens)
      x.push_back(row("model.embed_tokens.weight", token, s_.d_model));
    for (i64 layer = 0; layer < s_.n_layers; ++layer)
      run_layer(layer, "model.layers." + std::to_string(layer) + ".", x);
    const Vector last = norm("model.norm", x.back());
    return apply(s_.tied ? "model.embed_tokens" : "lm_head", last, s_.vocab);
  }

 private:
  [[nodiscard]] Vector row(const std::string& name, i64 r, i64 cols) const {
    const auto& all = w_.values(name);
    return {all.begin() + r * cols, all.begin() + (r + 1) * cols};
  }
  [[nodiscard]] double bias(const std::string& name, std::size_t i) const {
    return w_.find(name + ".bias") == nullptr ? 0.0 : double{w_.values(name + ".bias")[i]};
  }
  [[nodiscard]] Vector norm(const std::string& name, const Vector& x, bool as_layer_norm) const {
    const auto n = static_cast<double>(x.size());
    double mean = 0.0;
    for (const double v : x)
      mean += as_layer_norm ? v / n : 0.0;
    double variance = 0.0;
    for (const double v : x)
      variance += (v - mean) * (v - mean) / n;
    Vector y;
    for (std::size_t c = 0; c < x.size(); ++c)
      y.push_back((x[c] - mean) / std::sqrt(variance + 0.01) *
                      double{w_.values(name + ".weight")[c]} +
                  bias(name, c));
    return y;
  }
  [[nodiscard]] Vector norm(const std::string& name, const Vector& x) const {
    return norm(name, x, m_.layer_norms);
  }
  [[nodiscard]] Vector apply(const std::string& name, const Vector& x, i64 rows) const {
    const auto& weight = w_.values(name + ".weight");
    Vector y;
    for (std::size_t r = 0; r < static_cast<std::size_t>(rows); ++r) {
      double sum = bias(name, r);
      for (std::size_t c = 0; c < x.size(); ++c)
        sum += double{weight[r * x.size() + c]} * x[c];
      y.push_back(sum);
    }
    return y;
  }
  [[nodiscard]] Vector norm_heads(const std::string& name, const Vector& x) const {
    Vector y;
    for (i64 h = 0; h * s_.head_dim < static_cast<i64>(x.size()); ++h) {
      const Vector head(x.begin() + h * s_.head_dim, x.begin() + (h + 1) * s_.head_dim);
      const Vector normed = norm(name + ".norms." + std::to_string(h), head, true);
      y.insert(y.end(), normed.begin(), normed.end());
    }
    return y;
  }
  // The front of each head as complex numbers x[i] + j x[i + d/2], turned by position * frequency.
  void rotate(Vector& x, double position) const {
    const i64 half = m_.rotary_dim / 2;
    for (std::size_t begin = 0; begin < x.size(); begin += static_cast<std::size_t>(s_.head_dim)) {
      for (i64 i = 0; i < half; ++i) {
        const double exponent = -2.0 * static_cast<double>(i) / static_cast<double>(m_.rotary_dim);
        const double divisor = m_.divisors.empty() ? 1.0 : m_.divisors[static_cast<std::size_t>(i)];
        const double angle = position / divisor * std::pow(100.0, exponent);
        double& real = x[begin + static_cast<std::size_t>(i)];
        double& imaginary = x[begin + static_cast<std::size_t>(i + half)];
        const double old = real;
        real = m_.rope_scale * (old * std::cos(angle) - imaginary * std::sin(angle));
        imaginary = m_.rope_scale * (old * std::sin(angle) + imaginary * std::cos(angle));
      }
    }
  }
  // Positions first … position.
  [[nodiscard]] Vector attend(const Vector& q,
                              const std::vector<Vector>& k,
                              const std::vector<Vector>& v,
                              std::size_t first,
                              std::size_t position) const {
    Vector y(q.size());
    const auto d = static_cast<std::size_t>(s_.head_dim);
    const auto group = static_cast<std::size_t>(s_.n_heads / s_.n_kv_heads);
    for (std::size_t h = 0; h < static_cast<std::size_t>(s_.n_heads); ++h) {
      Vector p;
      double total = 0.0;
      for (std::size_t j = first; j <= position; ++j) {
        double dot = 0.0;
        for (std::size_t i = 0; i < d; ++i)
          dot += q[h * d + i] * k[j][h / group * d + i];
        p.push_back(std::exp(dot / std::sqrt(static_cast<double>(d))));
        total += p.back();
      }
      for (std::size_t j = first; j <= position; ++j) {
        for (std::size_t i = 0; i < d; ++i)
          y[h * d + i] += p[j - first] / total * v[j][h / group * d + i];
      }
    }
    return y;
  }
  [[nodiscard]] Vector mlp(const std::string& start, const Vector& h) const {
    Vector up = apply(start + "mlp.up_proj", h, s_.d_ff);
    if (m_.plain_mlp) {
      for (double& v : up)
        v = 0.5 * v * (1.0 + std::erf(v / std::sqrt(2.0)));
    } else {
      const Vector gate = apply(start + "mlp.gate_proj", h, s_.d_ff);
      for (std::size_t c = 0; c < up.size(); ++c)
        up[c] *= gate[c] / (1.0 + std::exp(-gate[c]));
    }
    return apply(start + "mlp.down_proj", up, s_.d_model);
  }
  void run_layer(i64 layer, const std::string& start, std::vector<Vector>& x) const {
    std::vector<Vector> h, q, k, v;
    for (std::size_t t = 0; t < x.size(); ++t) {
      h.push_back(norm(start + "input_layernorm", x[t]));
      q.push_back(apply(start + "self_attn.q_proj", h[t], s_.n_heads * s_.head_dim));
      k.push_back(apply(start + "self_attn.k_proj", h[t], s_.n_kv_heads * s_.head_dim));
      v.push_back(apply(start + "self_attn.v_proj", h[t], s_.n_kv_heads * s_.head_dim));
      if (m_.head_norms) {
        q[t] = norm_heads(start + "self_attn.q_layernorm", q[t]);
        k[t] = norm_heads(start + "self_attn.k_layernorm", k[t]);
      }
      rotate(q[t], static_cast<double>(t));
      rotate(k[t], static_cast<double>(t));
    }
    const i64 window = m_.windows.empty() ? 0 : m_.windows[static_cast<std::size_t>(layer)];
    for (std::size_t t = 0; t < x.size(); ++t) {
      const i64 first = window > 0 ? std::max<i64>(0, static_cast<i64>(t) - window + 1) : 0;
      add(x[t], apply(start + "self_attn.o_proj",
                      attend(q[t], k, v, static_cast<std::size_t>(first), t), s_.d_model));
      add(x[t], mlp(start, m_.parallel ? h[t] : norm(start + "post_attention_layernorm", x[t])));
    }
  }
  static void add(Vector& x, const Vector& y) {
    for (std::size_t c = 0; c < x.size(); ++c)
      x[c] += y[c];
  }

  const MemoryCheckpoint& w_;
  SmallLlama s_;
  Mathematics m_;
};

/// Sums of up to 48 f32 terms err by less than 48 * 2^-24 of their terms' sizes, and some ten of
/// them lie on the way to a logit: 5e-5 of the largest logit. The mistakes tried (a bias left out,
/// k and v swapped, the logits of another row) move logits by 0.06 to 1.1.
inline void expect_near(const std::vector<float>& logits, const Vector& expected) {
  double largest = 0.0;
  for (const double v : expected)
    largest = std::max(largest, std::abs(v));
  ASSERT_EQ(logits.size(), expected.size());
  for (std::size_t i = 0; i < logits.size(); ++i)
    ASSERT_NEAR(logits[i], expected[i], 5e-5 * largest) << "id " << i;
}

}  // namespace sticky::test
