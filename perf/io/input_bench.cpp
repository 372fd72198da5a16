// What a coordinator pays for input and resume: CPU time a line and peak memory.
//   input_bench FOLDER [LINES]     FOLDER is made, filled and kept; default 1,000,000 lines
// Prints one line for each part. Memory is the peak so far (getrusage), so it only grows.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/resource.h>

#include <fmt/format.h>

#include "sticky/base/log.hpp"
#include "sticky/io/input_reader.hpp"
#include "sticky/io/order.hpp"
#include "sticky/io/resume.hpp"
#include "sticky/request/response.hpp"

namespace {

using namespace sticky;

struct Usage {
  double cpu_seconds = 0.0;
  double peak_mib = 0.0;
};

Usage usage() {
  rusage r{};
  getrusage(RUSAGE_SELF, &r);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return {seconds(r.ru_utime) + seconds(r.ru_stime), static_cast<double>(r.ru_maxrss) / 1024.0};
}

template <class Part>
void measure(const char* name, i64 n_lines, Part part) {
  const double before = usage().cpu_seconds;
  part();
  const Usage after = usage();
  std::puts(fmt::format("{:<28} {:8.2f} us CPU a line, peak {:7.1f} MiB", name,
                        (after.cpu_seconds - before) / static_cast<double>(n_lines) * 1e6,
                        after.peak_mib)
                .c_str());
}

// The claims workload's line: about 500 bytes.
void write_input(const std::string& path, i64 n_lines) {
  std::ofstream out(path);
  for (i64 i = 0; i < n_lines; ++i)
    out << fmt::format(
        R"({{"custom_id": "claim-{0:08}", "method": "POST", "url": "/v1/chat/completions", "body": )"
        R"({{"model": "HuggingFaceTB/SmolLM2-135M-Instruct", "messages": [{{"role": "system", )"
        R"("content": "You are a fact checker. Decide whether the claim is true. Answer with )"
        R"(exactly one word: SUPPORTED or REFUTED."}}, {{"role": "user", "content": "Claim: The )"
        R"(city of Setagaya, number {0} of the list that was published in the spring of that )"
        R"(year, is located in Afghanistan and not in Japan."}}], "max_tokens": 8, )"
        R"("temperature": 0}}}})"
        "\n",
        i);
}

i64 read_through(const io::InputOptions& options) {
  i64 n_bytes = 0;
  const auto reader = io::open_input(options);
  while (const auto line = reader->next())
    n_bytes += static_cast<i64>(line->payload.size());
  return n_bytes;
}

void write_records(const io::InputOptions& options, const std::string& folder) {
  std::ofstream out(folder + "/results.jsonl");
  const auto reader = io::open_input(options);
  request::Response response;
  response.answers.push_back(
      {.text = "SUPPORTED", .token_ids = {}, .finish_reason = "stop", .logprobs = {}});
  while (const auto line = reader->next()) {
    request::Origin origin;
    origin.custom_id = line->custom_id;
    origin.file = line->file;
    // As if lines had ended in pairs the other way round, so that sorting has something to do.
    origin.line = line->line + (line->line % 2 == 1 ? 1 : -1);
    origin.hash = line->hash;
    out << request::success_record({}, response, origin) << '\n';
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs("usage: input_bench FOLDER [LINES]\n", stderr);
    return 1;
  }
  const std::string folder = argv[1];
  const i64 n_lines = argc > 2 ? std::atoll(argv[2]) : 1'000'000;
  std::filesystem::create_directories(folder);
  io::InputOptions options;
  options.files = {folder + "/input.jsonl"};
  write_input(options.files[0], n_lines);
  std::puts(fmt::format(
                "{} lines of {} bytes", n_lines,
                std::filesystem::file_size(options.files[0]) / static_cast<std::uintmax_t>(n_lines))
                .c_str());
  measure("read, parse, hash", n_lines, [&] { (void)read_through(options); });
  measure("the same and write records", n_lines, [&] { write_records(options, folder); });
  measure("sort by input", n_lines, [&] { io::sort_by_input(folder, options.files); });
  measure("resume, all done but moved", n_lines,
          [&] { (void)io::prepare_resume(folder, *io::open_input(options), {}); });
  measure("resume, all done", n_lines,
          [&] { (void)io::prepare_resume(folder, *io::open_input(options), {}); });
  return 0;
}
