#include "sticky/config/load.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "sticky/base/error.hpp"
#include "sticky/malleability/idle_nodes.hpp"

#include "generation_config.hpp"
#include "nearest.hpp"
#include "rows.hpp"
#include "toml_file.hpp"

namespace sticky::config {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kAnyState = "state.*.";
constexpr std::string_view kDefaultState = "default";

// Under MPI only rank 0 has it, and it is kept for a resume: both hang on the name "-".
bool names_standard_input(std::string_view file) {
  return file == "/dev/stdin" || file == "/dev/fd/0" || file == "/proc/self/fd/0";
}

// Gathers entries of all sources, in rising precedence, into one Loaded.
class Loader {
 public:
  void add_file(const std::string& path) {
    loaded_.config.job = fs::path(path).stem().string();
    for (Entry& entry : read_toml(path, loaded_.problems))
      add(std::move(entry));
  }

  void add_earlier(const Json& effective) {
    for (const auto& [key, member] : effective.as_object()) {
      const Json* value = member.find("value");
      const Json* origin = member.find("origin");
      if (value == nullptr || origin == nullptr || !origin->is_string()) {
        report("", fmt::format("the run's stored configuration is damaged at '{}'", key));
      } else if (origin->as_string() != "default") {
        add({key, *value, origin->as_string()});
      }
    }
  }

  void add_set(const std::string& text) {
    const auto equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      report("--set", fmt::format("'{}' is not of the form a.b.c=VALUE", text));
      return;
    }
    const std::string key = text.substr(0, equals);
    const Row* row = find_row(key);
    const Json value = row == nullptr ? Json(text.substr(equals + 1))
                                      : value_of_text(row->type, text.substr(equals + 1));
    add({key, value, "--set"});
  }

  void add_flag(const Flag& flag) {
    std::string key = flag.key;
    if (key.starts_with(kAnyState)) {
      key.erase(0, kAnyState.size());
      key = fmt::format("state.{}.{}", state_.empty() ? kDefaultState : state_, key);
    }
    add({key, flag.value, flag.flag});
  }

  Loaded finish(const Sources& sources) {
    Config& config = loaded_.config;
    if (!state_.empty()) config.worker.state.name = state_;
    for (std::string& file : config.input.files)
      if (names_standard_input(file)) file = "-";
    // One key, two rooms: both must know.
    config.worker.check_model = config.input.check_model;
    config.worker.backend.dtype = config.worker.state.dtype;
    if (sources.needs_model && config.worker.state.model.empty())
      report("", "no model: give --model PATH, or model = \"PATH\" under [state.default]");
    if (sources.needs_input && config.input.files.empty())
      report("", "no input: give -i FILE, or files = [\"FILE\"] under [input]");
    check_paths(sources);
    if (sources.needs_model && config.run.sampling_defaults == "model") add_generation_config();
    check_resize();
    check_lengths();
    collect_settings();
    return std::move(loaded_);
  }

 private:
  void report(std::string origin, std::string text) {
    loaded_.problems.push_back({std::move(origin), std::move(text)});
  }

  void add(Entry entry) {
    if (is_below_unknown_section(entry.key)) return;
    if (entry.value.is_object() && entry.value.as_object().empty()) {
      add_section(entry);
      return;
    }
    const Row* row = find_row(entry.key);
    if (row == nullptr) {
      report_unknown(entry);
      return;
    }
    if (!is_state_accepted(entry)) return;
    const Field field = row->field == nullptr ? Field{} : row->field(loaded_.config);
    if (const auto wrong = store(row->type, entry.value, field))
      report(entry.origin, fmt::format("{} = {}{}", entry.key, entry.value.dump(), *wrong));
    origins_[entry.key] = entry.origin;
  }

  // Below everything that was set.
  void add_generation_config() {
    const std::string& model = loaded_.config.worker.state.model;
    if (std::error_code ignored; model.empty() || !fs::exists(model, ignored)) return;  // reported
    for (Entry& entry : read_generation_config(model, loaded_.problems))
      if (!origins_.contains(entry.key)) add(std::move(entry));
  }

  // Several states are a promise of the job file's form that this program does not keep yet.
  bool is_state_accepted(const Entry& entry) {
    if (!entry.key.starts_with("state.")) return true;
    const std::string_view name = name_part(entry.key);
    if (name.empty()) {
      report(entry.origin,
             fmt::format("'{}': a state has a name, as in [state.{}]", entry.key, kDefaultState));
      return false;
    }
    if (state_.empty()) {
      state_ = name;
      state_origin_ = entry.origin;
    }
    if (state_ == name) return true;
    if (refused_states_.insert(std::string(name)).second) {
      report(entry.origin,
             fmt::format("[state.{}] is a second state beside [state.{}] ({}); several states in "
                         "one run are not built yet",
                         name, state_, state_origin_));
    }
    return false;
  }

  // An unknown section is one problem, not one for each key in it.
  void add_section(const Entry& entry) {
    if (is_section(entry.key)) return;
    unknown_sections_.insert(entry.key + ".");
    const std::string right = nearest(entry.key, section_names());
    report(entry.origin, right.empty() ? fmt::format("unknown section [{}]", entry.key)
                                       : fmt::format("unknown section [{}]; did you mean [{}]?",
                                                     entry.key, right));
  }

