#pragma once

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "sticky/comm/spawn_options.hpp"
#include "sticky/protocol/spawner.hpp"

#include "mpi_transport.hpp"

namespace sticky::comm {

/// MPI_Comm_spawn of single processes over MPI_COMM_SELF, on a thread of its own, so that each
/// newcomer can leave alone and dispatch goes on meanwhile (needs MPI_THREAD_MULTIPLE). A spawn
/// that takes longer than the limit has failed: its thread is left to the end of the process, and
/// another one does the next orders. After the third nothing is spawned any more.
///
/// Open MPI 4.1 ends no job whose spawn found too few slots, so slots are counted beforehand
/// (`n_free_slots`; negative: they do not matter, because oversubscription is allowed).
class MpiSpawner final : public protocol::Spawner {
 public:
  /// `transport` outlives the spawner. `why_not`: nothing can be spawned, from the beginning.
  MpiSpawner(MpiTransport& transport, SpawnOptions options, i64 n_free_slots, std::string why_not);
  ~MpiSpawner() override;

  [[nodiscard]] std::string why_not() const override;
  void set_timeout(Duration timeout) override;
  void start(protocol::SpawnOrder order) override;
  [[nodiscard]] std::vector<protocol::Spawned> ended() override;
  void free_slot_of(protocol::PeerId peer) override;
  [[nodiscard]] i64 n_free_slots() const override;

 private:
  // Shared with the threads, for one may be stuck in a spawn when the spawner goes.
  struct Shared;
  static void work(const std::shared_ptr<Shared>& shared, i64 number);
  void give_up_stuck();

  std::shared_ptr<Shared> shared_;
  std::thread thread_;
};

}  // namespace sticky::comm
