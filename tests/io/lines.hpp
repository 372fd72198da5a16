#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "sticky/io/input_reader.hpp"
#include "sticky/request/response.hpp"

namespace sticky::test {

inline std::vector<io::InputLine> read_all(io::InputReader& reader) {
  std::vector<io::InputLine> lines;
  while (auto line = reader.next())
    lines.push_back(std::move(*line));
  return lines;
}

inline std::vector<io::InputLine> read_all(const io::InputOptions& options) {
  return read_all(*io::open_input(options));
}

inline io::InputOptions files(std::vector<std::string> names) {
  io::InputOptions options;
  options.files = std::move(names);
  return options;
}

inline std::vector<std::string> split_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);)
    lines.push_back(line);
  return lines;
}

inline request::Origin origin_of(const io::InputLine& line) {
  request::Origin origin;
  origin.custom_id = line.custom_id;
  origin.file = line.file;
  origin.line = line.line;
  origin.byte_offset = line.byte_offset;
  origin.hash = line.hash;
  return origin;
}

/// The record that a success of that line leaves; `text` is its answer.
inline std::string success_of(const io::InputLine& line, const std::string& text = "yes") {
  request::Answer answer;
  answer.text = text;
  answer.finish_reason = "stop";
  return request::success_record(request::Request{}, {.prompt = {}, .answers = {answer}},
                                 origin_of(line));
}

/// The record that a failure of that line leaves.
inline std::string error_of(const io::InputLine& line, const std::string& code) {
  return request::error_record({code, "for a test", line.error_param, std::nullopt},
                               origin_of(line), Json(), 0);
}

}  // namespace sticky::test
