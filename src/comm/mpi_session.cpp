#include "sticky/comm/mpi_session.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string_view>
#include <thread>
#include <unistd.h>

#include <fmt/format.h>
#include <mpi.h>

#include "sticky/base/check.hpp"
#include "sticky/base/counted.hpp"
#include "sticky/base/error.hpp"
#include "sticky/base/standard_streams.hpp"
#include "sticky/comm/capability.hpp"

#include "hang_up.hpp"
#include "mpi_spawner.hpp"
#include "mpi_transport.hpp"
#include "start_watch.hpp"

namespace sticky::comm {

namespace {

using namespace std::chrono_literals;

constexpr auto kFinalizeTime = 10s;
constexpr int kDidNotStart = 5;

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

bool is_on(const char* name) {
  return environment(name) == "1" || environment(name) == "true";
}

// Open MPI 4 and 5 each tell their ranks.
bool has_recovery() {
  return is_on("OMPI_MCA_orte_enable_recovery") || is_on("OMPI_MCA_mpi_ft_enable");
}

// Slots of the launch that no rank takes; -1: they do not matter.
i64 free_slots(int world_size) {
  if (is_on("OMPI_MCA_rmaps_base_oversubscribe")) return -1;
  int* universe = nullptr;
  int is_set = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &universe, &is_set);
  return is_set != 0 && universe != nullptr ? std::max(0, *universe - world_size) : 0;
}

[[noreturn]] void end_process(int exit_code) {
  std::fflush(stdout);
  std::fflush(stderr);
  ::_exit(exit_code);
}

// MPI_Finalize waits for every rank; one that dies meanwhile would make it wait for ever.
void finalize_watched(int exit_code) {
  std::mutex mutex;
  std::condition_variable changed;
  bool is_done = false;
  std::thread watch([&] {
    std::unique_lock lock(mutex);
    if (!changed.wait_for(lock, kFinalizeTime, [&] { return is_done; })) end_process(exit_code);
  });
  MPI_Finalize();
  {
    const std::lock_guard lock(mutex);
    is_done = true;
  }
  changed.notify_one();
  watch.join();
}

// MPI_Init waits for every rank too. Gives the level of thread support.
int init_watched(int* argc, char*** argv) {
  const StartWatch watch([](const std::string& why) {
    tell("this rank gives up waiting for MPI: {}. Nothing was done yet: start it again\n", why);
    end_process(kDidNotStart);
  });
  int provided = MPI_THREAD_SINGLE;
  if (MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided) != MPI_SUCCESS)
    fail<ConfigError>("MPI cannot be initialised; was this started by another MPI's mpirun?");
  return provided;
}

}  // namespace

MpiSession::MpiSession(int* argc, char*** argv) {
  const int provided = init_watched(argc, argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm parent = MPI_COMM_NULL;
  MPI_Comm_get_parent(&parent);
  is_spawned_ = parent != MPI_COMM_NULL;
  thread_level_ = provided;
  if (provided < MPI_THREAD_SERIALIZED) {
    fail<ConfigError>(
        "{} offers no thread support (level {}); StickyInvoc needs at least MPI_THREAD_SERIALIZED",
        library(), provided);
  }
  const std::string_view n_tasks = environment("SLURM_STEP_NUM_TASKS");
  if (size_ == 1 && !n_tasks.empty() && n_tasks != "1" &&
      environment("OMPI_COMM_WORLD_SIZE").empty()) {
    fail<ConfigError>(
        "Slurm started {} tasks, but each sees an MPI world of its own: {} does not speak this "
        "step's PMI. Try srun --mpi=pmix (srun --mpi=list shows what there is)",
        n_tasks, library());
  }
}

MpiSession::~MpiSession() {
  if (!is_finished_) end_process(1);
}

std::string MpiSession::library() const {
  return library_version();
}

std::string MpiSession::capability() const {
  const Capability can = capability_of(library_version());
  const std::string why_not = why_no_spawn();
  if (size_ == 1 && !why_not.empty())
    return can.name + ": one rank, coordinator and worker in one process";
  const bool is_survivor = can.can_survive_loss && has_recovery();
  std::string loss = "a lost worker may end the job";
  if (is_survivor)
    loss = "lost workers are survived";
  else if (can.can_survive_loss)
    loss += fmt::format(" (mpirun {} is not on)", can.survival_flag);
  return fmt::format("{}: {}; {}; {}", can.name, counted(size_ - 1, "worker"),
                     why_not.empty() ? "more can be started while they serve"
                                     : "their number is fixed: " + why_not,
                     loss);
}

MpiSession::Hub MpiSession::open_hub(SpawnOptions options) {
  auto transport = std::make_unique<MpiTransport>(protocol::PeerId{1});
  for (int rank = 1; rank < size_; ++rank)
    (void)transport->link(MPI_COMM_WORLD, rank, size_);
  const Capability can = capability_of(library_version());
  if (!can.can_spawn_on_hosts) {
    options.why_out_of_reach = [name = can.name](const std::string&) {
      return fmt::format("{} starts workers on the coordinator's own host only", name);
    };
  }
  auto spawner = std::make_unique<MpiSpawner>(*transport, std::move(options), free_slots(size_),
                                              why_no_spawn());
  return {std::move(transport), std::move(spawner)};
}

std::unique_ptr<protocol::Transport> MpiSession::open_worker() {
  auto transport = std::make_unique<MpiTransport>(protocol::kCoordinator);
  MPI_Comm comm = MPI_COMM_WORLD;
  if (is_spawned_) MPI_Comm_get_parent(&comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  (void)transport->link(comm, 0, 1);
  return transport;
}

std::string MpiSession::why_no_spawn() const {
  const Capability can = capability_of(library_version());
  if (!can.can_spawn)
    return fmt::format("{} carries a fixed number of workers here; Open MPI 4.1 can start more",
                       can.name);
  if (environment("OMPI_COMM_WORLD_SIZE").empty())
    return "this launch is not mpirun's: only mpirun can start more workers";
  if (!has_recovery())
    return fmt::format("mpirun was started without {}: a worker that leaves would end the job",
                       can.survival_flag);
  if (thread_level_ < MPI_THREAD_MULTIPLE)
    return fmt::format("{} was built without MPI_THREAD_MULTIPLE", can.name);
  return {};
}

void MpiSession::finish(bool may_finalize, int exit_code) {
  STICKY_CHECK(!is_finished_);
  if (!may_finalize) {
    if (is_spawned_ || rank_ > 0) hang_up_on_launcher();
    end_process(exit_code);
  }
  is_finished_ = true;
  finalize_watched(exit_code);
}

bool is_under_launcher() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "PMI_SIZE"})
    if (!environment(name).empty()) return true;
  return false;
}

}  // namespace sticky::comm
