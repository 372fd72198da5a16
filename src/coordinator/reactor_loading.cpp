// Who may load its state: a crowd that comes back at once must not read the model all at once.
#include <algorithm>

#include "sticky/coordinator/reactor.hpp"

namespace sticky::coordinator {

i32 Reactor::host_named(const std::string& name) {
  const auto known = name.empty()
                         ? hosts_.end()
                         : std::ranges::find(
                               hosts_, name, [](const Host& h) -> const auto& { return h.name; });
  if (known != hosts_.end()) return static_cast<i32>(known - hosts_.begin());
  hosts_.push_back({.name = name});
  return static_cast<i32>(hosts_.size() - 1);
}

// In the order of joining, but past those whose host has to wait.
void Reactor::welcome_joined(Actions& out) {
  if (joined_.empty()) return;
  const auto is_reader = [](const Host& host) { return host.n_loading > 0 && host.n_ready == 0; };
  i64 n_readers = std::ranges::count_if(hosts_, is_reader);
  std::erase_if(joined_, [&](WorkerId id) {
    Worker& worker = at(id);
    if (worker.state != WorkerState::joined) return true;
    Host& host = hosts_[static_cast<std::size_t>(worker.host)];
    const bool is_new_reader = host.n_loading == 0 && host.n_ready == 0;
    if (is_new_reader && options_.max_readers > 0 && n_readers >= options_.max_readers)
      return false;
    if (is_new_reader) ++n_readers;
    ++host.n_loading;
    worker.state = WorkerState::loading;
    worker.is_welcome = true;
    worker.since = now_;
    out.emplace_back(SendWelcome{id});
    return true;
  });
}

void Reactor::count_ready(const Worker& worker) {
  Host& host = hosts_[static_cast<std::size_t>(worker.host)];
  --host.n_loading;
  ++host.n_ready;
}

void Reactor::leave_host(const Worker& worker) {
  if (!worker.is_welcome) return;
  Host& host = hosts_[static_cast<std::size_t>(worker.host)];
  --(worker.slots > 0 ? host.n_ready : host.n_loading);
}

}  // namespace sticky::coordinator
