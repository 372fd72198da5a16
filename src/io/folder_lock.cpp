#include "folder_lock.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "sticky/base/error.hpp"
#include "sticky/base/hash.hpp"
#include "sticky/base/json.hpp"
#include "sticky/base/regular_file.hpp"

namespace sticky::io {

namespace {

constexpr i64 kFreshSeconds = 60;

i64 unix_seconds() {
  using namespace std::chrono;
  return duration_cast<seconds>(system_clock::now().time_since_epoch()).count();
}

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "unknown";
  return name.data();
}

std::string read_or_empty(const std::string& path) {
  try {
    std::string text = read_regular_file(path);
    while (text.ends_with('\n'))
      text.pop_back();
    return text;
  } catch (const SystemError&) {
    return {};
  }
}

// proc(5): field 22 of /proc/PID/stat; 0 when there is no such process, or only what is left of one
// until its parent asks for it (states Z and X). The name in field 2 may hold blanks and brackets,
// so counting starts behind its last bracket.
i64 start_ticks_of(i64 pid) {
  constexpr int kFieldsBetween = 18;  // fields 4 to 21
  const std::string stat = read_or_empty(fmt::format("/proc/{}/stat", pid));
  const auto bracket = stat.rfind(')');
  if (bracket == std::string::npos) return 0;
  std::istringstream fields(stat.substr(bracket + 1));
  std::string state;
  fields >> state;
  if (state == "Z" || state == "X") return 0;
  std::string skipped;
  for (int i = 0; i < kFieldsBetween; ++i)
    fields >> skipped;
  i64 ticks = 0;
  fields >> ticks;
  return ticks;
}

std::string pid_namespace() {
  std::array<char, 64> target{};
  const auto n = ::readlink("/proc/self/ns/pid", target.data(), target.size());
  return n > 0 ? std::string(target.data(), static_cast<std::size_t>(n)) : std::string();
}

std::string batch_job() {
  for (const char* name : {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID"})
    if (const char* value = std::getenv(name); value != nullptr) return value;
  return {};
}

std::string text_of(const Json& json, std::string_view name) {
  const Json* value = json.find(name);
  return value != nullptr && value->is_string() ? value->as_string() : std::string();
}

i64 integer_of(const Json& json, std::string_view name) {
  const Json* value = json.find(name);
  return value != nullptr && value->is_integer() ? value->as_integer() : 0;
}

// A lock whose text cannot be read: it is being written just now, or its writer died in between.
// Then the file's own time is its beat.
LockHolder holder_at(const std::string& path) {
  if (auto holder = LockHolder::from_json(read_or_empty(path))) return *holder;
  struct stat status {};
  LockHolder unknown;
  unknown.host = "unknown";
  if (::stat(path.c_str(), &status) == 0) unknown.beat = status.st_mtim.tv_sec;
  return unknown;
}

[[noreturn]] void fail_in_use(const std::string& path, const LockHolder& holder, i64 now) {
  const std::string job = holder.job.empty() ? "" : fmt::format(", job {}", holder.job);
  fail<ConfigError>(
      "{}: the run folder is in use by process {} on host {}{} (last beat {} s ago); if that one "
      "is gone for sure, remove this file",
      path, holder.pid, holder.host, job, now - holder.beat);
}

}  // namespace

std::string LockHolder::to_json() const {
  return Json::object({{"token", token},
                       {"job", job},
                       {"host", host},
                       {"pid", pid},
                       {"start_ticks", start_ticks},
                       {"boot_id", boot_id},
                       {"pid_namespace", pid_namespace},
                       {"beat", beat}})
             .dump() +
         "\n";
}

std::optional<LockHolder> LockHolder::from_json(std::string_view text) {
  try {
    const Json json = Json::parse(text);
    LockHolder holder{.token = text_of(json, "token"),
                      .job = text_of(json, "job"),
                      .host = text_of(json, "host"),
                      .pid = integer_of(json, "pid"),
                      .start_ticks = integer_of(json, "start_ticks"),
                      .boot_id = text_of(json, "boot_id"),
                      .pid_namespace = text_of(json, "pid_namespace"),
                      .beat = integer_of(json, "beat")};
    if (holder.token.empty() || holder.pid <= 0) return std::nullopt;
    return holder;
  } catch (const FormatError&) {
    return std::nullopt;
  }
}

LockHolder LockHolder::self() {
  LockHolder holder{.token = {},
                    .job = batch_job(),
                    .host = host_name(),
                    .pid = ::getpid(),
                    .start_ticks = start_ticks_of(::getpid()),
                    .boot_id = read_or_empty("/proc/sys/kernel/random/boot_id"),
                    .pid_namespace = io::pid_namespace(),
                    .beat = unix_seconds()};
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  holder.token = hash128(fmt::format("{} {}", holder.to_json(), now.count())).hex();
  return holder;
}

Liveness liveness_of(const LockHolder& holder) {
  const LockHolder here = LockHolder::self();
  const bool is_visible = holder.host == here.host && holder.boot_id == here.boot_id &&
                          holder.pid_namespace == here.pid_namespace && !here.boot_id.empty();
  if (!is_visible) return Liveness::unseen;
  return start_ticks_of(holder.pid) == holder.start_ticks ? Liveness::alive : Liveness::dead;
}

bool is_stale(const LockHolder& holder, Liveness liveness, i64 now) {
  if (liveness != Liveness::unseen) return liveness == Liveness::dead;
  return now - holder.beat >= kFreshSeconds;
}

FolderLock::FolderLock(std::string path) : path_(std::move(path)), self_(LockHolder::self()) {
  constexpr int kTries = 10;  // each lost try means that another taker was quicker
  for (int i = 0; i < kTries; ++i) {
    if (try_make()) return;
    remove_stale();
  }
  fail<ConfigError>("{}: others keep taking the run folder's lock", path_);
}

FolderLock::~FolderLock() {
  if (is_held()) ::unlink(path_.c_str());
}

bool FolderLock::try_make() {
  try {
    file_.emplace(File::open(path_, O_WRONLY | O_CREAT | O_EXCL));
  } catch (const SystemError&) {
    if (exists(path_)) return false;
    throw;
  }
  try {
    file_->write(self_.to_json());
    file_->sync();
  } catch (const SystemError&) {
    ::unlink(path_.c_str());
    throw;
  }
  return true;
}

void FolderLock::remove_stale() {
  const LockHolder holder = holder_at(path_);
  const i64 now = unix_seconds();
  if (!exists(path_)) return;
  if (!is_stale(holder, liveness_of(holder), now)) fail_in_use(path_, holder, now);
  const std::string aside = path_ + ".stale." + self_.token;
  if (std::rename(path_.c_str(), aside.c_str()) != 0) return;  // another taker was quicker
  const LockHolder moved = holder_at(aside);
  if (moved.token != holder.token) {
    // Another taker's new lock was caught: back with it. If a third one has made its lock since,
    // the caught one finds that at its next beat.
    (void)::link(aside.c_str(), path_.c_str());
  }
  ::unlink(aside.c_str());
}

bool FolderLock::is_held() const {
  try {
    const auto holder = LockHolder::from_json(read_regular_file(path_));
    return holder && holder->token == self_.token;
  } catch (const SystemError&) {
    return exists(path_);  // a file that is there and cannot be read just now has not changed hands
  }
}

bool FolderLock::beat() {
  if (!is_held()) return false;
  self_.beat = unix_seconds();
  // In place, through the file that was made: if the name belongs to another by now, that one is
  // not touched. The text keeps its length (ten digits until 2286), so one write replaces it. A
  // beat that fails makes the lock look old, no more: whoever takes it is seen at the next one.
  const std::string text = self_.to_json();
  const auto ignored = ::pwrite(file_->fd(), text.data(), text.size(), 0);
  (void)ignored;
  return true;
}

}  // namespace sticky::io
