#pragma once

#include <map>
#include <string>
#include <vector>

#include "sticky/malleability/resize_policy.hpp"

namespace sticky::malleability {

/// host_key() with "" and "localhost" as the host where the coordinator runs, and other names of a
/// host as its own.
[[nodiscard]] std::string place_key(const std::string& host, const Situation& situation);

/// "1 worker", "2 workers".
[[nodiscard]] std::string n_workers(i64 n);

/// One decision while it is made: a situation, what is decided so far, and the counts that follow
/// from both.
class ResizePolicy::Round {
 public:
  explicit Round(const Situation& situation);

  [[nodiscard]] const Situation& situation() const { return situation_; }
  [[nodiscard]] Decision& out() { return out_; }
  [[nodiscard]] const Decision& out() const { return out_; }

  [[nodiscard]] std::string key_of(const std::string& host) const {
    return place_key(host, situation_);
  }
  [[nodiscard]] i64 n_present() const { return n_present_; }  ///< not leaving
  [[nodiscard]] i64 n_active() const { return n_present_ + n_spawning_; }
  [[nodiscard]] i64 n_total() const;    ///< with those that are leaving: all that takes up room
  [[nodiscard]] i64 n_loading() const;  ///< spawning, joining or loading
  [[nodiscard]] i64 n_total_on(const std::string& key) const;
  [[nodiscard]] i64 n_active_on(const std::string& key) const;
  [[nodiscard]] i64 n_present_on(const std::string& key) const;
  [[nodiscard]] i64 n_ready_on(const std::string& key) const;
  [[nodiscard]] std::vector<std::string> hosts() const;  ///< keys, with workers or spawns
  [[nodiscard]] bool has_work() const;
  /// After failures: a rest goes on until then, and as long as no worker is ready.
  [[nodiscard]] bool is_resting(TimePoint until) const;
  [[nodiscard]] i64 n_free_here() const;  ///< as far as the launch has room

  /// Tells up to `n` present workers to leave, of that host only unless `key` is null: those that
  /// hold least, among them the newest.
  void drain(i64 n, const std::string* key = nullptr);
  void grow(const std::string& host);
  void say(const std::string& sentence);  ///< a part of Decision::why

 private:
  struct Count {
    i64 n_present = 0;
    i64 n_ready = 0;  // of n_present
    i64 n_leaving = 0;
    i64 n_spawning = 0;
  };
  [[nodiscard]] const Count& count_of(const std::string& key) const;

  const Situation& situation_;
  std::vector<Situation::Worker> workers_;  // with those as leaving that were just told
  std::map<std::string, Count> on_host_;
  i64 n_present_ = 0;
  i64 n_spawning_ = 0;
  i64 n_grown_here_ = 0;
  Decision out_;
};

}  // namespace sticky::malleability
