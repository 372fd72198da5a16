#pragma once

#include <string>
#include <vector>

#include "sticky/protocol/transport.hpp"

namespace sticky::protocol {

/// Where one more worker is to run.
struct SpawnOrder {
  std::string host;   ///< empty: on this host
  i64 n_slots = 0;    ///< of a host that the launch does not know yet; 0: as many as are needed
  i64 place = 0;      ///< its number among the workers of that host, from 0 …
  i64 n_workers = 1;  ///< … and how many these are with it: it takes its share of the CPUs
  bool operator==(const SpawnOrder&) const = default;
};

/// What became of an order.
struct Spawned {
  SpawnOrder order;
  PeerId peer;  ///< the newcomer, linked: its Hello comes next. Without meaning when it failed
  std::string failure;  ///< a sentence; empty: it is here
};

/// Starts workers while the run goes on. Never waits; one thread uses it.
class Spawner {
 public:
  Spawner() = default;
  Spawner(const Spawner&) = delete;
  Spawner& operator=(const Spawner&) = delete;
  virtual ~Spawner() = default;

  /// Why no worker can be started (any more); empty while one can.
  [[nodiscard]] virtual std::string why_not() const = 0;
  /// How long a spawn may take; one that takes longer has failed. 10 s unless told otherwise.
  virtual void set_timeout(Duration timeout) = 0;
  /// Queues an order. Orders are carried out one after another.
  virtual void start(SpawnOrder order) = 0;
  /// The orders that came to an end since the last call.
  [[nodiscard]] virtual std::vector<Spawned> ended() = 0;
  /// The process of a newcomer has ended: its slot is free again.
  virtual void free_slot_of(PeerId peer) = 0;
  /// How many workers still fit into the launch; negative: that is no question here.
  [[nodiscard]] virtual i64 n_free_slots() const = 0;
};

}  // namespace sticky::protocol
