#pragma once

#include <string>
#include <vector>

#include "sticky/base/types.hpp"

// What each command was asked for, as command_line.cpp reads it, and the commands themselves. Each
// gives the process's exit code; an exception is translated by run_app().
namespace sticky::cli {

/// The process's own command line, for the commands that start themselves again under MPI.
struct Invoked {
  int argc = 0;
  char** argv = nullptr;
};

/// What a job is: run, check, render.
struct JobFlags {
  std::string job_file;
  std::vector<std::string> inputs;
  std::string model;
  std::vector<std::string> sets;
};

/// How ranks are started: run, resume, check.
struct LaunchFlags {
  i64 n_workers = 0;  ///< 0: not given
  std::string launcher;
  bool is_print_only = false;  ///< --print-launch
  bool is_quiet = false;       ///< --no-progress
};

struct RunFlags {
  JobFlags job;
  LaunchFlags launch;
  std::string run_dir;
  bool is_resume = false;
  std::string prompt;
};
[[nodiscard]] int run(const Invoked& invoked, const RunFlags& flags);

inline constexpr const char* kRetryAll = "*";
struct ResumeFlags {
  std::string run_dir;
  std::string retry;  ///< empty: no; kRetryAll, or one code
  std::vector<std::string> sets;
  LaunchFlags launch;
};
[[nodiscard]] int resume(const Invoked& invoked, const ResumeFlags& flags);

struct CheckFlags {
  JobFlags job;
  LaunchFlags launch;
};
[[nodiscard]] int check(const CheckFlags& flags);

struct RenderFlags {
  JobFlags job;
  i64 line = 0;
  bool is_all = false;
  bool is_json = false;
};
[[nodiscard]] int render(const RenderFlags& flags);

[[nodiscard]] int inspect(const std::string& model);

struct StatusFlags {
  std::string run_dir;
  bool is_watching = false;
  bool gives_exit_code = false;
};
[[nodiscard]] int status(const StatusFlags& flags);

struct ResizeFlags {
  std::string run_dir;
  i64 n_workers = 0;                ///< 0: not given
  std::vector<std::string> adds;    ///< HOST or HOST:SLOTS
  std::vector<std::string> drains;  ///< HOST
};
[[nodiscard]] int resize(const ResizeFlags& flags);

}  // namespace sticky::cli
