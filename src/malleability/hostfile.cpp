#include <cerrno>
#include <charconv>
#include <fcntl.h>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "sticky/base/error.hpp"
#include "sticky/base/log.hpp"
#include "sticky/malleability/idle_nodes.hpp"

#include "fd.hpp"

namespace sticky::malleability {
namespace {

constexpr i64 kLargest = 1 << 20;
constexpr std::string_view kHostfile = "hostfile:";

std::vector<std::string_view> words_of(std::string_view line) {
  constexpr std::string_view kBlank = " \t\r";
  line = line.substr(0, line.find('#'));
  std::vector<std::string_view> words;
  while (true) {
    const auto begin = line.find_first_not_of(kBlank);
    if (begin == std::string_view::npos) return words;
    line.remove_prefix(begin);
    const auto end = std::min(line.find_first_of(kBlank), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
}

i64 slots_of(std::string_view text, std::string_view word) {
  i64 n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc{} || end != text.data() + text.size() || n < 0 || n > kMostSlots)
    fail<FormatError>("\"{}\": the slots must be a number from 0 to {}", word, kMostSlots);
  return n;
}

Host host_of(const std::vector<std::string_view>& words) {
  Host host = parse_host(words.front());
  for (std::size_t i = 1; i < words.size(); ++i) {
    const auto equals = words[i].find('=');
    const std::string_view key = words[i].substr(0, equals);
    const bool has_value = equals != std::string_view::npos;
    if (!has_value || (key != "slots" && key != "max_slots" && key != "max-slots"))
      fail<FormatError>("\"{}\" is none of slots=N and max_slots=N", words[i]);
    const i64 n = slots_of(words[i].substr(equals + 1), words[i]);
    if (key == "slots") host.n_slots = n;
  }
  return host;
}

class Hostfile final : public IdleNodes {
 public:
  explicit Hostfile(std::string path) : path_(std::move(path)) {}

  std::optional<std::vector<Host>> sample() override {
    try {
      look();
    } catch (const Error& error) {
      hosts_.reset();
      seen_ = {};
      complain(error.what());
    }
    return hosts_;
  }

 private:
  // What tells one version of the file from another.
  struct Version {
    dev_t device = 0;
    ino_t inode = 0;
    off_t n_bytes = -1;
    timespec changed{};
    bool operator==(const Version& other) const {
      return device == other.device && inode == other.inode && n_bytes == other.n_bytes &&
             changed.tv_sec == other.changed.tv_sec && changed.tv_nsec == other.changed.tv_nsec;
    }
  };

  void look() {
    // Not blocking: a FIFO in its place must not stop the run.
    const Fd fd(::open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    struct stat status {};
    if (!fd.is_open() || ::fstat(fd.get(), &status) != 0)
      fail<SystemError>("cannot be opened: {}", reason_of(errno));
    if (const auto kind = kind_unless_plain(status); !kind.empty())
      fail<SystemError>("it is {}, not a plain file", kind);
    const Version now{status.st_dev, status.st_ino, status.st_size, status.st_mtim};
    const bool is_same = std::exchange(seen_, now) == now;
    if (!is_same) {
      hosts_.reset();  // perhaps it is just being written
      return;
    }
    if (hosts_) return;
    const auto text = read_at_most(fd, kLargest);
    if (!text) fail<FormatError>("it is larger than {} bytes", kLargest);
    hosts_ = parse_hostfile(*text);
    complaint_.clear();
  }

  void complain(const std::string& why) {
    if (std::exchange(complaint_, why) == why) return;
    log::warning("resize.watch: {}: {}; so it is not known which hosts are idle", path_, why);
  }

  std::string path_;
  Version seen_;
  std::optional<std::vector<Host>> hosts_;
  std::string complaint_;
};

}  // namespace

std::vector<Host> parse_hostfile(std::string_view text) {
  std::vector<Host> hosts;
  std::map<std::string, std::size_t> place_of;
  i64 line = 0;
  while (!text.empty()) {
    ++line;
    const auto end = std::min(text.find('\n'), text.size());
    const auto words = words_of(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (words.empty()) continue;
    try {
      const Host host = host_of(words);
      const auto [place, is_new] = place_of.try_emplace(host.name, hosts.size());
      if (is_new)
        hosts.push_back(host);
      else
        hosts[place->second].n_slots += host.n_slots;
    } catch (const FormatError& error) {
      fail<FormatError>("line {}: {}", line, error.what());
    }
  }
  return hosts;
}

std::string problem_of_watch(const std::string& watch) {
  if (watch == "off") return "";
  if (watch == "slurm") return "\"slurm\" comes later; so far it is \"off\" or \"hostfile:FILE\"";
  if (watch == kHostfile) return "a file is missing after \"hostfile:\"";
  if (watch.starts_with(kHostfile)) return "";
  return fmt::format("\"{}\" is neither \"off\" nor \"hostfile:FILE\"", watch);
}

std::unique_ptr<IdleNodes> make_idle_nodes(const std::string& watch) {
  const std::string problem = problem_of_watch(watch);
  if (!problem.empty()) fail<ConfigError>("resize.watch: {}", problem);
  if (watch == "off") return nullptr;
  return std::make_unique<Hostfile>(watch.substr(kHostfile.size()));
}

}  // namespace sticky::malleability
