#pragma once

#include <cstdlib>
#include <map>
#include <string>

#include "sticky/base/error.hpp"
#include "sticky/base/types.hpp"

namespace sticky::perf {

/// "key=value" words of a command line.
class Arguments {
 public:
  Arguments(int argc, char** argv) {
    for (int k = 1; k < argc; ++k) {
      const std::string word(argv[k]);
      const auto equals = word.find('=');
      if (equals == std::string::npos) fail<ConfigError>("{}: not of the form key=value", word);
      words_[word.substr(0, equals)] = word.substr(equals + 1);
    }
  }
  /// Each key is asked for once, with its default.
  [[nodiscard]] std::string text(const std::string& key, std::string otherwise) {
    const auto found = words_.extract(key);
    return found ? found.mapped() : std::move(otherwise);
  }
  [[nodiscard]] i64 number(const std::string& key, i64 otherwise) {
    const std::string found = text(key, "");
    return found.empty() ? otherwise : std::atoll(found.c_str());
  }
  /// Throws ConfigError when a word was given that nobody asked for.
  void expect_none_left() const {
    if (!words_.empty()) fail<ConfigError>("no such argument: {}", words_.begin()->first);
  }

 private:
  std::map<std::string, std::string> words_;
};

}  // namespace sticky::perf
