#include <fcntl.h>
#include <filesystem>
#include <gmock/gmock.h>
#include <random>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "sticky/base/log.hpp"
#include "sticky/malleability/orders.hpp"
#include "tests/support/temp_dir.hpp"

namespace sticky::malleability {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

// A run folder, and what was logged while the test ran.
class OrderBoxTest : public testing::Test {
 protected:
  void SetUp() override {
    log::set_sink([this](log::Level, std::string_view line) { log_.emplace_back(line); });
  }
  void TearDown() override {
    log::set_sink([](log::Level, std::string_view) {});
  }

  std::string plant(const std::string& name, const std::string& bytes, mode_t mode = 0600) {
    const std::string path = dir_.write("orders/" + name, bytes);
    EXPECT_EQ(::chmod(path.c_str(), mode), 0);
    return path;
  }
  // Visible and hidden names in the folder.
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(dir_ / "orders"))
      names.push_back(entry.path().filename().string());
    return names;
  }
  [[nodiscard]] static std::vector<Order> orders_of(const std::vector<Ordered>& all) {
    std::vector<Order> orders;
    for (const Ordered& one : all)
      orders.push_back(one.order);
    return orders;
  }
  static std::string good() { return to_json(SetWorkers{4}).dump(); }

  // Takes once more: nothing comes of what was planted, one warning says why, and it is gone.
  void expect_refused(OrderBox& box, const std::string& why) {
    log_.clear();
    EXPECT_THAT(box.take(), IsEmpty());
    EXPECT_THAT(log_, ElementsAre(HasSubstr(why)));
    log_.clear();
    EXPECT_THAT(box.take(), IsEmpty());
    EXPECT_THAT(log_, IsEmpty()) << "it is looked at again and again";
  }

  test::TempDir dir_;
  std::vector<std::string> log_;
};

TEST_F(OrderBoxTest, GivesOrdersInTheirOrderOnceAndRemovesThem) {
  OrderBox box(dir_.path());
  const std::string first = write_order(dir_.path(), SetWorkers{4});
  const std::string second = write_order(dir_.path(), AddHost{{"node7", 2}});
  const std::string third = write_order(dir_.path(), DrainHost{"node7"});

  EXPECT_THAT(box.take(),
              ElementsAre(Ordered{first, SetWorkers{4}}, Ordered{second, AddHost{{"node7", 2}}},
                          Ordered{third, DrainHost{"node7"}}));
  EXPECT_THAT(names(), IsEmpty());
  EXPECT_THAT(box.take(), IsEmpty());
  EXPECT_THAT(log_, IsEmpty());
}

TEST_F(OrderBoxTest, FolderAndFilesArePrivateWhateverTheUmaskAllows) {
  const mode_t before = ::umask(0);
  const std::string id = write_order(dir_.path(), SetWorkers{4});
  ::umask(before);
  const auto mode = [&](const std::string& path) {
    struct stat status {};
    EXPECT_EQ(::stat((dir_ / path).c_str(), &status), 0) << path;
    return status.st_mode & 07777U;
  };
  EXPECT_EQ(mode("orders"), 0700U);
  EXPECT_EQ(mode("orders/" + id + ".json"), 0600U);
  EXPECT_THAT(names(), ElementsAre(id + ".json")) << "the unfinished file is left behind";
}

TEST_F(OrderBoxTest, AnOrderCanBeTakenBackUntilItIsTaken) {
  OrderBox box(dir_.path());
  const std::string first = write_order(dir_.path(), SetWorkers{4});
  const std::string second = write_order(dir_.path(), SetWorkers{5});
  EXPECT_TRUE(withdraw_order(dir_.path(), first));
  EXPECT_THAT(orders_of(box.take()), ElementsAre(Order{SetWorkers{5}}));
  EXPECT_FALSE(withdraw_order(dir_.path(), second));
}

TEST_F(OrderBoxTest, ThrowsAwayWhatAnEarlierRunLeft) {
  (void)write_order(dir_.path(), SetWorkers{4});
  plant(".half", "{");
  OrderBox box(dir_.path());

  EXPECT_THAT(log_, ElementsAre(HasSubstr("an earlier run did not take")));
  EXPECT_THAT(box.take(), IsEmpty());
  EXPECT_THAT(names(), IsEmpty());
}

TEST_F(OrderBoxTest, DoesNotLookAtAFileThatIsNotFinished) {
  OrderBox box(dir_.path());
  plant(".123", good());
  EXPECT_THAT(box.take(), IsEmpty());
  EXPECT_THAT(names(), ElementsAre(".123"));
  EXPECT_THAT(log_, IsEmpty());
}

