#pragma once

#include <string>
#include <vector>

#include "sticky/base/json.hpp"
#include "sticky/config/config.hpp"

namespace sticky::config {

/// A value given by a command-line flag of its own: {"--model", "state.*.model", "m.gguf"}. A `*`
/// in the key stands for the name of the only state.
struct Flag {
  std::string flag;
  std::string key;
  Json value;
};

/// Where values come from, lowest first: each overrules those before it.
struct Sources {
  std::string job_file = {};  ///< TOML; empty: none
  Json earlier = {};          ///< null, or what effective_json() gave for the run to be resumed
  std::vector<std::string> sets = {};  ///< --set: "a.b.c=VALUE"
  std::vector<Flag> flags = {};
  bool needs_input = true;
  bool needs_model = true;
};

/// One thing wrong, and where: "job.toml:7", "--set", "--model", or empty when something is
/// missing.
struct Problem {
  std::string origin;
  std::string text;
  bool operator==(const Problem&) const = default;
};

/// One key with the value that holds, written as in a job file.
struct Setting {
  std::string key;
  Json value;
  std::string origin;  ///< "default", "job.toml:7", "--set", "--model", …
};

struct Loaded {
  Config config;
  std::vector<Setting> settings;  ///< every key that has a value, in the order of the reference
  std::vector<Problem> problems;  ///< all of them; where there is one, config must not be used to
                                  ///< start anything
};

/// Reads and checks everything at once: keys (an unknown one is named with the nearest right one),
/// types, ranges, values that ask for what is not built yet, files that must exist. Paths are
/// relative to the current directory. Never throws for what a user can have got wrong.
[[nodiscard]] Loaded load(const Sources& sources);

/// "job.toml:7: sentence" a line, without a newline at the end.
[[nodiscard]] std::string to_text(const std::vector<Problem>& problems);

/// Throws ConfigError with to_text() when there are problems.
void throw_if_any(const std::vector<Problem>& problems);

/// {"input.files": {"value": […], "origin": "job.toml:3"}, …}: part of summary.json, and what a
/// resumed run starts from.
[[nodiscard]] Json effective_json(const Loaded& loaded);

}  // namespace sticky::config
