#include "wiring.hpp"

#include <thread>
#include <unistd.h>

#include <fmt/format.h>

#include "sticky/base/clock.hpp"
#include "sticky/base/log.hpp"
#include "sticky/comm/in_process_transport.hpp"
#include "sticky/comm/local_processes.hpp"
#include "sticky/comm/proc.hpp"
#include "sticky/topology/bind.hpp"
#include "sticky/topology/usable_cpus.hpp"
#include "sticky/worker/model_service.hpp"
#include "sticky/worker/worker_loop.hpp"

#include "coordinate.hpp"
#include "local_place.hpp"
#include "reach.hpp"

namespace sticky::cli {
namespace {

constexpr int kOrphaned = 5;
constexpr const char* kDevice = "cpu";

worker::WorkerEnd work(
    protocol::Transport& transport,
    i64 max_threads,
    std::function<bool()> is_asked_to_leave,
    const std::function<void()>& on_welcome = [] {}) {
  const SteadyClock clock;
  const auto processes = comm::make_local_processes();
  return worker::run_worker({.transport = transport,
                             .processes = *processes,
                             .clock = clock,
                             .make_service =
                                 [&](worker::Options options, WorkerId id) {
                                   on_welcome();
                                   options.backend.max_threads = max_threads;
                                   return worker::make_model_service(options, id, clock);
                                 },
                             .self = comm::this_process(),
                             .device = kDevice,
                             .is_asked_to_leave = std::move(is_asked_to_leave),
                             .abandon =
                                 [](const std::string& reason) {
                                   log::error("{}", reason);
                                   _exit(kOrphaned);
                                 }});
}

}  // namespace

std::vector<std::string> worker_arguments(const protocol::SpawnOrder& order) {
  std::vector<std::string> words{kWorkerCommand, "--place", fmt::format("{}", order.place),
                                 "--workers", fmt::format("{}", order.n_workers)};
  if (!order.host.empty()) words.emplace_back("--elsewhere");
  return words;
}

RankEnd live_as_coordinator(const RankJob& job, comm::MpiSession& session, SignalQueue& signals) {
  const i64 n_cpus = topology::usable_cpus();  // before this rank is bound to its own
  (void)topology::bind_process(local_place(session.rank()));
  const auto [transport, spawner] = session.open_hub({.program = comm::own_path(),
                                                      .arguments = worker_arguments,
                                                      .why_out_of_reach = why_out_of_reach});
  const auto processes = comm::make_local_processes();
  const Coordinated end = coordinate(job, {.transport = *transport,
                                           .processes = *processes,
                                           .spawner = spawner.get(),
                                           .signals = signals,
                                           .n_cpus = n_cpus,
                                           .n_ranks = session.size(),
                                           .mpi_library = session.library(),
                                           .mpi_capability = session.capability()});
  return {end.exit_code, end.may_finalize};
}

RankEnd live_alone(const RankJob& job, comm::MpiSession& session, SignalQueue& signals) {
  comm::InProcessLinks links = comm::make_in_process_links(1);
  std::thread worker(
      [&transport = *links.workers[0]] { (void)work(transport, 0, [] { return false; }); });
  const auto processes = comm::make_local_processes();
  const Coordinated end = coordinate(job, {.transport = *links.coordinator,
                                           .processes = *processes,
                                           .signals = signals,
                                           .mpi_library = session.library(),
                                           .mpi_capability = session.capability()});
  // A worker that was given up may never return.
  if (!end.may_finalize) session.finish(false, end.exit_code);
  links.coordinator.reset();  // a worker that still listens hears that nobody is there
  worker.join();
  return {end.exit_code, true};
}

RankEnd live_as_worker(comm::MpiSession& session,
                       SignalQueue& signals,
                       const topology::LocalPlace& place,
                       const std::function<void()>& on_welcome) {
  const topology::Binding binding = topology::bind_process(place);
  log::debug("{}", binding.message);
  const auto transport = session.open_worker();
  bool is_asked = false;
  const worker::WorkerEnd end = work(
      *transport, binding.n_threads,
      [&] {
        while (signals.next())
          is_asked = true;
        return is_asked;
      },
      on_welcome);
  if (end.has_failed) log::error("worker on rank {}: {}", session.rank(), end.reason);
  return {end.has_failed ? kOrphaned : 0, end.may_finalize};
}

}  // namespace sticky::cli
