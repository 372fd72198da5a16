#include "mpi_spawner.hpp"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <mpi.h>

#include "sticky/base/clock.hpp"

#include "mpi_error.hpp"

namespace sticky::comm {

namespace {

using protocol::PeerId;
using protocol::Spawned;
using protocol::SpawnOrder;

// A spawn during which any process of the job ends may never return (Open MPI 4.1.4: half of them
// when the end falls 10 to 30 ms behind the begin); those after it work. More than a few are no
// accident.
constexpr i64 kMostStuck = 3;

// Both keys are needed for a host: the first makes it known, the second chooses it.
MPI_Info info_for(const SpawnOrder& order) {
  MPI_Info info = MPI_INFO_NULL;
  if (order.host.empty()) return info;
  MPI_Info_create(&info);
  const std::string host =
      order.n_slots > 0 ? fmt::format("{}:{}", order.host, order.n_slots) : order.host;
  MPI_Info_set(info, "add-host", host.c_str());
  MPI_Info_set(info, "host", order.host.c_str());
  return info;
}

// The communicator with the newcomer, or why there is none. Blocks for as long as MPI does.
std::pair<MPI_Comm, std::string> spawn(const SpawnOptions& options, const SpawnOrder& order) {
  if (!order.host.empty() && options.why_out_of_reach) {
    std::string why = options.why_out_of_reach(order.host);
    if (!why.empty()) return {MPI_COMM_NULL, std::move(why)};
  }
  std::vector<std::string> words = options.arguments(order);
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (std::string& word : words)
    argv.push_back(word.data());
  argv.push_back(nullptr);
  MPI_Info info = info_for(order);
  MPI_Comm comm = MPI_COMM_NULL;
  int process_error = MPI_SUCCESS;
  const int error = MPI_Comm_spawn(options.program.c_str(), argv.data(), 1, info, 0, MPI_COMM_SELF,
                                   &comm, &process_error);
  if (info != MPI_INFO_NULL) MPI_Info_free(&info);
  if (error != MPI_SUCCESS) return {MPI_COMM_NULL, text_of(error)};
  if (process_error != MPI_SUCCESS) return {MPI_COMM_NULL, text_of(process_error)};
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  return {comm, ""};
}

}  // namespace

struct MpiSpawner::Shared {
  std::mutex mutex;
  std::condition_variable changed;
  MpiTransport* transport = nullptr;  // null: nobody waits for newcomers any more
  SpawnOptions options;
  Duration timeout = std::chrono::seconds(10);
  i64 n_free_slots = -1;
  std::string why_not;
  i64 n_stuck = 0;  // threads that were given up; only the one numbered so works
  std::deque<SpawnOrder> orders;
  std::optional<SpawnOrder> running;
  std::chrono::steady_clock::time_point running_since;
  std::vector<Spawned> ended;
  std::set<i64> newcomers;  // peers that take a slot
  i64 n_linked = 0;

  void end(SpawnOrder order, std::string failure) {
    if (n_free_slots >= 0) ++n_free_slots;
    ended.push_back({std::move(order), {}, std::move(failure)});
  }
};

MpiSpawner::MpiSpawner(MpiTransport& transport,
                       SpawnOptions options,
                       i64 n_free_slots,
                       std::string why_not)
    : shared_(std::make_shared<Shared>()) {
  shared_->transport = &transport;
  shared_->options = std::move(options);
  shared_->n_free_slots = n_free_slots;
  shared_->why_not = std::move(why_not);
  if (shared_->why_not.empty()) thread_ = std::thread([shared = shared_] { work(shared, 0); });
}

MpiSpawner::~MpiSpawner() {
  bool is_stuck = false;
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->transport = nullptr;
    is_stuck = shared_->running.has_value();
  }
  shared_->changed.notify_all();
  if (!thread_.joinable()) return;
  if (is_stuck)
    thread_.detach();
  else
    thread_.join();
}

void MpiSpawner::work(const std::shared_ptr<Shared>& shared, i64 number) {
  std::unique_lock lock(shared->mutex);
  const auto is_over = [&] { return shared->transport == nullptr || shared->n_stuck != number; };
  for (;;) {
    shared->changed.wait(lock, [&] { return is_over() || !shared->orders.empty(); });
    if (is_over()) return;
    SpawnOrder order = std::move(shared->orders.front());
    shared->orders.pop_front();
    shared->running = order;
    shared->running_since = std::chrono::steady_clock::now();
    lock.unlock();
    auto [comm, failure] = spawn(shared->options, order);
    lock.lock();
    // Given up meanwhile: nobody will welcome the newcomer, and its alarm ends it.
    if (is_over()) return;
    shared->running.reset();
    if (!failure.empty()) {
      shared->end(std::move(order), std::move(failure));
      continue;
    }
    const PeerId peer = shared->transport->link(comm, 0, ++shared->n_linked);
    shared->newcomers.insert(peer.value);
    shared->ended.push_back({std::move(order), peer, ""});
  }
}

// The process of that spawn may be half started; the thread may never return. Another one does the
// next orders.
void MpiSpawner::give_up_stuck() {
  const Duration limit = shared_->timeout;
  if (!shared_->running || std::chrono::steady_clock::now() - shared_->running_since < limit)
    return;
  ++shared_->n_stuck;
  thread_.detach();
  std::string failure = fmt::format("a spawn has not returned after {:.0f} s",
                                    std::chrono::duration<double>(limit).count());
  if (shared_->n_stuck == kMostStuck) {
    failure += fmt::format(", the {}rd one: no other is tried", kMostStuck);
    shared_->why_not = failure;
    for (SpawnOrder& order : std::exchange(shared_->orders, {}))
      shared_->end(std::move(order), failure);
  } else {
    thread_ = std::thread([shared = shared_, number = shared_->n_stuck] { work(shared, number); });
  }
  shared_->end(*std::exchange(shared_->running, std::nullopt), std::move(failure));
}

std::string MpiSpawner::why_not() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->why_not;
}

void MpiSpawner::set_timeout(Duration timeout) {
  const std::lock_guard lock(shared_->mutex);
  shared_->timeout = timeout;
}

void MpiSpawner::start(SpawnOrder order) {
  const std::lock_guard lock(shared_->mutex);
  if (!shared_->why_not.empty()) {
    shared_->ended.push_back({std::move(order), {}, shared_->why_not});
    return;
  }
  if (shared_->n_free_slots >= 0) {
    if (!order.host.empty()) shared_->n_free_slots += std::max<i64>(order.n_slots, 1);
    if (shared_->n_free_slots == 0) {
      shared_->ended.push_back(
          {std::move(order),
           {},
           "all slots of the launch are taken (mpirun --oversubscribe lifts this)"});
      return;
    }
    --shared_->n_free_slots;
  }
  shared_->orders.push_back(std::move(order));
  shared_->changed.notify_all();
}

std::vector<Spawned> MpiSpawner::ended() {
  const std::lock_guard lock(shared_->mutex);
  give_up_stuck();
  return std::exchange(shared_->ended, {});
}

void MpiSpawner::free_slot_of(PeerId peer) {
  const std::lock_guard lock(shared_->mutex);
  if (shared_->newcomers.erase(peer.value) > 0 && shared_->n_free_slots >= 0)
    ++shared_->n_free_slots;
}

i64 MpiSpawner::n_free_slots() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->n_free_slots;
}

}  // namespace sticky::comm
