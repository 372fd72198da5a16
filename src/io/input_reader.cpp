#include "sticky/io/input_reader.hpp"

#include <fcntl.h>
#include <map>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sticky/base/error.hpp"
#include "sticky/base/json.hpp"
#include "sticky/request/request.hpp"

#include "id_set.hpp"
#include "line_record.hpp"
#include "line_splitter.hpp"
#include "record.hpp"

namespace sticky::io {

std::string made_up_id(std::string_view file, i64 line) {
  return fmt::format("{}:{}", file, line);
}

bool is_reader_fault(std::string_view code, std::string_view param) {
  return code == kInvalidJsonLine || code == kLineTooLong || code == kDuplicateId ||
         (code == kInvalidRequest && param == kIdParam);
}

namespace {

struct InputFile {
  std::string label;     // as ids and records name it
  std::string path;      // empty: standard input as it comes
  i64 packed_bytes = 0;  // -1: unknown
};

// What a shell's <(command) is called: open already, so that opening it again waits for nobody.
bool is_own_descriptor(std::string_view path) {
  return path.starts_with("/dev/fd/") || path.starts_with("/proc/self/fd/");
}

File open_named(const std::string& path) {
  return is_own_descriptor(path) ? File::open(path, O_RDONLY) : File::open_regular(path);
}

bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

void set_error(InputLine& line, std::string_view code, std::string message) {
  line.error_code = code;
  line.error_message = std::move(message);
}

class FilesReader final : public InputReader {
 public:
  FilesReader(std::vector<InputFile> files, i64 max_line_bytes)
      : files_(std::move(files)),
        max_line_bytes_(max_line_bytes) {}

  std::optional<InputLine> next() override {
    try {
      while (const auto raw = next_physical_line()) {
        if (!raw->is_too_long && is_blank(raw->text)) continue;
        return understand(*raw);
      }
    } catch (const Error&) {
      is_over_ = true;
      throw;
    }
    return std::nullopt;
  }

  [[nodiscard]] i64 bytes_read() const override {
    return n_bytes_of_closed_ + (lines_ ? lines_->n_packed_bytes() : 0);
  }

  [[nodiscard]] i64 bytes_total() const override {
    i64 total = 0;
    for (const InputFile& file : files_) {
      if (file.packed_bytes < 0) return -1;
      total += file.packed_bytes;
    }
    return total;
  }

 private:
  std::optional<LineSplitter::Line> next_physical_line() {
    while (!is_over_) {
      if (!lines_) {
        if (n_opened_ == files_.size()) break;
        const InputFile& file = files_[n_opened_++];
        lines_.emplace(open_bytes(file.path.empty() ? File::borrow(STDIN_FILENO, file.label)
                                                    : open_named(file.path)),
                       max_line_bytes_);
      }
      if (auto line = lines_->next()) return line;
      n_bytes_of_closed_ += lines_->n_packed_bytes();
      lines_.reset();
    }
    return std::nullopt;
  }

  InputLine understand(const LineSplitter::Line& raw) {
    InputLine line;
    line.id = {n_lines_++};
    line.file = files_[n_opened_ - 1].label;
    line.line = raw.number;
    line.byte_offset = raw.byte_offset;
    line.custom_id = made_up_id(line.file, line.line);
    if (raw.is_too_long) {
      set_error(line, kLineTooLong,
                fmt::format("the line has {} bytes, more than the {} allowed", raw.n_bytes,
                            max_line_bytes_));
      line.hash = hash128(std::string(raw.text) + std::to_string(raw.n_bytes));
      return line;
    }
    line.payload = raw.text;
    try {
      understand_json(Json::parse(raw.text), line);
    } catch (const FormatError& e) {
      set_error(line, kInvalidJsonLine, fmt::format("the line is no valid JSON: {}", e.what()));
      line.hash = hash128(raw.text);
    }
    return line;
  }