  [[nodiscard]] bool is_below_unknown_section(const std::string& key) const {
    return std::ranges::any_of(
        unknown_sections_, [&](const std::string& section) { return key.starts_with(section); });
  }

  static std::vector<std::string> section_names() {
    std::vector<std::string> names;
    for (const Row& row : rows()) {
      const std::string key = with_name(row.key, kDefaultState);
      names.push_back(key.substr(0, key.rfind('.')));
    }
    return names;
  }

  static bool is_section(const std::string& key) {
    return std::ranges::any_of(rows(), [&](const Row& row) {
      const std::string full = with_name(row.key, name_part(key + "."));
      return full.starts_with(key + ".");
    });
  }

  void report_unknown(const Entry& entry) {
    if (is_section(entry.key)) {
      report(entry.origin,
             fmt::format("'{}' is a section: its keys stand under [{}]", entry.key, entry.key));
      return;
    }
    const std::string_view name = name_part(entry.key);
    std::vector<std::string> candidates;
    for (const Row& row : rows())
      candidates.push_back(with_name(row.key, name.empty() ? kDefaultState : name));
    const std::string right = nearest(entry.key, candidates);
    report(entry.origin,
           right.empty() ? fmt::format("unknown key '{}'", entry.key)
                         : fmt::format("unknown key '{}'; did you mean '{}'?", entry.key, right));
  }

  [[nodiscard]] std::string origin_of(const std::string& key) const {
    const auto found = origins_.find(key);
    return found == origins_.end() ? "default" : found->second;
  }

  void check_exists(const std::string& key, const std::string& path) {
    std::error_code error;
    const bool is_found = fs::exists(path, error);
    if (error)
      report(origin_of(key),
             fmt::format("{}: '{}' cannot be looked at: {}", key, path, error.message()));
    else if (!is_found)
      report(origin_of(key), fmt::format("{}: there is no '{}' (paths are relative to the current "
                                         "directory, {})",
                                         key, path, fs::current_path(error).string()));
  }

  void check_paths(const Sources& sources) {
    const Config& config = loaded_.config;
    const std::string model_key = fmt::format("state.{}.model", config.worker.state.name);
    if (sources.needs_model && !config.worker.state.model.empty())
      check_exists(model_key, config.worker.state.model);
    if (sources.needs_input) {
      for (const auto& file : config.input.files) {
        if (file != "-") check_exists("input.files", file);
      }
    }
    if (!config.worker.chat.template_file.empty())
      check_exists("chat.template", config.worker.chat.template_file);
  }

  void check_resize() {
    const malleability::Options& resize = loaded_.config.resize;
    if (const auto problem = malleability::problem_of_watch(resize.watch); !problem.empty())
      report(origin_of("resize.watch"), fmt::format("resize.watch: {}", problem));
    if (resize.max_workers != 0 && resize.max_workers < resize.min_workers)
      report(origin_of("resize.max_workers"),
             fmt::format("resize.max_workers = {} is below resize.min_workers = {}",
                         resize.max_workers, resize.min_workers));
  }

  // Each is good by itself, and every request that brings neither would be refused.
  void check_lengths() {
    const request::Sampling& sampling = loaded_.config.worker.sampling;
    if (sampling.max_tokens && sampling.min_tokens > *sampling.max_tokens)
      report(
          origin_of("sampling.min_tokens"),
          fmt::format("sampling.min_tokens = {} is more than sampling.max_tokens = {} ({})",
                      sampling.min_tokens, *sampling.max_tokens, origin_of("sampling.max_tokens")));
  }

  void collect_settings() {
    for (const Row& row : rows()) {
      const Field field = row.field == nullptr ? Field{} : row.field(loaded_.config);
      const std::string key = with_name(row.key, loaded_.config.worker.state.name);
      Json value = show(row.type, field);
      if (!value.is_null()) loaded_.settings.push_back({key, std::move(value), origin_of(key)});
    }
  }

  Loaded loaded_;
  std::string state_;         // name of the only state; empty: none mentioned yet
  std::string state_origin_;  // where it was first mentioned
  std::set<std::string> refused_states_;
  std::set<std::string> unknown_sections_;  // each with its dot: "samplng."
  std::map<std::string, std::string> origins_;
};

}  // namespace

Loaded load(const Sources& sources) {
  Loader loader;
  if (!sources.job_file.empty()) loader.add_file(sources.job_file);
  if (!sources.earlier.is_null()) loader.add_earlier(sources.earlier);
  for (const auto& text : sources.sets)
    loader.add_set(text);
  for (const auto& flag : sources.flags)
    loader.add_flag(flag);
  return loader.finish(sources);
}

std::string to_text(const std::vector<Problem>& problems) {
  std::string out;
  for (const auto& [origin, text] : problems) {
    if (!out.empty()) out += '\n';
    out += origin.empty() ? text : fmt::format("{}: {}", origin, text);
  }
  return out;
}

void throw_if_any(const std::vector<Problem>& problems) {
  if (!problems.empty()) throw ConfigError(to_text(problems));
}

Json effective_json(const Loaded& loaded) {
  Json out = Json::object();
  for (const auto& [key, value, origin] : loaded.settings)
    out.set(key, Json::object({{"value", value}, {"origin", origin}}));
  return out;
}

}  // namespace sticky::config
