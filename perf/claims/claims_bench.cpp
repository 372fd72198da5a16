// The claim-verification workload on one worker's engine, without MPI: what the model and the
// engine cost.
//   claims_bench MODEL WORKLOAD_FOLDER [n_claims] [f32|bf16] [n_threads] [max_sequences]
//   [max_batch_tokens]
// Output lengths are fixed by the prompt's number (16 … 32 tokens) and EOS is ignored, so that
// every engine that runs this workload does the same work. Prints one line: claims per second of
// wall time and of CPU time.
#include <chrono>
#include <fstream>
#include <sstream>
#include <sys/resource.h>

#include <fmt/format.h>

#include "sticky/backend/make_backend.hpp"
#include "sticky/base/error.hpp"
#include "sticky/checkpoint/checkpoint.hpp"
#include "sticky/engine/engine.hpp"
#include "sticky/model/load_model.hpp"
#include "sticky/tokenizer/tokenizer.hpp"

namespace {

using namespace sticky;

struct Settings {
  std::string model;
  std::string workload;
  i64 n_claims = 1000;
  std::string dtype = "f32";
  i64 n_threads = 2;
  i64 max_sequences = 64;
  i64 max_batch_tokens = 512;
};

Settings read_settings(int argc, char** argv) {
  if (argc < 3)
    fail<ConfigError>(
        "usage: claims_bench MODEL WORKLOAD_FOLDER [n] [dtype] [threads] [sequences] [rows]");
  Settings settings{.model = argv[1], .workload = argv[2]};
  if (argc > 3) settings.n_claims = std::stoll(argv[3]);
  if (argc > 4) settings.dtype = argv[4];
  if (argc > 5) settings.n_threads = std::stoll(argv[5]);
  if (argc > 6) settings.max_sequences = std::stoll(argv[6]);
  if (argc > 7) settings.max_batch_tokens = std::stoll(argv[7]);
  return settings;
}

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) fail<SystemError>("{}: cannot be read", path);
  return text.str();
}

std::string with_newlines(const std::string& line) {
  std::string out;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const bool is_newline = line[i] == '\\' && i + 1 < line.size() && line[i + 1] == 'n';
    out += is_newline ? '\n' : line[i];
    if (is_newline) ++i;
  }
  return out;
}

std::vector<engine::Job> make_jobs(const Settings& settings,
                                   const tokenizer::Tokenizer& tokenizer) {
  const std::vector<i32> prefix =
      tokenizer.encode(read_file(settings.workload + "/prefix.txt"), {});
  std::istringstream claims(read_file(settings.workload + "/claims.txt"));
  std::vector<engine::Job> jobs;
  for (std::string line;
       static_cast<i64>(jobs.size()) < settings.n_claims && std::getline(claims, line);) {
    const i64 key = static_cast<i64>(jobs.size());
    engine::Job job{.key = key, .prompt = prefix, .sampling = {.temperature = 0.0}, .identity = {}};
    const std::vector<i32> tail = tokenizer.encode(with_newlines(line), {});
    job.prompt.insert(job.prompt.end(), tail.begin(), tail.end());
    job.sampling.max_tokens = 16 + key * 7 % 17;
    job.sampling.ignore_eos = true;
    jobs.push_back(std::move(job));
  }
  return jobs;
}

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void run(const Settings& settings) {
  const auto checkpoint = checkpoint::open_checkpoint(settings.model);
  const auto text = checkpoint->is_gguf()
                        ? tokenizer::load_from_gguf(checkpoint->config(), settings.model)
                        : tokenizer::load_from_folder(settings.model);
  const double load_start = wall_seconds();
  const std::shared_ptr<backend::Backend> backend =
      backend::make_backend({.dtype = settings.dtype, .n_threads = settings.n_threads});
  const auto model = model::load_model(*checkpoint, backend,
                                       {.context = 1024,
                                        .kv_tokens = settings.max_sequences * 256,
                                        .max_batch_tokens = settings.max_batch_tokens});
  const double load = wall_seconds() - load_start;
  const SteadyClock clock;
  engine::Engine engine(
      *model, *text.tokenizer, {},
      {.max_sequences = settings.max_sequences, .max_batch_tokens = settings.max_batch_tokens},
      clock);

  std::vector<engine::Job> jobs = make_jobs(settings, *text.tokenizer);
  const i64 n_jobs = static_cast<i64>(jobs.size());
  const double wall = wall_seconds();
  const double cpu = cpu_seconds();
  for (engine::Job& job : jobs)
    engine.submit(std::move(job));
  while (!engine.idle())
    (void)engine.step();
  const double wall_used = wall_seconds() - wall;
  const double cpu_used = cpu_seconds() - cpu;
  const engine::Stats& stats = engine.stats();
  fmt::print(
      "stickyinvoc {} {} | load {:.3f} s | {} claims {:.2f} s wall {:.2f} s cpu = {:.2f} claims/s "
      "{:.2f} claims/(cpu-s) | {} steps, prompt tokens {} computed {} cached, {} generated\n",
      backend->arithmetic(), backend->description(), load, n_jobs, wall_used, cpu_used,
      static_cast<double>(n_jobs) / wall_used, static_cast<double>(n_jobs) / cpu_used,
      stats.n_steps, stats.prompt_tokens, stats.cached_tokens, stats.generated_tokens);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(read_settings(argc, argv));
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
