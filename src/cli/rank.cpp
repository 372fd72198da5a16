#include "rank.hpp"

#include <csignal>
#include <filesystem>
#include <functional>
#include <unistd.h>

#include <fmt/format.h>

#include "sticky/base/error.hpp"
#include "sticky/base/standard_streams.hpp"
#include "sticky/comm/mpi_session.hpp"

#include "json_fields.hpp"
#include "local_place.hpp"
#include "run_files.hpp"
#include "signals.hpp"
#include "wiring.hpp"

namespace sticky::cli {
namespace {

constexpr int kFatal = 5;
constexpr unsigned kWelcomeSeconds = 60;

// MPI from its beginning to its end, around the life of this rank.
int live(const Invoked& invoked,
         const std::function<RankEnd(comm::MpiSession&, SignalQueue&)>& life) {
  // A file at its size limit, or words whose reader is gone: an error of write(), no death.
  std::signal(SIGXFSZ, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
  // Before MPI, whose threads inherit what is blocked.
  SignalQueue signals({SIGUSR1, SIGTERM, SIGINT});
  int argc = invoked.argc;
  char** argv = invoked.argv;
  comm::MpiSession session(&argc, &argv);
  RankEnd end;
  try {
    end = life(session, signals);
  } catch (const std::exception& error) {
    // Said here: what unwinds through the session ends the process without a word.
    tell("rank {}: {}\n", session.rank(), error.what());
    end = {.exit_code = kFatal, .may_finalize = false};
  }
  session.finish(end.may_finalize, end.exit_code);
  return end.exit_code;
}

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
  return live(invoked, [&](comm::MpiSession& session, SignalQueue& signals) {
    if (session.rank() != 0) return live_as_worker(session, signals, local_place(session.rank()));
    const bool is_alone = session.size() == 1 && !session.why_no_spawn().empty();
    return is_alone ? live_alone(job, session, signals)
                    : live_as_coordinator(job, session, signals);
  });
}

int run_spawned(const Invoked& invoked, const WorkerFlags& flags) {
  // Until somebody welcomes it: the coordinator may be gone, or may have given the spawn up.
  alarm(kWelcomeSeconds);
  return live(invoked, [&](comm::MpiSession& session, SignalQueue& signals) -> RankEnd {
    if (!session.is_spawned()) fail<ConfigError>("this command is started by a coordinator only");
    const i64 n_before = flags.is_elsewhere ? 0 : 1;
    topology::LocalPlace place = local_place(session.rank());
    place.local_rank = flags.place + n_before;
    place.n_local = flags.n_workers + n_before;
    place.has_coordinator = !flags.is_elsewhere;
    place.is_coordinator = false;
    return live_as_worker(session, signals, place, [] { alarm(0); });
  });
}

}  // namespace sticky::cli
