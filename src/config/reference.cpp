#include "sticky/config/reference.hpp"

#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "rows.hpp"

namespace sticky::config {
namespace {

constexpr std::string_view kHead =
    R"(# The job file

This page is printed by `stickyinvoc --print-config-reference`; a test keeps it true.

A job file is TOML. Every key has a default, and every key can be given on the command line:
`--set run.grace=90s`. The value after `=` is read by the key's type: strings need no quotes, a list is
`a,b` or `["a", "b"]`. Later sources win: defaults, then the job file, then `--set`, then flags
(`-i`, `-o`, `--model`, `--workers`, `--launcher`). `summary.json` tells the value and the origin of every key.

- An unknown key, a value of the wrong type or out of range, and a file that does not exist are errors
  before anything starts (exit 1). All are listed at once, each with its line and, for a key, the nearest
  right name.
- Paths are relative to the **current directory**, as on the command line, not to the job file: the same
  job file then works for several inputs, and a batch script's working directory decides.
- A duration is a number with `ms`, `s`, `m`, `h` or `d`, several in a row (`"1h30m"`), or a bare number of
  seconds. A size is a number with `KiB`, `MiB`, `GiB`, `TiB` (powers of 1024) or `kB`, `MB`, `GB`, `TB`
  (powers of 1000), or a bare number of bytes.
- A key that is marked *not built yet* is known by name; only the value given as its default works so far.

## A job

```toml
[input]
files = ["claims.jsonl"]

[output]
dir = "runs/claims"

[state.default]
model = "models/SmolLM2-135M-Instruct"

[sampling]
temperature = 0.0
max_tokens = 64
```
)";

constexpr std::array<std::pair<std::string_view, std::string_view>, 11> kSections{{
    {"input", "What is asked. docs/input_output.md has the form of a line."},
    {"output", "Where the answers go."},
    {"state",
     "`[state.NAME]` is what a worker loads once and keeps: a model and room for its keys and "
     "values. `NAME` is yours to choose; one run holds one state so far."},
    {"load", "How a model's files reach the workers."},
    {"engine", "How a worker computes."},
    {"sampling",
     "Defaults of requests: a parameter that stands in a request overrules the one here."},
    {"chat", "How messages become a prompt."},
    {"run", "How the run is carried out, and when something is given up."},
    {"resize", "Workers that come and go."},
    {"prompt", "Prompt templates over rows."},
    {"evaluate", "From answers to labels."},
}};

bool is_built(const Row& row) {
  return row.type.kind != Kind::fixed && row.type.kind != Kind::later;
}

std::string type_cell(const Row& row) {
  if (!is_built(row)) return "*not built yet*";
  std::string text = describe(row.type);
  for (const auto word : row.type.later_words)
    text += fmt::format(", *not built yet:* \"{}\"", word);
  return text;
}

std::string line(const Row& row, Config& defaults) {
  const Json value = show(row.type, row.field == nullptr ? Field{} : row.field(defaults));
  return fmt::format("| `{}` | {} | {} | {} |\n", row.key, type_cell(row),
                     value.is_null() ? "" : fmt::format("`{}`", value.dump()), row.doc);
}

}  // namespace

std::string reference() {
  Config defaults;
  std::string out(kHead);
  for (const auto& [section, doc] : kSections) {
    out += fmt::format(
        "\n## [{}]\n\n{}\n\n| key | value | default | meaning |\n| --- | --- | --- | --- |\n",
        section, doc);
    for (const Row& row : rows()) {
      if (row.key.starts_with(fmt::format("{}.", section))) out += line(row, defaults);
    }
  }
  return out;
}

}  // namespace sticky::config
