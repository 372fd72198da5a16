#pragma once

#include <string>

#include "sticky/base/types.hpp"
#include "sticky/coordinator/options.hpp"
#include "sticky/io/options.hpp"
#include "sticky/malleability/options.hpp"
#include "sticky/worker/options.hpp"

namespace sticky::config {

/// What belongs to a launch as a whole and to no room.
struct RunOptions {
  std::string policy = "sticky";  ///< what a worker keeps between tasks
  i64 n_workers = 0;              ///< 0: one on the CPU. Only the launcher form of `run` asks
  std::string launcher = "mpirun";
  std::string share = "each";                ///< each | chain, which so far does as "each"
  std::string sampling_defaults = "openai";  ///< openai | model: its generation_config.json
  double time_limit_seconds = -1.0;  ///< -1: the allocation's end, where there is one; 0: none
};

/// Everything that a user can set, as each room wants it. rows.cpp maps the keys of a job file to
/// these fields; nothing here has a default of its own.
struct Config {
  std::string job = "run";  ///< name of the job: the job file's without its ending
  io::InputOptions input;
  io::OutputOptions output;
  worker::Options worker;
  coordinator::Options coordinator;
  malleability::Options resize;
  RunOptions run;
};

}  // namespace sticky::config
