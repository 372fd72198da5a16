#include "sticky/malleability/idle_nodes.hpp"

#include <filesystem>
#include <gmock/gmock.h>
#include <random>
#include <sys/stat.h>

#include <gtest/gtest.h>

#include "sticky/base/error.hpp"
#include "sticky/base/log.hpp"
#include "tests/support/temp_dir.hpp"

namespace sticky::malleability {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Optional;

TEST(ParseHostfile, ReadsTheFormsOfOpenMpi) {
  EXPECT_THAT(parse_hostfile("# idle nodes\n"
                             "node1\n"
                             "  node2 slots=4   # half of it\n"
                             "node3:2\r\n"
                             "\n"
                             "node4 slots=2 max_slots=8\n"
                             "node5 max-slots=8 slots=3\n"
                             "node1"),
              ElementsAre(Host{"node1", 2}, Host{"node2", 4}, Host{"node3", 2}, Host{"node4", 2},
                          Host{"node5", 3}));
  EXPECT_THAT(parse_hostfile(""), IsEmpty());
  EXPECT_THAT(parse_hostfile("# nobody\n\n"), IsEmpty());
}

TEST(ParseHostfile, NamesTheLineOfWhatIsNoHost) {
  for (const char* bad :
       {"node1\n-x\n", "node1\nnode2 slots\n", "node1\nnode2 slots=\n", "node1\nnode2 slots=x\n",
        "node1\nnode2 slots=-1\n", "node1\nnode2 slots=65537\n", "node1\nnode2 cores=4\n",
        "node1\nnode2 node3\n", "node1\nnode2:\n", "node1\nuser@node2\n"}) {
    try {
      (void)parse_hostfile(bad);
      ADD_FAILURE() << bad;
    } catch (const FormatError& error) {
      EXPECT_THAT(error.what(), HasSubstr("line 2: ")) << bad;
    }
  }
}

TEST(ParseHostfile, SurvivesAnyBytes) {
  const std::string whole = "node1 slots=4\nnode2:2 # x\nnode3 max_slots=1\n";
  std::mt19937 random(11);
  for (int i = 0; i < 5000; ++i) {
    std::string bytes = whole.substr(0, random() % (whole.size() + 1));
    for (int k = 0; k < i % 4 && !bytes.empty(); ++k)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    try {
      for (const Host& host : parse_hostfile(bytes)) {
        EXPECT_TRUE(is_host_name(host.name));
        EXPECT_GE(host.n_slots, 0);
      }
    } catch (const FormatError&) {
      continue;
    }
  }
}

TEST(Watch, IsOffOrAHostfile) {
  EXPECT_EQ(make_idle_nodes("off"), nullptr);
  EXPECT_NE(make_idle_nodes("hostfile:idle.txt"), nullptr);
  EXPECT_THAT(problem_of_watch("slurm"), HasSubstr("comes later"));
  for (const char* bad : {"slurm", "", "hostfile:", "idle.txt", "OFF"})
    EXPECT_THROW((void)make_idle_nodes(bad), ConfigError) << bad;
}

class HostfileTest : public testing::Test {
 protected:
  void SetUp() override {
    log::set_sink([this](log::Level, std::string_view line) { log_.emplace_back(line); });
  }
  void TearDown() override {
    log::set_sink([](log::Level, std::string_view) {});
  }

  test::TempDir dir_;
  std::unique_ptr<IdleNodes> nodes_ = make_idle_nodes("hostfile:" + dir_ / "idle");
  std::vector<std::string> log_;
};

TEST_F(HostfileTest, IsKnownOnceItHasNotChangedBetweenTwoLooks) {
  (void)dir_.write("idle", "node1 slots=2\n");
  EXPECT_EQ(nodes_->sample(), std::nullopt) << "it may be half written";
  EXPECT_THAT(nodes_->sample(), Optional(ElementsAre(Host{"node1", 2})));
  EXPECT_THAT(nodes_->sample(), Optional(ElementsAre(Host{"node1", 2})));

  (void)dir_.write("idle", "node1 slots=2\nnode2\n");
  EXPECT_EQ(nodes_->sample(), std::nullopt);
  EXPECT_THAT(nodes_->sample(), Optional(ElementsAre(Host{"node1", 2}, Host{"node2", 1})));
  EXPECT_THAT(log_, IsEmpty());
}

TEST_F(HostfileTest, AnEmptyFileSaysThatNoHostIsIdle) {
  (void)dir_.write("idle", "");
  (void)nodes_->sample();
  EXPECT_THAT(nodes_->sample(), Optional(IsEmpty()));
}

TEST_F(HostfileTest, AFileReplacedByAnotherOfEqualLengthIsReadAgain) {
  (void)dir_.write("idle", "node1\n");
  (void)nodes_->sample();
  (void)nodes_->sample();
  std::filesystem::rename(dir_.write("new", "node2\n"), dir_ / "idle");
  EXPECT_EQ(nodes_->sample(), std::nullopt);
  EXPECT_THAT(nodes_->sample(), Optional(ElementsAre(Host{"node2", 1})));
}

TEST_F(HostfileTest, WhatCannotBeReadIsUnknownAndSaidOnce) {
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(nodes_->sample(), std::nullopt);
  EXPECT_THAT(log_, ElementsAre(HasSubstr("idle: cannot be opened: No such file")));

  (void)dir_.write("idle", "node1 slots=\n");
  for (int i = 0; i < 6; ++i)
    EXPECT_EQ(nodes_->sample(), std::nullopt);
  EXPECT_THAT(log_, ElementsAre(HasSubstr("No such file"), HasSubstr("line 1: \"slots=\"")));

  (void)dir_.write("idle", "node1\n");
  (void)nodes_->sample();
  EXPECT_THAT(nodes_->sample(), Optional(ElementsAre(Host{"node1", 1})));
  std::filesystem::remove(dir_ / "idle");
  EXPECT_EQ(nodes_->sample(), std::nullopt);
  EXPECT_THAT(log_, testing::SizeIs(3)) << "the old reason again, after it was well: a new one";
}

TEST_F(HostfileTest, IsNoFifoFolderOrHugeFile) {
  ASSERT_EQ(::mkfifo((dir_ / "idle").c_str(), 0600), 0);
  EXPECT_EQ(nodes_->sample(), std::nullopt);  // and does not wait for a writer
  std::filesystem::remove(dir_ / "idle");
  std::filesystem::create_directory(dir_ / "idle");
  EXPECT_EQ(nodes_->sample(), std::nullopt);
  std::filesystem::remove(dir_ / "idle");
  (void)dir_.write("idle", std::string((1 << 20) + 1, '\n'));
  (void)nodes_->sample();
  EXPECT_EQ(nodes_->sample(), std::nullopt);
  EXPECT_THAT(log_, ElementsAre(HasSubstr("it is a FIFO"), HasSubstr("it is a folder"),
                                HasSubstr("it is larger than 1048576 bytes")));
}

}  // namespace
}  // namespace sticky::malleability