TEST_F(OrderBoxTest, RefusesWhatGroupOrOthersCanReach) {
  OrderBox box(dir_.path());
  for (const mode_t mode : {0604U, 0602U, 0601U, 0640U, 0620U, 0610U, 0666U}) {
    plant("1.json", good(), mode);
    expect_refused(box, "can be reached by group or others");
  }
}

TEST_F(OrderBoxTest, RefusesAnotherUsersFile) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  OrderBox box(dir_.path());
  const std::string path = plant("1.json", good());
  ASSERT_EQ(::chown(path.c_str(), 12345, 12345), 0);
  expect_refused(box, "belongs to user 12345, not to 0");
}

TEST_F(OrderBoxTest, NeverFollowsALink) {
  OrderBox box(dir_.path());
  const std::string target = dir_.write("target", good());
  ASSERT_EQ(::chmod(target.c_str(), 0600), 0);
  fs::create_symlink(target, dir_ / "orders/1.json");
  expect_refused(box, "it is a link");
  EXPECT_TRUE(fs::exists(target)) << "what the link pointed to was removed";

  fs::create_hard_link(target, dir_ / "orders/2.json");
  expect_refused(box, "it has 2 names");
  EXPECT_TRUE(fs::exists(target));
}

TEST_F(OrderBoxTest, NeverWaitsForAFifoNobodyWritesTo) {
  OrderBox box(dir_.path());
  ASSERT_EQ(::mkfifo((dir_ / "orders/1.json").c_str(), 0600), 0);
  expect_refused(box, "it is a FIFO");
  EXPECT_THAT(names(), IsEmpty());
}

