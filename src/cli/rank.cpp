#include "rank.hpp"

#include <csignal>
#include <filesystem>

#include <fmt/format.h>

#include "sticky/comm/mpi_session.hpp"

#include "json_fields.hpp"
#include "run_files.hpp"
#include "signals.hpp"
#include "wiring.hpp"

namespace sticky::cli {
namespace {

constexpr int kFatal = 5;

}  // namespace

config::Loaded load_resumed(const RankJob& job) {
  const auto stored = read_job(job.resumed_dir);
  const Json* effective = stored ? stored->find("config") : nullptr;
  if (effective == nullptr || !effective->is_object()) {
    config::Loaded loaded;
    loaded.problems.push_back(
        {job.resumed_dir, "holds no run that can be gone on with: job.json is missing or damaged"});
    return loaded;
  }
  std::error_code ignored;
  std::filesystem::current_path(text_at(*stored, "directory"), ignored);
  config::Sources sources = job.sources;
  sources.earlier = *effective;
  config::Loaded loaded = config::load(sources);
  loaded.config.job = text_at(*stored, "job");
  loaded.config.output.dir = job.resumed_dir;
  return loaded;
}

int run_rank(const Invoked& invoked, const RankJob& job) {
  std::signal(SIGXFSZ, SIG_IGN);  // a file at its size limit is an error of write(), no death
  // Before MPI, whose threads inherit what is blocked.
  SignalQueue signals({SIGUSR1, SIGTERM, SIGINT});
  int argc = invoked.argc;
  char** argv = invoked.argv;
  comm::MpiSession session(&argc, &argv);
  RankEnd end;
  try {
    if (session.rank() != 0)
      end = live_as_worker(session, signals);
    else if (session.size() == 1)
      end = live_alone(job, session, signals);
    else
      end = live_as_coordinator(job, session, signals);
  } catch (const std::exception& error) {
    // Said here: what unwinds through the session ends the process without a word.
    fmt::print(stderr, "rank {}: {}\n", session.rank(), error.what());
    end = {.exit_code = kFatal, .may_finalize = false};
  }
  session.finish(end.may_finalize, end.exit_code);
  return end.exit_code;
}

}  // namespace sticky::cli
