#include "flag_sources.hpp"

namespace sticky::cli {

config::Sources sources_of(const JobFlags& flags) {
  config::Sources sources{.job_file = flags.job_file, .sets = flags.sets};
  if (!flags.inputs.empty()) {
    Json files = Json::array();
    for (const auto& file : flags.inputs)
      files.push_back(file);
    sources.flags.push_back({"-i", "input.files", std::move(files)});
  }
  if (!flags.model.empty()) sources.flags.push_back({"--model", "state.*.model", flags.model});
  return sources;
}

void add_launch_sources(const LaunchFlags& flags, config::Sources& sources) {
  if (flags.n_workers > 0) sources.flags.push_back({"--workers", "run.workers", flags.n_workers});
  if (!flags.launcher.empty())
    sources.flags.push_back({"--launcher", "run.launcher", flags.launcher});
}

}  // namespace sticky::cli
