#pragma once

#include <memory>
#include <string>

#include "sticky/base/types.hpp"
#include "sticky/comm/spawn_options.hpp"
#include "sticky/protocol/spawner.hpp"
#include "sticky/protocol/transport.hpp"

namespace sticky::comm {

/// MPI in this process, from MPI_Init_thread to its end. At most one in a process.
class MpiSession {
 public:
  /// ConfigError when this MPI cannot be called from several threads one at a time, or when Slurm
  /// started several tasks and each sees a world of its own (wrong --mpi type). Where a rank dies
  /// before all have met, MPI_Init would wait for ever: the process then says so and ends with 5,
  /// seconds after a death on this node, minutes after one elsewhere.
  MpiSession(int* argc, char*** argv);
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;
  /// After finish() nothing is left to do; without it the process ends as finish(false, 1) does.
  ~MpiSession();

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }
  [[nodiscard]] std::string library() const;     ///< as the library names itself, one line
  [[nodiscard]] std::string capability() const;  ///< what this MPI can carry here, and why
  /// Whether this process was started by MPI_Comm_spawn: a worker, though it is rank 0 of a world
  /// of its own.
  [[nodiscard]] bool is_spawned() const { return is_spawned_; }

  /// Why this launch cannot start more workers; empty when it can.
  [[nodiscard]] std::string why_no_spawn() const;

  /// The coordinator's end: the other ranks of the world as peers, numbered by rank, and what is
  /// spawned later. Once in a session, and gone before it.
  struct Hub {
    std::unique_ptr<protocol::Transport> transport;
    std::unique_ptr<protocol::Spawner> spawner;  ///< never null; gone before the transport
  };
  [[nodiscard]] Hub open_hub(SpawnOptions options);
  /// A worker's end, of the world or spawned: its only peer is the coordinator. As above.
  [[nodiscard]] std::unique_ptr<protocol::Transport> open_worker();

  /// The end of this process's MPI. With `may_finalize` MPI_Finalize, watched: if it has not
  /// returned after 10 s (a rank died meanwhile) the process ends with `exit_code`. Else flushes
  /// the standard streams and ends the process with `exit_code` right here, for MPI_Finalize would
  /// wait for a lost rank for ever.
  void finish(bool may_finalize, int exit_code);

 private:
  int rank_ = 0;
  int size_ = 1;
  int thread_level_ = 0;
  bool is_spawned_ = false;
  bool is_finished_ = false;
};

/// Whether this process was started by an MPI launcher (mpirun, srun --mpi=…), judged by the
/// environment: before MPI_Init.
[[nodiscard]] bool is_under_launcher();

}  // namespace sticky::comm
