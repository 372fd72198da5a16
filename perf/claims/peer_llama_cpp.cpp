// The claim-verification workload on llama.cpp's engine, driven as well as we know how: the shared
// prefix decoded once and kept in every slot's cache, continuous batching, flash attention, greedy
// by argmax, output lengths fixed by the prompt's number and EOS ignored, as in claims_bench.cpp.
//   peer_llama_cpp MODEL.gguf WORKLOAD_FOLDER [n_claims] [n_threads] [n_slots]
// Not built with the project: perf/README.md says how. Prints one line of the same form as
// claims_bench.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <sys/resource.h>
#include <vector>

#include "ggml-backend.h"
#include "llama.h"

namespace {

using Tokens = std::vector<llama_token>;

constexpr int kBatchTokens = 8192;
constexpr int kMicroBatch = 512;

double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) { return double(t.tv_sec) + double(t.tv_usec) * 1e-6; };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

[[noreturn]] void give_up(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::exit(1);
}

std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) give_up(path + ": cannot be read");
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

Tokens tokenize(const llama_vocab* vocab, const std::string& text) {
  Tokens tokens(text.size() + 8);
  const int n = llama_tokenize(vocab, text.c_str(), int(text.size()), tokens.data(),
                               int(tokens.size()), false, true);
  tokens.resize(std::size_t(n));
  return tokens;
}

struct Slot {
  int claim = -1;
  int position = 0;
  int n_left = 0;
  llama_token next = 0;
};

class Bench {
 public:
  Bench(const std::string& model_path,
        const std::string& workload,
        std::size_t n_claims,
        int n_threads,
        int n_slots);
  void run();

 private:
  void add(llama_token token, int position, int sequence, bool wants_logits);
  void decode();
  void decode_prefix();
  void fill_slots();
  void decode_step();
  void take(Slot& slot, int row);

  llama_model* model_ = nullptr;
  llama_context* context_ = nullptr;
  llama_batch batch_ = llama_batch_init(kBatchTokens, 0, 1);
  int n_vocab_ = 0;
  Tokens prefix_;
  std::vector<Tokens> tails_;
  std::vector<Slot> slots_;
  std::size_t n_begun_ = 0;
  std::size_t n_done_ = 0;
  long n_generated_ = 0;
};

Bench::Bench(const std::string& model_path,
             const std::string& workload,
             std::size_t n_claims,
             int n_threads,
             int n_slots)
    : slots_(std::size_t(n_slots)) {
  model_ = llama_model_load_from_file(model_path.c_str(), llama_model_default_params());
  if (model_ == nullptr) give_up(model_path + ": cannot be loaded");
  const llama_vocab* vocab = llama_model_get_vocab(model_);
  n_vocab_ = llama_vocab_n_tokens(vocab);
  prefix_ = tokenize(vocab, read_file(workload + "/prefix.txt"));
  std::istringstream claims(read_file(workload + "/claims.txt"));
  std::size_t longest = 0;
  for (std::string line; tails_.size() < n_claims && std::getline(claims, line);) {
    tails_.push_back(tokenize(vocab, with_newlines(line)));
    longest = std::max(longest, tails_.back().size());
  }
  const std::size_t per_slot = (prefix_.size() + longest + 33 + 255) / 256 * 256;
  llama_context_params params = llama_context_default_params();
  params.n_seq_max = unsigned(n_slots);
  params.n_ctx = unsigned(per_slot) * unsigned(n_slots);
  params.n_batch = kBatchTokens;
  params.n_ubatch = kMicroBatch;
  params.n_threads = params.n_threads_batch = n_threads;
  params.flash_attn_type = LLAMA_FLASH_ATTN_TYPE_ENABLED;
  params.no_perf = true;
  context_ = llama_init_from_model(model_, params);
  if (context_ == nullptr) give_up("no context");
}

void Bench::add(llama_token token, int position, int sequence, bool wants_logits) {
  const int i = batch_.n_tokens++;
  batch_.token[i] = token;
  batch_.pos[i] = position;
  batch_.n_seq_id[i] = 1;
  batch_.seq_id[i][0] = sequence;
  batch_.logits[i] = wants_logits;
}