  void understand_json(const Json& json, InputLine& line) {
    if (!json.is_object()) {
      set_error(line, kInvalidJsonLine,
                fmt::format("the line is {}, not an object", json.kind_name()));
      line.hash = hash128(line.payload);
      return;
    }
    line.hash = hash128(request::canonical_request(json));
    line.model = request::model_of(json).value_or("");
    const auto id = request::id_of(json);
    if (!id && (json.find("custom_id") != nullptr || json.find("id") != nullptr)) {
      set_error(line, kInvalidRequest, "'custom_id' must be a string that is not empty");
      line.error_param = kIdParam;
      return;
    }
    // A given id that is just what a line without one would be called is no different from none.
    line.has_id = id && *id != line.custom_id;
    if (id) line.custom_id = *id;
    if (!ids_.insert(hash128(line.custom_id)))
      set_error(
          line, kDuplicateId,
          fmt::format("'custom_id' {} was given by an earlier line", Json(line.custom_id).dump()));
    if (line.error_code == kDuplicateId) line.error_param = kIdParam;
  }

  std::vector<InputFile> files_;
  i64 max_line_bytes_;
  std::size_t n_opened_ = 0;
  std::optional<LineSplitter> lines_;  // of the file opened last
  i64 n_lines_ = 0;
  i64 n_bytes_of_closed_ = 0;
  bool is_over_ = false;
  IdSet ids_;
};

constexpr std::string_view kStandardInput = "stdin";

InputFile describe(const std::string& name,
                   const InputOptions& options,
                   std::vector<std::string>& problems) {
  if (name == "-" && options.kept_standard_input.empty())
    return {std::string(kStandardInput), "", -1};
  InputFile file{name == "-" ? std::string(kStandardInput) : name,
                 name == "-" ? options.kept_standard_input : name, -1};
  if (is_own_descriptor(file.path)) return file;
  try {
    file.packed_bytes = File::open_regular(file.path).size();
  } catch (const SystemError& error) {
    problems.emplace_back(error.what());
  }
  return file;
}

// One file has one, however it is called.
std::string identity_of(const InputFile& file) {
  struct stat status {};
  if (file.path.empty() || is_own_descriptor(file.path) || ::stat(file.path.c_str(), &status) != 0)
    return file.label;
  return fmt::format("{}:{}", status.st_dev, status.st_ino);
}

}  // namespace

std::unique_ptr<InputReader> open_input(const InputOptions& options) {
  std::vector<std::string> problems;
  std::vector<InputFile> files;
  std::map<std::string, std::string> seen;  // identity -> the name that came first
  for (const std::string& name : options.files) {
    files.push_back(describe(name, options, problems));
    // Its requests would be answered twice, or be duplicates one and all.
    const auto [first, is_new] = seen.emplace(identity_of(files.back()), name);
    if (is_new) continue;
    const std::string other_name =
        first->second == name ? "" : fmt::format(", first as {}", first->second);
    problems.push_back(fmt::format("{}: is listed twice{}", name, other_name));
  }
  if (files.empty()) problems.emplace_back("no input file is given");
  if (static_cast<i64>(files.size()) > FileLine::kMaxFiles)
    problems.push_back(fmt::format("{} input files are more than {}: join some of them",
                                   files.size(), FileLine::kMaxFiles));
  if (!problems.empty()) fail<ConfigError>("{}", fmt::join(problems, "\n"));
  return std::make_unique<FilesReader>(std::move(files), options.max_line_bytes);
}

namespace {

// Calls `on_wait` again and again until a read would not block.
void wait_for_bytes(int fd, const std::function<void()>& on_wait) {
  constexpr int kPatienceMilliseconds = 100;
  pollfd wanted{.fd = fd, .events = POLLIN, .revents = 0};
  do
    on_wait();
  while (::poll(&wanted, 1, kPatienceMilliseconds) == 0);
}

}  // namespace

std::string keep_standard_input(const std::string& run_dir,
                                bool may_be_kept,
                                const std::function<void()>& on_wait,
                                int fd) {
  constexpr std::size_t kPiece = 1U << 20U;
  std::string path = run_dir + "/stdin.jsonl";
  if (may_be_kept && exists(path)) return path;
  const std::string temporary = path + ".tmp";
  File in = File::borrow(fd, std::string(kStandardInput));
  File out = File::open(temporary, O_WRONLY | O_CREAT | O_TRUNC);
  std::vector<char> piece(kPiece);
  while (true) {
    wait_for_bytes(fd, on_wait);
    const i64 n = in.read(piece);
    if (n == 0) break;
    out.write({piece.data(), static_cast<std::size_t>(n)});
  }
  out.sync();
  rename_file(temporary, path);
  return path;
}

}  // namespace sticky::io
