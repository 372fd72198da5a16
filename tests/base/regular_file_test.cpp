#include "sticky/base/regular_file.hpp"

#include <cstring>
#include <filesystem>
#include <string>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "sticky/base/error.hpp"
#include "tests/support/temp_dir.hpp"

namespace sticky {
namespace {

std::string why_not(const std::string& path) {
  try {
    (void)read_regular_file(path);
  } catch (const SystemError& error) {
    return error.what();
  }
  return "";
}

TEST(RegularFile, IsReadWhole) {
  const test::TempDir dir;
  // Around the size of one read, with bytes that text reading would stop at.
  for (const std::size_t n : {0U, 1U, 65535U, 65536U, 65537U, 200000U}) {
    std::string bytes(n, '\0');
    for (std::size_t i = 0; i < n; ++i)
      bytes[i] = static_cast<char>(i * 7 % 251);
    EXPECT_EQ(read_regular_file(dir.write("file", bytes)), bytes) << n;
  }
}

TEST(RegularFile, IsAlsoReadThroughALink) {
  const test::TempDir dir;
  dir.write("file", "text");
  std::filesystem::create_symlink("file", dir / "link");
  EXPECT_EQ(read_regular_file(dir / "link"), "text");
}

TEST(RegularFile, IsNotWhatOnlyBearsSuchAName) {
  const test::TempDir dir;
  const std::string pipe = dir / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const std::string socket = dir / "socket";
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  ASSERT_LT(socket.size(), sizeof address.sun_path);
  std::memcpy(address.sun_path, socket.c_str(), socket.size() + 1);
  const int listener = ::socket(AF_UNIX, SOCK_STREAM, 0);
  ASSERT_EQ(::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);

  EXPECT_EQ(why_not(pipe), pipe + ": cannot be read: it is a pipe, not a regular file");
  EXPECT_EQ(why_not(socket), socket + ": cannot be read: it is a socket, not a regular file");
  EXPECT_EQ(why_not(dir.path()),
            dir.path() + ": cannot be read: it is a folder, not a regular file");
  EXPECT_EQ(why_not("/dev/zero"), "/dev/zero: cannot be read: it is a device, not a regular file");
  EXPECT_EQ(why_not(dir / "gone"), dir / "gone: cannot be read: No such file or directory");
  ::close(listener);
}

}  // namespace
}  // namespace sticky
