#pragma once

#include <functional>
#include <optional>
#include <string>

#include "sticky/config/load.hpp"
#include "sticky/io/resume.hpp"

namespace sticky::cli {

/// An earlier run of a folder that leaves nothing to do.
struct Finished {
  int exit_code = 0;
  std::string text;  ///< a line that says so
};

/// Whether the run in this folder is finished: its summary says so, nobody is at work there, each
/// line of the input as it is now has its record (io::is_all_done), and the configuration asks for
/// nothing else that is done to a whole run. Reads only. `on_line` is called before each line of
/// input, and may throw.
[[nodiscard]] std::optional<Finished> finished_run(
    const std::string& run_dir,
    const config::Loaded& loaded,
    const io::ResumeOptions& retry,
    const std::function<void()>& on_line = [] {});

}  // namespace sticky::cli
