#include "rows.hpp"

#include <vector>

namespace sticky::config {
namespace {

constexpr double kInt32Max = 2147483647.0;
constexpr double kInt64Max = 9007199254740992.0;  // 2^53: every integer up to it is exact
constexpr double kDay = 86400.0;
constexpr std::string_view kName = "NAME";

Type boolean() {
  return {.kind = Kind::boolean};
}
Type integer(double min, double max, std::string_view special = "", double special_value = 0.0) {
  return {.kind = Kind::integer,
          .min = min,
          .max = max,
          .special = special,
          .special_value = special_value};
}
Type number(double min, double max) {
  return {.kind = Kind::number, .min = min, .max = max};
}
Type text(std::string_view special = "") {
  return {.kind = Kind::text, .special = special};
}
Type texts() {
  return {.kind = Kind::texts};
}
Type duration(double min, double max) {
  return {.kind = Kind::duration, .min = min, .max = max};
}
Type size(double min, double max) {
  return {.kind = Kind::size, .min = min, .max = max};
}
Type choice(std::vector<std::string_view> words, std::vector<std::string_view> later = {}) {
  return {.kind = Kind::choice, .words = std::move(words), .later_words = std::move(later)};
}
Type fixed(std::string_view word) {
  return {.kind = Kind::fixed, .words = {word}};
}
Type later() {
  return {.kind = Kind::later};
}

// Shortens a row: where the value lives.
#define STICKY_FIELD(member) [](Config& c) -> Field { return &c.member; }

std::vector<Row> input_and_output() {
  return {
      {"input.files", texts(), STICKY_FIELD(input.files),
       "Input files in JSON Lines, read one after another; `.gz` and `.zst` are unpacked; `-` is "
       "standard input."},
      {"input.format", fixed("auto"), nullptr,
       "OpenAI batch lines and shorthand lines are told apart by what stands in them. `rows` comes "
       "later."},
      {"input.strict", boolean(), STICKY_FIELD(input.strict),
       "One bad line refuses the whole input before any model is loaded (exit 2)."},
      {"input.check_model", boolean(), STICKY_FIELD(input.check_model),
       "A request whose `model` is not this state's gets the error `model_mismatch`."},
      {"input.max_line", size(1024, 0x1p29), STICKY_FIELD(input.max_line_bytes),
       "A longer line is an error record of its own."},
      {"output.dir", text(), STICKY_FIELD(output.dir),
       "The run folder. Empty: `runs/JOB-UTC` under the current directory."},
      {"output.order", choice({"completion", "input"}), STICKY_FIELD(output.order),
       "`input` sorts results.jsonl at the end of a run that is complete."},
  };
}

std::vector<Row> state_and_load() {
  return {
      {"state.NAME.model", text(), STICKY_FIELD(worker.state.model),
       "The model: a Hugging Face folder (safetensors) or a `.gguf` file."},
      {"state.NAME.serves", texts(), STICKY_FIELD(worker.state.serves),
       "Other names that a request's `model` may give for this state."},
      {"state.NAME.dtype", choice({"auto", "f32", "bf16"}, {"f16", "q8_0"}),
       STICKY_FIELD(worker.state.dtype),
       "Arithmetic: `f32` is the exact mode, `bf16` the fast one; `auto` takes what suits the "
       "machine and the checkpoint."},
      {"state.NAME.kv_dtype", choice({"auto", "f32", "bf16"}), STICKY_FIELD(worker.state.kv_dtype),
       "How keys and values are stored; `auto` follows `dtype`."},
      {"state.NAME.context", integer(1, kInt32Max, "auto"), STICKY_FIELD(worker.state.context),
       "Most tokens of one request, prompt and answer together; `auto`: as the model, at most "
       "4096."},
      {"state.NAME.memory", number(0.01, 1.0), STICKY_FIELD(worker.state.memory),
       "Share of the memory free on the device that weights and KV cache may take."},
      {"state.NAME.prefix", fixed(""), nullptr,
       "A text whose keys and values are computed once; comes later. Shared beginnings are found "
       "by "
       "the prefix cache without it."},
      {"load.stage", fixed("none"), nullptr, "Copying models to a node's own disk; comes later."},
      {"load.share", choice({"each", "chain"}), STICKY_FIELD(run.share),
       "Each worker reads the model's files itself; so far also with `chain`, which is to pass "
       "weights on over MPI."},
      {"load.readers", integer(0, 1e6), STICKY_FIELD(coordinator.max_readers),
       "Hosts whose first worker reads the model's files at the same time, when many join at once; "
       "0: all."},
  };
}

std::vector<Row> engine() {
  return {
      {"engine.backend", choice({"auto", "cpu"}, {"cuda", "cuda-emulated"}),
       STICKY_FIELD(worker.backend.kind), "Which compute device a worker uses."},
      {"engine.cpu", choice({"auto", "scalar", "avx2", "avx512", "avx512bf16", "amx"}),
       STICKY_FIELD(worker.backend.cpu),
       "Instruction set of the CPU kernels; `auto` takes the best that the machine has."},
      {"engine.threads", integer(1, 1024, "auto"), STICKY_FIELD(worker.backend.n_threads),
       "Threads of one worker; `auto`: its share of the cores it may use."},
      {"engine.max_sequences", integer(1, 4096, "auto"), STICKY_FIELD(worker.engine.max_sequences),
       "Requests that run at once in one worker; `auto`: 32 on a CPU."},
      {"engine.max_batch_tokens", integer(1, 65536, "auto"),
       STICKY_FIELD(worker.engine.max_batch_tokens),
       "Tokens of one step, prompt and answer together; `auto`: 512 on a CPU."},
      {"engine.prefix_cache", boolean(), STICKY_FIELD(worker.engine.prefix_cache),
       "Keys and values of prompts are found again by later prompts that begin alike."},
      {"engine.deterministic", fixed("true"), nullptr,
       "An answer does not depend on batch, neighbours, order or number of workers."},
      {"engine.mixed", fixed("allow"), nullptr,
       "Workers of unlike arithmetic may share a run. `common` comes later."},
  };
}

std::vector<Row> sampling_and_chat() {
  return {
      {"sampling.temperature", number(0.0, 2.0), STICKY_FIELD(worker.sampling.temperature),
       "Divides the logits; 0 takes the best token."},
      {"sampling.top_p", number(1e-6, 1.0), STICKY_FIELD(worker.sampling.top_p),
       "Keeps the smallest set of tokens whose probability reaches it."},
      {"sampling.top_k", integer(0, kInt32Max), STICKY_FIELD(worker.sampling.top_k),
       "Keeps the k best tokens; 0: all."},
      {"sampling.min_p", number(0.0, 1.0), STICKY_FIELD(worker.sampling.min_p),
       "Keeps tokens of at least this share of the best token's probability."},
      {"sampling.repetition_penalty", number(0.01, 100.0),
       STICKY_FIELD(worker.sampling.repetition_penalty),
       "Above 1 makes tokens of prompt and answer less likely."},
      {"sampling.presence_penalty", number(-2.0, 2.0),
       STICKY_FIELD(worker.sampling.presence_penalty),
       "Subtracted once from tokens that stand in the answer."},
      {"sampling.frequency_penalty", number(-2.0, 2.0),
       STICKY_FIELD(worker.sampling.frequency_penalty),
       "Subtracted as often as a token stands in the answer."},
      {"sampling.seed", integer(-kInt64Max, kInt64Max, "none"), STICKY_FIELD(worker.sampling.seed),
       "Seed of each request's draws; `none`: from `run.seed` and the request."},
      {"sampling.max_tokens", integer(1, kInt32Max, "none"),
       STICKY_FIELD(worker.sampling.max_tokens),
       "Most tokens of an answer; `none`: until the context is full."},
      {"sampling.min_tokens", integer(0, kInt32Max), STICKY_FIELD(worker.sampling.min_tokens),
       "No end before that many tokens."},
      {"sampling.ignore_eos", boolean(), STICKY_FIELD(worker.sampling.ignore_eos),
       "The model's own end does not end an answer."},
      {"sampling.stop",
       Type{.kind = Kind::texts,
            .max_items = request::kMaxStops,
            .max_bytes = request::kMaxStopBytes},
       STICKY_FIELD(worker.sampling.stop), "Strings that end an answer."},
      {"sampling.stop_token_ids",
       Type{.kind = Kind::integers,
            .min = 0,
            .max = kInt32Max,
            .max_items = request::kMaxStopTokenIds},
       STICKY_FIELD(worker.sampling.stop_token_ids), "Tokens that end an answer."},
      {"sampling.include_stop_str_in_output", boolean(),
       STICKY_FIELD(worker.sampling.include_stop_str_in_output),
       "The stop string stays in the answer."},
      {"sampling.defaults", choice({"openai", "model"}), STICKY_FIELD(run.sampling_defaults),
       "What neither a request nor this section says: `openai`, as in OpenAI's API; `model`, as "
       "the model's generation_config.json says and transformers reads it (without `do_sample` "
       "the best token is taken)."},
      {"chat.template", text("model"), STICKY_FIELD(worker.chat.template_file),
       "A Jinja file in place of the model's own template."},
      {"chat.content", choice({"auto", "hf"}), STICKY_FIELD(worker.chat.content),
       "Content in parts: `auto` joins text parts unless the template handles parts itself; `hf` "
       "does what transformers does."},
      {"chat.special_tokens_in_content", choice({"text", "hf"}),
       STICKY_FIELD(worker.chat.special_tokens_in_content),
       "`text`: what a user wrote never becomes a control token; `hf`: it may, as in "
       "transformers."},
      {"chat.now", Type{.kind = Kind::time}, STICKY_FIELD(worker.chat.now),
       "A fixed time for templates that print the date, ISO 8601; empty: the present."},
  };
}

std::vector<Row> run() {
  return {
      {"run.policy", choice({"sticky"}, {"create-destroy", "sticky-io"}), STICKY_FIELD(run.policy),
       "What a worker keeps between tasks."},
      {"run.workers", integer(1, 1e6, "auto"), STICKY_FIELD(run.n_workers),
       "Workers that the launcher form starts; `auto`: one. Under mpirun or srun their number is "
       "what was launched."},
      {"run.launcher", choice({"mpirun", "srun"}), STICKY_FIELD(run.launcher),
       "What the launcher form starts ranks with."},
      {"run.batch", integer(1, 1e6, "auto"), STICKY_FIELD(coordinator.batch),
       "Requests in one message to a worker; `auto`: as many as fit it."},
      {"run.attempts", integer(1, 1000), STICKY_FIELD(coordinator.attempts),
       "Deaths of workers a request may be in flight in before it is recorded as failed."},
      {"run.seed", integer(0, kInt64Max), STICKY_FIELD(worker.engine.run_seed),
       "With the request it seeds draws of requests that bring no seed."},
      {"run.grace", duration(0.0, kDay), STICKY_FIELD(coordinator.grace_seconds),
       "How long a drain may take before what still runs is given up."},
      {"run.time_limit",
       Type{.kind = Kind::duration,
            .min = 0.0,
            .max = 366 * kDay,
            .special = "auto",
            .special_value = -1.0},
       STICKY_FIELD(run.time_limit_seconds),
       "The run drains in time for this end and exits 4; `auto`: the end of the allocation (Slurm; "
       "PBS, LSF and Flux by their manuals, not tried yet), where there is one; `0s`: none."},
      {"run.orphan_timeout", duration(1.0, kDay), STICKY_FIELD(worker.orphan_timeout_seconds),
       "A worker that hears nothing of its coordinator for so long ends itself."},
      {"run.heartbeat_timeout", duration(1.0, kDay),
       STICKY_FIELD(coordinator.heartbeat_timeout_seconds),
       "A worker that is silent for so long is lost."},
      {"run.hang_timeout", duration(1.0, kDay), STICKY_FIELD(coordinator.hang_seconds),
       "A worker that holds work and makes no step for this time, or for 20 times its longest "
       "step, is lost."},
      {"run.load_timeout", duration(1.0, kDay), STICKY_FIELD(coordinator.load_timeout_seconds),
       "A worker that loads its model for longer is lost."},
      {"run.read_ahead", size(0x1p20, 0x1p40), STICKY_FIELD(coordinator.max_queued_bytes),
       "Input lines held in memory by the coordinator."},
  };
}

std::vector<Row> resize() {
  return {
      {"resize.watch", text(), STICKY_FIELD(resize.watch),
       "Where idle hosts are listed: `off`, or `hostfile:FILE` with lines `host`, `host slots=N` "
       "or `host:N`, looked at each second. While the queue pays for a load the run grows onto "
       "hosts that appear there, and it leaves hosts that disappear. `slurm` comes later."},
      {"resize.min_workers", integer(1, 1e6), STICKY_FIELD(resize.min_workers),
       "The run does not shrink below this by itself, and refuses orders that would."},
      {"resize.max_workers", integer(1, 1e6, "auto"), STICKY_FIELD(resize.max_workers),
       "The run never has more workers, those that are leaving included. `auto`: no limit for the "
       "whole, but orders by hand put at most 4 workers for each CPU that the launch may use on "
       "one host, and 16 at least, unless slots of the launch or of the list say how many fit."},
      {"resize.spawn_timeout", duration(1.0, kDay), STICKY_FIELD(resize.spawn_timeout_seconds),
       "A spawn that takes longer has failed; after the third such one the run starts no more."},
      {"resize.join", choice({"auto", "spawn"}, {"connect"}), STICKY_FIELD(resize.join),
       "How newcomers get in: `MPI_Comm_spawn`, by either name so far."},
  };
}

std::vector<Row> not_built() {
  return {
      {"prompt.NAME.file", later(), nullptr, "Templates for input in rows; comes later."},
      {"evaluate.answer", later(), nullptr, "Labels and accuracy; comes later."},
      {"evaluate.label", later(), nullptr, "Comes later."},
  };
}

#undef STICKY_FIELD

std::vector<Row> all_rows() {
  std::vector<Row> all;
  for (auto part : {input_and_output(), state_and_load(), engine(), sampling_and_chat(), run(),
                    resize(), not_built()})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace

std::span<const Row> rows() {
  static const std::vector<Row> all = all_rows();
  return all;
}

std::string_view name_part(std::string_view key) {
  const auto first = key.find('.');
  if (first == std::string_view::npos) return {};
  const auto second = key.find('.', first + 1);
  return second == std::string_view::npos ? std::string_view{}
                                          : key.substr(first + 1, second - first - 1);
}

std::string with_name(std::string_view row_key, std::string_view name) {
  std::string key(row_key);
  if (name_part(row_key) == kName) key.replace(row_key.find('.') + 1, kName.size(), name);
  return key;
}

const Row* find_row(std::string_view key) {
  for (const Row& row : rows()) {
    if (row.key == key || with_name(row.key, name_part(key)) == key) return &row;
  }
  return nullptr;
}

}  // namespace sticky::config
