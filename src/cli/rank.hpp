#pragma once

#include <string>

#include "sticky/config/load.hpp"
#include "sticky/io/resume.hpp"
#include "sticky/io/run_folder.hpp"

#include "commands.hpp"

namespace sticky::cli {

/// What one rank of a launch is to do. Only rank 0 looks at more than its rank.
struct RankJob {
  config::Sources sources = {};
  io::RunFolder::Mode mode = io::RunFolder::Mode::create;
  std::string resumed_dir =
      {};  ///< of `resume`, absolute: configuration and working directory come from it
  io::ResumeOptions retry = {};
  bool prints_progress = true;
};

/// The configuration of a job that goes on in `job.resumed_dir`, and the working directory that its
/// paths are relative to, which becomes this process's.
[[nodiscard]] config::Loaded load_resumed(const RankJob& job);

/// This process's whole life under MPI: coordinator on rank 0, worker elsewhere, both when it is
/// alone. Gives the exit code, or ends the process itself where MPI forbids a return.
[[nodiscard]] int run_rank(const Invoked& invoked, const RankJob& job);

/// The whole life of a process that MPI_Comm_spawn started: a worker. Hidden from users.
struct WorkerFlags {
  i64 place = 0;              ///< its number among the workers of this host
  i64 n_workers = 1;          ///< how many these are
  bool is_elsewhere = false;  ///< the coordinator is on another host
};
[[nodiscard]] int run_spawned(const Invoked& invoked, const WorkerFlags& flags);

}  // namespace sticky::cli
