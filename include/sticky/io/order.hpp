#pragma once

#include <string>
#include <vector>

namespace sticky::io {

/// Sorts results.jsonl and errors.jsonl of a finished run by input order: first by file, as
/// `files` (InputOptions::files) lists them, then by line. Replaced by rename; a file in order
/// already is left alone. Memory: 24 bytes a record. FormatError for a line that is no record,
/// SystemError.
void sort_by_input(const std::string& run_dir, const std::vector<std::string>& files);

}  // namespace sticky::io
