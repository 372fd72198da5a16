#include "resize.hpp"

#include <filesystem>
#include <gmock/gmock.h>
#include <optional>
#include <unistd.h>

#include <gtest/gtest.h>

#include "sticky/base/error.hpp"
#include "sticky/io/run_folder.hpp"
#include "sticky/malleability/resize_status.hpp"
#include "tests/support/temp_dir.hpp"

namespace sticky::cli {
namespace {

using malleability::AddHost;
using malleability::DrainHost;
using malleability::Order;
using malleability::Ordered;
using malleability::SetWorkers;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A run whose coordinator takes orders whenever the command waits.
class ResizeCommand : public testing::Test {
 protected:
  void SetUp() override { testing::internal::CaptureStdout(); }
  void TearDown() override {
    if (!is_printed_) (void)printed();
  }

  // One turn of the coordinator.
  bool answer(const std::string& refusal) {
    for (const Ordered& ordered : box_.take()) {
      status_.add({.id = ordered.id,
                   .text = malleability::text_of(ordered.order),
                   .is_accepted = refusal.empty(),
                   .reason = refusal.empty() ? "2 workers to start" : refusal});
      taken_.push_back(ordered.order);
    }
    folder_->write_file("status.json",
                        Json::object({{"resize", malleability::to_json(status_)}}).dump());
    return ++n_turns_ < 5;
  }
  std::string printed() {
    is_printed_ = true;
    return testing::internal::GetCapturedStdout();
  }

  test::TempDir dir_;
  std::unique_ptr<io::RunFolder> folder_ =
      io::RunFolder::open(dir_.path(), io::RunFolder::Mode::create);
  malleability::OrderBox box_{dir_.path()};
  malleability::ResizeStatus status_;
  std::vector<Order> taken_;
  int n_turns_ = 0;
  bool is_printed_ = false;
};

TEST_F(ResizeCommand, TellsWhatTheRunAnswersAndEndsWell) {
  EXPECT_EQ(give_orders(dir_.path(), {SetWorkers{4}}, [&] { return answer(""); }), 0);
  EXPECT_THAT(taken_, ElementsAre(Order{SetWorkers{4}}));
  EXPECT_EQ(printed(), "--workers 4: accepted: 2 workers to start\n");
}

TEST_F(ResizeCommand, ARefusedOrderEndsWithOneAndTheReason) {
  EXPECT_EQ(give_orders(dir_.path(), {SetWorkers{4}},
                        [&] { return answer("this run cannot start workers: a fixed world"); }),
            1);
  EXPECT_EQ(printed(), "--workers 4: refused: this run cannot start workers: a fixed world\n");
}

TEST_F(ResizeCommand, AnOrderThatNobodyTakesIsWithdrawn) {
  int n = 0;
  EXPECT_EQ(give_orders(dir_.path(), {SetWorkers{4}}, [&] { return ++n < 5; }), 1);
  EXPECT_THAT(printed(), HasSubstr("did not take the order, which is withdrawn"));
  EXPECT_THAT(box_.take(), IsEmpty());
}

TEST_F(ResizeCommand, SeveralHostsAreSeveralOrders) {
  const ResizeFlags flags{
      .run_dir = dir_.path(), .adds = {"node7:2", "node8"}, .drains = {"node3"}};
  EXPECT_EQ(give_orders(dir_.path(), orders_of(flags), [&] { return answer(""); }), 0);
  EXPECT_THAT(taken_, ElementsAre(Order{AddHost{{"node7", 2}}}, Order{AddHost{{"node8", 1}}},
                                  Order{DrainHost{"node3"}}));
  EXPECT_THAT(printed(), HasSubstr("--add node8:1: accepted"));
}

TEST_F(ResizeCommand, SaysThatTheRunHasEndedWhenItEndsMeanwhile) {
  EXPECT_EQ(give_orders(dir_.path(), {SetWorkers{4}},
                        [&] {
                          folder_.reset();
                          return false;
                        }),
            1);
  EXPECT_EQ(printed(), "--workers 4: the run has ended\n");
}

TEST_F(ResizeCommand, WithoutARunAtWorkNothingIsWritten) {
  const auto refused = [&](const std::string& why) {
    try {
      (void)give_orders(dir_.path(), {SetWorkers{4}}, [] { return false; });
      ADD_FAILURE() << "expected ConfigError";
    } catch (const ConfigError& error) {
      EXPECT_THAT(error.what(), HasSubstr(why));
    }
  };
  folder_.reset();
  refused("holds no run");
  dir_.write("job.json", "{}");
  refused("was cut short");
  dir_.write("summary.json", "{\"exit_code\": 0}");
  refused("the run has ended");
  EXPECT_THAT(box_.take(), IsEmpty());
}

TEST_F(ResizeCommand, ARunOfAnotherUserIsNamedAsTheirs) {
  constexpr uid_t kNobody = 65534;
  if (::chown((dir_ / "orders").c_str(), kNobody, kNobody) != 0)
    GTEST_SKIP() << "only root may give a folder away";
  try {
    (void)give_orders(dir_.path(), {SetWorkers{4}}, [] { return false; });
    FAIL() << "expected ConfigError";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("this run belongs to nobody"));
  }
  EXPECT_TRUE(std::filesystem::is_empty(dir_ / "orders"));
}

TEST(ResizeOrders, NameAHostThatIsNone) {
  const auto orders = [](std::vector<std::string> adds, std::vector<std::string> drains) {
    return orders_of({.run_dir = "r", .adds = std::move(adds), .drains = std::move(drains)});
  };
  EXPECT_THROW((void)orders({"a b"}, {}), ConfigError);
  EXPECT_THROW((void)orders({"n:0"}, {}), ConfigError);
  EXPECT_THROW((void)orders({}, {"n:2"}), ConfigError);
}

}  // namespace
}  // namespace sticky::cli
