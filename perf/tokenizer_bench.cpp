// Speed of a tokenizer on a text of one's own, on one core:
//   tokenizer_bench FOLDER TEXT_FILE [ROUNDS]
// FOLDER holds tokenizer.json. Counts processor time, so that a busy machine does little harm.
// Prints the median of the rounds (21 by default): MB of text a second for encode() and for
// decode(), and the same for the text cut at its lines, as short prompts are.

#include "sticky/tokenizer/tokenizer.hpp"

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

namespace {

using sticky::i32;
using sticky::i64;

double cpu_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

template <class Work>
double median_seconds(i64 n_rounds, Work work) {
  std::vector<double> seconds;
  for (i64 i = 0; i < n_rounds; ++i) {
    const double start = cpu_seconds();
    work();
    seconds.push_back(cpu_seconds() - start);
  }
  std::nth_element(seconds.begin(), seconds.begin() + n_rounds / 2, seconds.end());
  return seconds[static_cast<std::size_t>(n_rounds / 2)];
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const auto n = std::min(text.find('\n'), text.size() - 1) + 1;
    out.push_back(text.substr(0, n));
    text.remove_prefix(n);
  }
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    fmt::print(stderr, "usage: tokenizer_bench FOLDER TEXT_FILE [ROUNDS]\n");
    return 1;
  }
  const i64 n_rounds = argc > 3 ? std::max(1, std::atoi(argv[3])) : 21;
  std::ifstream file(argv[2], std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const double start = cpu_seconds();
  const auto files = sticky::tokenizer::load_from_folder(argv[1]);
  const double load = cpu_seconds() - start;
  const auto& tokenizer = *files.tokenizer;
  const double mb = static_cast<double>(text.size()) / 1e6;

  std::vector<i32> ids;
  const double encode = median_seconds(n_rounds, [&] { ids = tokenizer.encode(text, {}); });
  const auto lines = lines_of(text);
  const double by_line = median_seconds(n_rounds, [&] {
    for (const auto line : lines)
      ids = tokenizer.encode(line, {});
  });
  ids = tokenizer.encode(text, {});
  const double decode = median_seconds(n_rounds, [&] { (void)tokenizer.decode(ids, true); });

  fmt::print("load {:.0f} ms; {:.2f} MB, {} tokens, {} lines\n", load * 1e3, mb, ids.size(),
             lines.size());
  fmt::print("encode {:.1f} MB/s, line by line {:.1f} MB/s, decode {:.1f} MB/s\n", mb / encode,
             mb / by_line, mb / decode);
  return 0;
}
