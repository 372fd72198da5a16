// The folder through which a user steers a run: written by write_order(), read by OrderBox.
#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <dirent.h>
#include <fcntl.h>
#include <string_view>
#include <sys/random.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "sticky/base/error.hpp"
#include "sticky/base/log.hpp"
#include "sticky/malleability/orders.hpp"

#include "fd.hpp"

namespace sticky::malleability {
namespace {

constexpr const char* kFolder = "/orders";
constexpr std::string_view kEnding = ".json";
constexpr i64 kLargest = 4096;
constexpr std::size_t kMostAtOnce = 256;
constexpr mode_t kFolderMode = 0700;
constexpr mode_t kFileMode = 0600;

void make_folder(const std::string& path) {
  if (::mkdir(path.c_str(), kFolderMode) != 0 && errno != EEXIST)
    fail<SystemError>("{}: cannot be made: {}", path, reason_of(errno));
}

// Names sort by the time of writing; the rest keeps two writers of one moment apart.
std::string new_id() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  std::uint64_t random = 0;
  if (::getrandom(&random, sizeof random, 0) != sizeof random)
    fail<SystemError>("no random number for the name of an order: {}", reason_of(errno));
  return fmt::format("{:012}{:09}-{:016x}", now.tv_sec, now.tv_nsec, random);
}

void write_all(const Fd& fd, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd.get(), bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail<SystemError>("{}: cannot be written: {}", path, reason_of(errno));
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

}  // namespace

std::string write_order(const std::string& run_dir, const Order& order) {
  const std::string folder = run_dir + kFolder;
  make_folder(folder);
  const std::string id = new_id();
  const std::string path = fmt::format("{}/{}{}", folder, id, kEnding);
  // A leading dot keeps the box from looking at it before it is complete.
  const std::string unfinished = fmt::format("{}/.{}", folder, id);
  const Fd fd(
      ::open(unfinished.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, kFileMode));
  if (!fd.is_open()) fail<SystemError>("{}: cannot be made: {}", unfinished, reason_of(errno));
  try {
    write_all(fd, to_json(order).dump() + "\n", unfinished);
    if (::rename(unfinished.c_str(), path.c_str()) != 0)
      fail<SystemError>("{}: cannot get its name: {}", path, reason_of(errno));
  } catch (const SystemError&) {
    ::unlink(unfinished.c_str());
    throw;
  }
  return id;
}

bool withdraw_order(const std::string& run_dir, const std::string& id) {
  return ::unlink(fmt::format("{}{}/{}{}", run_dir, kFolder, id, kEnding).c_str()) == 0;
}

class OrderBox::Folder {
 public:
  explicit Folder(std::string path) : path_(std::move(path)) {
    make_folder(path_);
    open();
    discard_old();
  }

  std::vector<Ordered> take() {
    std::vector<Ordered> orders;
    reopen_if_another();
    if (!fd_.is_open()) return orders;
    std::vector<std::string> all = names();
    std::erase_if(all, [](const std::string& name) { return name.front() == '.'; });
    std::sort(all.begin(), all.end());
    if (all.size() > kMostAtOnce) all.resize(kMostAtOnce);
    for (const std::string& name : all)
      take_one(name, orders);
    return orders;
  }

 private:
  // A folder that was removed or put aside would make the run deaf: what users write to is what the
  // path leads to. Once for each folder that stands there, and once for none that can be made.
  void reopen_if_another() {
    struct stat status {};
    const bool is_there = ::lstat(path_.c_str(), &status) == 0;
    if (is_there && status.st_dev == seen_.st_dev && status.st_ino == seen_.st_ino) return;
    if (!is_there && errno != ENOENT) return;
    fd_ = Fd();
    if (!is_there && ::mkdir(path_.c_str(), kFolderMode) != 0 && errno != EEXIST) {
      if (std::exchange(seen_.st_ino, 0) != 0)
        log::warning("{}: is gone and cannot be made again: {}: this run takes no orders", path_,
                     reason_of(errno));
      return;
    }
    open();
    if (fd_.is_open())
      log::warning("{}: {}: orders are taken from there", path_,
                   is_there ? "another folder stands there" : "was gone and is made again");
  }

