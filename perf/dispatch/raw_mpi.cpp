// What plain MPI can do: the ceiling for a coordinator. Rank 0 hands out invocations of `bytes`,
// each worker answers `reply` bytes for each; no queue, no bookkeeping, nothing read or written.
//   raw_mpi requests=N batch=INVOCATIONS_A_MESSAGE window=MESSAGES_IN_FLIGHT_A_WORKER
// Prints one line "key value …". Checks that every invocation was answered, by the sum of numbers.
#include <algorithm>
#include <cstring>
#include <vector>

#include <fmt/format.h>
#include <mpi.h>

#include "sticky/base/check.hpp"

#include "perf/dispatch/arguments.hpp"
#include "perf/dispatch/usage.hpp"

namespace sticky::perf {
namespace {

struct Job {
  i64 n_requests = 0;
  i64 batch = 1;
  i64 window = 64;
  i64 n_bytes = 1024;
  i64 n_reply_bytes = 64;
};

constexpr int kStop = 0;
constexpr int kFirstTag = 1;  // a tag for each message in flight

void answer(const Job& job) {
  std::vector<char> in(static_cast<std::size_t>(job.batch * job.n_bytes));
  std::vector<char> out(static_cast<std::size_t>(job.batch * job.n_reply_bytes));
  for (;;) {
    MPI_Status status;
    int n_bytes = 0;
    MPI_Recv(in.data(), static_cast<int>(in.size()), MPI_BYTE, 0, MPI_ANY_TAG, MPI_COMM_WORLD,
             &status);
    if (status.MPI_TAG == kStop) return;
    MPI_Get_count(&status, MPI_BYTE, &n_bytes);
    const i64 n = n_bytes / job.n_bytes;
    for (i64 k = 0; k < n; ++k)
      std::memcpy(out.data() + k * job.n_reply_bytes, in.data() + k * job.n_bytes, sizeof k);
    MPI_Send(out.data(), static_cast<int>(n * job.n_reply_bytes), MPI_BYTE, 0, status.MPI_TAG,
             MPI_COMM_WORLD);
  }
}

// Nothing blocks here, and the receive of an answer is posted before its work is sent: were both
// sides to send in blocking calls, each would wait for the other's receive as soon as messages
// exceed what the library buffers.
class Dispatcher {
 public:
  Dispatcher(const Job& job, int n_workers)
      : job_(job),
        n_workers_(n_workers),
        n_lanes_(static_cast<std::size_t>(job.window * n_workers)),
        out_(n_lanes_ * static_cast<std::size_t>(job.batch * job.n_bytes)),
        in_(n_lanes_ * static_cast<std::size_t>(job.batch * job.n_reply_bytes)),
        sends_(n_lanes_, MPI_REQUEST_NULL),
        receives_(n_lanes_, MPI_REQUEST_NULL) {}

  void run() {
    std::vector<int> done(n_lanes_);
    std::vector<MPI_Status> statuses(n_lanes_);
    for (std::size_t lane = 0; lane < n_lanes_; ++lane)
      send(lane);
    while (n_answered_ < job_.n_requests) {
      int n_done = 0;
      MPI_Waitsome(static_cast<int>(n_lanes_), receives_.data(), &n_done, done.data(),
                   statuses.data());
      for (int k = 0; k < n_done; ++k) {
        const auto lane = static_cast<std::size_t>(done[static_cast<std::size_t>(k)]);
        take_answer(lane, statuses[static_cast<std::size_t>(k)]);
        send(lane);
      }
    }
    MPI_Waitall(static_cast<int>(n_lanes_), sends_.data(), MPI_STATUSES_IGNORE);
    STICKY_CHECK(sum_ == job_.n_requests * (job_.n_requests - 1) / 2);
  }

 private:
  char* out_of(std::size_t lane) { return out_.data() + lane * out_.size() / n_lanes_; }
  char* in_of(std::size_t lane) { return in_.data() + lane * in_.size() / n_lanes_; }

  void send(std::size_t lane) {
    const i64 n = std::min(job_.batch, job_.n_requests - n_sent_);
    if (n <= 0) return;
    MPI_Wait(&sends_[lane], MPI_STATUS_IGNORE);
    for (i64 k = 0; k < n; ++k, ++n_sent_)
      std::memcpy(out_of(lane) + k * job_.n_bytes, &n_sent_, sizeof n_sent_);
    const int worker = 1 + static_cast<int>(lane % static_cast<std::size_t>(n_workers_));
    const int tag = kFirstTag + static_cast<int>(lane);
    MPI_Irecv(in_of(lane), static_cast<int>(job_.batch * job_.n_reply_bytes), MPI_BYTE, worker, tag,
              MPI_COMM_WORLD, &receives_[lane]);
    MPI_Isend(out_of(lane), static_cast<int>(n * job_.n_bytes), MPI_BYTE, worker, tag,
              MPI_COMM_WORLD, &sends_[lane]);
  }

  void take_answer(std::size_t lane, const MPI_Status& status) {
    int n_bytes = 0;
    MPI_Get_count(&status, MPI_BYTE, &n_bytes);
    const i64 n = n_bytes / job_.n_reply_bytes;
    for (i64 k = 0; k < n; ++k) {
      i64 id = 0;
      std::memcpy(&id, in_of(lane) + k * job_.n_reply_bytes, sizeof id);
      sum_ += id;
    }
    n_answered_ += n;
  }

  Job job_;
  int n_workers_;
  std::size_t n_lanes_;  // messages in flight
  std::vector<char> out_, in_;
  std::vector<MPI_Request> sends_, receives_;
  i64 n_sent_ = 0;
  i64 n_answered_ = 0;
  i64 sum_ = 0;
};

void run(const Job& job) {
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank > 0) {
    answer(job);
    return;
  }
  const Usage before = usage();
  Dispatcher(job, size - 1).run();
  const Usage used = usage() - before;
  for (int worker = 1; worker < size; ++worker)
    MPI_Send(nullptr, 0, MPI_BYTE, worker, kStop, MPI_COMM_WORLD);
  const auto n = static_cast<double>(job.n_requests);
  fmt::print("requests {} rate {:.0f} cpu_us {:.4f}\n", job.n_requests, n / used.wall_seconds,
             1e6 * used.cpu_seconds / n);
}

}  // namespace
}  // namespace sticky::perf

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  sticky::perf::Arguments arguments(argc, argv);
  const sticky::perf::Job job{.n_requests = arguments.number("requests", 100'000),
                              .batch = arguments.number("batch", 1),
                              .window = arguments.number("window", 64),
                              .n_bytes = arguments.number("bytes", 1024),
                              .n_reply_bytes = arguments.number("reply", 64)};
  arguments.expect_none_left();
  sticky::perf::run(job);
  MPI_Finalize();
  return 0;
}
