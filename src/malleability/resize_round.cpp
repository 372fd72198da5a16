#include "resize_round.hpp"

#include <algorithm>

#include "sticky/base/counted.hpp"

namespace sticky::malleability {

using State = Situation::State;

std::string place_key(const std::string& host, const Situation& situation) {
  std::string key = host_key(host.empty() || host == "localhost" ? situation.here : host);
  const auto real = situation.real_names.find(key);
  return real == situation.real_names.end() ? key : real->second;
}

std::string n_workers(i64 n) {
  return counted(n, "worker");
}

ResizePolicy::Round::Round(const Situation& situation)
    : situation_(situation),
      workers_(situation.workers) {
  for (const auto& worker : workers_) {
    Count& count = on_host_[key_of(worker.host)];
    ++(worker.state == State::leaving ? count.n_leaving : count.n_present);
    count.n_ready += worker.state == State::ready ? 1 : 0;
    n_present_ += worker.state == State::leaving ? 0 : 1;
  }
  for (const auto& host : situation.spawning)
    ++on_host_[key_of(host)].n_spawning;
  n_spawning_ = static_cast<i64>(situation.spawning.size());
}

i64 ResizePolicy::Round::n_total() const {
  return static_cast<i64>(workers_.size()) + n_spawning_;
}

i64 ResizePolicy::Round::n_loading() const {
  const auto is_loading = [](const auto& worker) {
    return worker.state == State::joining || worker.state == State::loading;
  };
  return n_spawning_ + std::count_if(workers_.begin(), workers_.end(), is_loading);
}

const ResizePolicy::Round::Count& ResizePolicy::Round::count_of(const std::string& key) const {
  static const Count kNobody;
  const auto found = on_host_.find(key);
  return found == on_host_.end() ? kNobody : found->second;
}

i64 ResizePolicy::Round::n_total_on(const std::string& key) const {
  return n_active_on(key) + count_of(key).n_leaving;
}

i64 ResizePolicy::Round::n_active_on(const std::string& key) const {
  return n_present_on(key) + count_of(key).n_spawning;
}

i64 ResizePolicy::Round::n_present_on(const std::string& key) const {
  return count_of(key).n_present;
}

i64 ResizePolicy::Round::n_ready_on(const std::string& key) const {
  return count_of(key).n_ready;
}

std::vector<std::string> ResizePolicy::Round::hosts() const {
  std::vector<std::string> keys;
  for (const auto& [key, count] : on_host_) {
    if (count.n_present + count.n_spawning > 0) keys.push_back(key);
  }
  return keys;
}

bool ResizePolicy::Round::has_work() const {
  return situation_.n_waiting + situation_.n_held > 0 || !situation_.has_input_ended;
}

void ResizePolicy::Round::drain(i64 n, const std::string* key) {
  std::vector<Situation::Worker*> present;
  for (auto& worker : workers_) {
    if (worker.state != State::leaving && (key == nullptr || key_of(worker.host) == *key))
      present.push_back(&worker);
  }
  std::sort(present.begin(), present.end(), [](const auto* a, const auto* b) {
    return a->n_held != b->n_held ? a->n_held < b->n_held : a->id > b->id;
  });
  for (auto* worker : present) {
    if (n-- <= 0) return;
    Count& count = on_host_[key_of(worker->host)];
    count.n_ready -= worker->state == State::ready ? 1 : 0;
    worker->state = State::leaving;
    --count.n_present;
    ++count.n_leaving;
    --n_present_;
    out_.drain.push_back(worker->id);
  }
}

bool ResizePolicy::Round::is_resting(TimePoint until) const {
  const bool has_ready = std::any_of(workers_.begin(), workers_.end(), [](const auto& worker) {
    return worker.state == State::ready;
  });
  return situation_.now < until || !has_ready;
}

i64 ResizePolicy::Round::n_free_here() const {
  return situation_.n_free_here == kNoLimit ? kNoLimit : situation_.n_free_here - n_grown_here_;
}

void ResizePolicy::Round::grow(const std::string& host) {
  n_grown_here_ += key_of(host) == key_of("") ? 1 : 0;
  ++on_host_[key_of(host)].n_spawning;
  ++n_spawning_;
  out_.grow.push_back(host);
}

void ResizePolicy::Round::say(const std::string& sentence) {
  out_.why += (out_.why.empty() ? "" : "; ") + sentence;
}

}  // namespace sticky::malleability