  void open() {
    seen_ = {};
    (void)::lstat(path_.c_str(), &seen_);
    Fd fd(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    struct stat status {};
    if (!fd.is_open() || ::fstat(fd.get(), &status) != 0) {
      log::warning("{}: {}: this run takes no orders", path_, reason_of(errno));
      return;
    }
    const std::string why = why_not_private(status);
    if (why.empty())
      fd_ = std::move(fd);
    else
      log::warning("{}: the folder {}: this run takes no orders", path_, why);
  }

  void discard_old() {
    if (!fd_.is_open()) return;
    for (const std::string& name : names()) {
      remove(name);
      if (name.front() != '.')
        log::warning("{}/{}: an order that an earlier run did not take is thrown away", path_,
                     name);
    }
  }

  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> names;
    // A descriptor of its own: fdopendir() takes it over, and its position with it.
    const int fd = ::openat(fd_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR* const dir = fd < 0 ? nullptr : ::fdopendir(fd);
    if (dir == nullptr) {
      if (fd >= 0) ::close(fd);
      return names;
    }
    while (const dirent* entry = ::readdir(dir)) {
      const std::string_view name = entry->d_name;
      if (name != "." && name != ".." && !name.starts_with(kKeptBack)) names.emplace_back(name);
    }
    ::closedir(dir);
    return names;
  }

  void take_one(const std::string& name, std::vector<Ordered>& orders) {
    std::string why;
    try {
      if (name.size() <= kEnding.size() || !name.ends_with(kEnding))
        fail<FormatError>("the name does not end in {}", kEnding);
      Order order = order_of(Json::parse(read(name)));
      orders.push_back({name.substr(0, name.size() - kEnding.size()), std::move(order)});
    } catch (const Error& error) {
      why = error.what();
    }
    const bool is_gone = remove(name);
    if (!why.empty()) {
      log::warning("{}/{}: refused and removed: {}", path_, name, why);
    } else if (!is_gone) {
      // It would be taken again and again.
      orders.pop_back();
      log::warning("{}/{}: refused: it cannot be removed", path_, name);
    }
  }

  // Opened without following or waiting; what was looked at before is looked at again once it is
  // open, for another file may have got its name in between.
  [[nodiscard]] std::string read(const std::string& name) const {
    struct stat status {};
    if (::fstatat(fd_.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0)
      fail<SystemError>("cannot be looked at: {}", reason_of(errno));
    check(status);
    const Fd fd(::openat(fd_.get(), name.c_str(),
                         O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    if (!fd.is_open() || ::fstat(fd.get(), &status) != 0)
      fail<SystemError>("cannot be opened: {}", reason_of(errno));
    check(status);
    auto bytes = read_at_most(fd, kLargest);
    if (!bytes) fail<FormatError>("it is larger than {} bytes", kLargest);
    return std::move(*bytes);
  }

  static void check(const struct stat& status) {
    if (const auto kind = kind_unless_plain(status); !kind.empty())
      fail<FormatError>("it is {}, not a plain file", kind);
    if (const auto why = why_not_private(status); !why.empty()) fail<FormatError>("it {}", why);
    if (status.st_nlink > 1) fail<FormatError>("it has {} names", status.st_nlink);
    if (status.st_size > kLargest)
      fail<FormatError>("it has {} bytes, more than {}", status.st_size, kLargest);
  }

  // A folder that is not empty stays, under a name that is not looked at again.
  bool remove(const std::string& name) {
    if (::unlinkat(fd_.get(), name.c_str(), 0) == 0 ||
        ::unlinkat(fd_.get(), name.c_str(), AT_REMOVEDIR) == 0)
      return true;
    const std::string kept = fmt::format("{}{}", kKeptBack, new_id());
    return ::renameat(fd_.get(), name.c_str(), fd_.get(), kept.c_str()) == 0;
  }

  static constexpr std::string_view kKeptBack = ".refused-";
  std::string path_;
  struct stat seen_ {};  // what stood there when it was opened, or refused
  Fd fd_;
};

OrderBox::OrderBox(const std::string& run_dir)
    : folder_(std::make_unique<Folder>(run_dir + kFolder)) {}

OrderBox::~OrderBox() = default;

std::vector<Ordered> OrderBox::take() {
  return folder_->take();
}

}  // namespace sticky::malleability
