#include "lock_view.hpp"

#include <ctime>
#include <filesystem>
#include <fstream>

#include "sticky/comm/local_processes.hpp"
#include "sticky/comm/proc.hpp"

#include "json_fields.hpp"
#include "run_files.hpp"

namespace sticky::cli {
namespace {

constexpr i64 kFreshSeconds = 60;  // as io::RunFolder judges a beat

std::string boot_id() {
  std::ifstream in("/proc/sys/kernel/random/boot_id");
  std::string id;
  in >> id;
  return id;
}

std::string pid_namespace() {
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/ns/pid", ignored).string();
}

}  // namespace

std::optional<LockView> lock_of(const std::string& run_dir) {
  const auto json = read_lock(run_dir);
  if (!json) return std::nullopt;
  LockView lock{.token = text_at(*json, "token"),
                .host = text_at(*json, "host"),
                .pid = static_cast<pid_t>(integer_at(*json, "pid")),
                .start_ticks = integer_at(*json, "start_ticks")};
  lock.is_local = lock.host == comm::this_process().host &&
                  text_at(*json, "boot_id") == boot_id() &&
                  text_at(*json, "pid_namespace") == pid_namespace();
  const i64 now = std::time(nullptr);
  lock.is_in_use =
      lock.is_local ? is_holder_alive(lock) : now - integer_at(*json, "beat") < kFreshSeconds;
  return lock;
}

bool is_holder_alive(const LockView& lock) {
  const auto stat = comm::stat_of(lock.pid);
  return stat && stat->start_ticks == lock.start_ticks && !stat->has_ended;
}

}  // namespace sticky::cli