void Bench::decode() {
  if (llama_decode(context_, batch_) != 0) give_up("llama_decode failed");
}

void Bench::decode_prefix() {
  batch_.n_tokens = 0;
  for (std::size_t i = 0; i < prefix_.size(); ++i)
    add(prefix_[i], int(i), 0, i + 1 == prefix_.size());
  decode();
  for (std::size_t s = 1; s < slots_.size(); ++s)
    llama_memory_seq_cp(llama_get_memory(context_), 0, int(s), -1, -1);
}

void Bench::take(Slot& slot, int row) {
  const float* logits = llama_get_logits_ith(context_, row);
  slot.next = llama_token(std::max_element(logits, logits + n_vocab_) - logits);
  ++n_generated_;
  if (--slot.n_left > 0) return;
  slot.claim = -1;
  ++n_done_;
}

void Bench::fill_slots() {
  batch_.n_tokens = 0;
  std::vector<std::pair<Slot*, int>> rows;
  for (std::size_t s = 0; s < slots_.size() && n_begun_ < tails_.size(); ++s) {
    if (slots_[s].claim >= 0) continue;
    const Tokens& tail = tails_[n_begun_];
    llama_memory_seq_rm(llama_get_memory(context_), int(s), int(prefix_.size()), -1);
    for (std::size_t i = 0; i < tail.size(); ++i)
      add(tail[i], int(prefix_.size() + i), int(s), i + 1 == tail.size());
    slots_[s] = {.claim = int(n_begun_),
                 .position = int(prefix_.size() + tail.size()),
                 .n_left = 16 + int(n_begun_ * 7 % 17)};
    rows.emplace_back(&slots_[s], batch_.n_tokens - 1);
    ++n_begun_;
  }
  decode();
  for (const auto& [slot, row] : rows)
    take(*slot, row);
}

void Bench::decode_step() {
  batch_.n_tokens = 0;
  std::vector<Slot*> active;
  for (std::size_t s = 0; s < slots_.size(); ++s) {
    if (slots_[s].claim < 0) continue;
    add(slots_[s].next, slots_[s].position++, int(s), true);
    active.push_back(&slots_[s]);
  }
  decode();
  for (std::size_t i = 0; i < active.size(); ++i)
    take(*active[i], int(i));
}

void Bench::run() {
  const double wall = wall_seconds();
  const double cpu = cpu_seconds();
  decode_prefix();
  const std::size_t refill =
      std::max<std::size_t>(1, slots_.size() / 4);  // waves: prefill runs best in large batches
  while (n_done_ < tails_.size()) {
    const auto n_free = std::size_t(
        std::count_if(slots_.begin(), slots_.end(), [](const Slot& s) { return s.claim < 0; }));
    if (n_begun_ < tails_.size() && (n_free >= refill || n_free == slots_.size()))
      fill_slots();
    else
      decode_step();
  }
  const double wall_used = wall_seconds() - wall;
  const double cpu_used = cpu_seconds() - cpu;
  std::printf(
      "llama.cpp | %zu claims %.2f s wall %.2f s cpu = %.2f claims/s %.2f claims/(cpu-s) | %ld "
      "generated\n",
      tails_.size(), wall_used, cpu_used, double(tails_.size()) / wall_used,
      double(tails_.size()) / cpu_used, n_generated_);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3)
    give_up("usage: peer_llama_cpp MODEL.gguf WORKLOAD_FOLDER [n_claims] [n_threads] [n_slots]");
  llama_log_set(
      [](ggml_log_level level, const char* text, void*) {
        if (level >= GGML_LOG_LEVEL_ERROR) std::fputs(text, stderr);
      },
      nullptr);
  ggml_backend_load_all();
  llama_backend_init();
  const auto number = [&](int i, int otherwise) {
    return argc > i ? std::atoi(argv[i]) : otherwise;
  };
  Bench(argv[1], argv[2], std::size_t(number(3, 1000)), number(4, 2), number(5, 32)).run();
}