TEST_F(OrderBoxTest, RefusesASocket) {
  OrderBox box(dir_.path());
  const int fd = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = dir_ / "orders/1.json";
  ASSERT_LT(path.size(), sizeof address.sun_path);
  path.copy(address.sun_path, path.size());
  ASSERT_EQ(::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ::close(fd);
  expect_refused(box, "it is a socket");
}

TEST_F(OrderBoxTest, RefusesFoldersAndKeepsTheFullOnesOutOfTheWay) {
  OrderBox box(dir_.path());
  fs::create_directory(dir_ / "orders/1.json");
  expect_refused(box, "it is a folder");
  EXPECT_THAT(names(), IsEmpty());

  fs::create_directories(dir_ / "orders/2.json/deep");
  expect_refused(box, "it is a folder");
  EXPECT_THAT(names(), ElementsAre(testing::StartsWith(".refused-")));
}

TEST_F(OrderBoxTest, RefusesLargeMisnamedAndMalformedFiles) {
  OrderBox box(dir_.path());
  plant("1.json", good() + std::string(4096, ' '));
  expect_refused(box, "more than 4096");
  plant("1.txt", good());
  expect_refused(box, "the name does not end in .json");
  plant("1.json", "");
  expect_refused(box, "refused and removed");
  plant("1.json", "{\"version\":1,\"order\":\"shutdown\"}");
  expect_refused(box, "none of set_workers");
}

TEST_F(OrderBoxTest, AnOrderOfExactlyTheLargestSizeIsTaken) {
  OrderBox box(dir_.path());
  std::string bytes = good();
  bytes.resize(4096, ' ');
  plant("1.json", bytes);
  EXPECT_THAT(orders_of(box.take()), ElementsAre(Order{SetWorkers{4}}));
}

TEST_F(OrderBoxTest, AHostileFileDoesNotHideTheOrdersAroundIt) {
  OrderBox box(dir_.path());
  plant("1.json", good());
  ASSERT_EQ(::mkfifo((dir_ / "orders/2.json").c_str(), 0600), 0);
  plant("3.json", to_json(DrainHost{"n"}).dump());
  EXPECT_THAT(orders_of(box.take()), ElementsAre(Order{SetWorkers{4}}, Order{DrainHost{"n"}}));
}

// A part of an order, or one with a flipped byte, is refused or is another well-formed order; it
// never ends the program and never stays.
TEST_F(OrderBoxTest, SurvivesTruncatedAndFlippedOrders) {
  OrderBox box(dir_.path());
  const std::string whole = to_json(AddHost{{"node7", 2}}).dump();
  for (std::size_t n = 0; n < whole.size(); ++n) {
    plant("1.json", whole.substr(0, n));
    EXPECT_THAT(box.take(), IsEmpty()) << n;
  }
  std::mt19937 random(7);
  for (int i = 0; i < 2000; ++i) {
    std::string bytes = whole;
    for (int k = 0; k < 1 + i % 3; ++k)
      bytes[random() % bytes.size()] ^= static_cast<char>(1U << random() % 8);
    plant("1.json", bytes);
    for (const Ordered& taken : box.take())
      EXPECT_EQ(order_of(to_json(taken.order)), taken.order) << bytes;
  }
  EXPECT_THAT(names(), IsEmpty());
}

TEST_F(OrderBoxTest, AFolderThatOthersCanReachGivesNoOrders) {
  fs::create_directory(dir_ / "orders");
  ASSERT_EQ(::chmod((dir_ / "orders").c_str(), 0770), 0);
  OrderBox box(dir_.path());
  EXPECT_THAT(log_, ElementsAre(HasSubstr("this run takes no orders")));
  plant("1.json", good());
  EXPECT_THAT(box.take(), IsEmpty());
  EXPECT_THAT(names(), ElementsAre("1.json"));
}

TEST_F(OrderBoxTest, AFolderThatIsALinkGivesNoOrders) {
  fs::create_directory(dir_ / "elsewhere");
  ASSERT_EQ(::chmod((dir_ / "elsewhere").c_str(), 0700), 0);
  fs::create_directory_symlink(dir_ / "elsewhere", dir_ / "orders");
  OrderBox box(dir_.path());
  EXPECT_THAT(log_, ElementsAre(HasSubstr("this run takes no orders")));
  plant("1.json", good());
  EXPECT_THAT(box.take(), IsEmpty());
  EXPECT_TRUE(fs::exists(dir_ / "elsewhere/1.json"));
}

TEST_F(OrderBoxTest, AFolderThatIsRemovedIsMadeAgain) {
  OrderBox box(dir_.path());
  fs::remove(dir_ / "orders");
  EXPECT_THAT(box.take(), IsEmpty());
  EXPECT_THAT(log_, ElementsAre(HasSubstr("was gone and is made again")));
  struct stat status {};
  ASSERT_EQ(::lstat((dir_ / "orders").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777U, 0700U);
  (void)write_order(dir_.path(), SetWorkers{4});
  EXPECT_THAT(orders_of(box.take()), ElementsAre(Order{SetWorkers{4}}));
  EXPECT_THAT(log_, testing::SizeIs(1));
}

TEST_F(OrderBoxTest, OrdersAreTakenFromTheFolderThatStandsInItsPlace) {
  OrderBox box(dir_.path());
  fs::remove(dir_ / "orders");
  (void)write_order(dir_.path(), SetWorkers{4});  // makes the folder
  EXPECT_THAT(orders_of(box.take()), ElementsAre(Order{SetWorkers{4}}));
  fs::rename(dir_ / "orders", dir_ / "aside");
  (void)write_order(dir_.path(), SetWorkers{5});
  EXPECT_THAT(orders_of(box.take()), ElementsAre(Order{SetWorkers{5}}));
}

TEST_F(OrderBoxTest, AFolderThatCannotBeMadeAgainOrTrustedIsSaidOnce) {
  OrderBox box(dir_.path());
  fs::remove(dir_ / "orders");
  fs::create_directory_symlink(dir_.path(), dir_ / "orders");
  for (int i = 0; i < 3; ++i)
    EXPECT_THAT(box.take(), IsEmpty());
  EXPECT_THAT(log_, testing::Contains(HasSubstr("this run takes no orders")).Times(1));
  log_.clear();
  fs::remove_all(dir_.path());
  for (int i = 0; i < 3; ++i)
    EXPECT_THAT(box.take(), IsEmpty());
  EXPECT_THAT(log_, ElementsAre(HasSubstr("cannot be made again")));
  fs::create_directory(dir_.path());
  (void)write_order(dir_.path(), SetWorkers{4});
  EXPECT_THAT(orders_of(box.take()), ElementsAre(Order{SetWorkers{4}}));
}

TEST_F(OrderBoxTest, ManyOrdersComeInPortionsAndInOrder) {
  OrderBox box(dir_.path());
  for (int i = 1; i <= 300; ++i)
    (void)write_order(dir_.path(), SetWorkers{i});
  std::vector<Order> all = orders_of(box.take());
  EXPECT_EQ(all.size(), 256U);
  for (const Order& order : orders_of(box.take()))
    all.push_back(order);
  ASSERT_EQ(all.size(), 300U);
  for (int i = 1; i <= 300; ++i)
    EXPECT_EQ(all[static_cast<std::size_t>(i - 1)], Order{SetWorkers{i}});
}

TEST(WriteOrder, NamesTheFolderThatCannotBeMade) {
  try {
    (void)write_order("/proc/no-such-run", SetWorkers{1});
    FAIL() << "expected SystemError";
  } catch (const SystemError& error) {
    EXPECT_THAT(error.what(), HasSubstr("/proc/no-such-run/orders: cannot be made"));
  }
}

}  // namespace
}  // namespace sticky::malleability
