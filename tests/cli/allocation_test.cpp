#include "allocation.hpp"

#include <cstdlib>
#include <ctime>

#include <gtest/gtest.h>

namespace sticky::cli {
namespace {

class Allocation : public testing::Test {
 protected:
  void SetUp() override {
    setenv("TZ", "UTC-2", 1);  // POSIX: two hours east of Greenwich
    tzset();
  }
};

constexpr i64 kMorning = 1767323045;  // 2026-01-02 05:04:05 there

TEST_F(Allocation, SlurmTellsTheEndInLocalTime) {
  EXPECT_EQ(parse_slurm_end("2026-01-02T05:04:05\n"), kMorning);
  for (const char* text : {"", "Unknown", "NONE\n"})
    EXPECT_FALSE(parse_slurm_end(text)) << text;
}

// After the examples of the OpenPBS and Torque manuals: attributes indented by four blanks, long
// values going on behind a tab.
TEST_F(Allocation, PbsTellsStartAndLimit) {
  const std::string open_pbs =
      "Job Id: 13.server1\n"
      "    Job_Name = STDIN\n"
      "    resources_used.walltime = 00:01:21\n"
      "    job_state = R\n"
      "    Resource_List.nodect = 1\n"
      "    Resource_List.select = 1:ncpus=4\n"
      "    Resource_List.walltime = 01:30:00\n"
      "    stime = Fri Jan  2 05:04:05 2026\n"
      "    Variable_List = PBS_O_HOME=/home/user,PBS_O_LANG=en_US.UTF-8,\n"
      "\tPBS_O_QUEUE=workq\n";
  EXPECT_EQ(parse_pbs_end(open_pbs), kMorning + 5400);

  const std::string torque =
      "Job Id: 44.host\n"
      "    Resource_List.walltime = 2:00:00:01\n"
      "    start_time = Fri Jan  2 05:04:05 2026\n";
  EXPECT_EQ(parse_pbs_end(torque), kMorning + 2 * 86400 + 1);
}

TEST_F(Allocation, APbsJobWithoutLimitOrStartHasNoEnd) {
  EXPECT_FALSE(parse_pbs_end(""));
  EXPECT_FALSE(parse_pbs_end("    stime = Fri Jan  2 05:04:05 2026\n"));
  EXPECT_FALSE(parse_pbs_end("    Resource_List.walltime = 01:30:00\n"));
  EXPECT_FALSE(
      parse_pbs_end("    Resource_List.walltime = soon\n"
                    "    stime = Fri Jan  2 05:04:05 2026\n"));
  EXPECT_FALSE(
      parse_pbs_end("    Resource_List.walltime = 1:1:1:1:1\n"
                    "    stime = Fri Jan  2 05:04:05 2026\n"));
  // The limit of one process, and the time used so far, are others.
  EXPECT_FALSE(
      parse_pbs_end("    Resource_List.pcput = 01:30:00\n"
                    "    resources_used.walltime = 00:10:00\n"
                    "    stime = Fri Jan  2 05:04:05 2026\n"));
}

TEST_F(Allocation, LsfTellsHoursAndMinutesLeft) {
  EXPECT_EQ(parse_lsf_time_left("1:05 L\n"), 3900);
  EXPECT_EQ(parse_lsf_time_left("120:00 L"), 432000);
  EXPECT_EQ(parse_lsf_time_left("0:03 X\n"), 0);
  for (const char* text : {"", "-\n", "1:05", "0:30 E\n", "soon L", "1:2:3 L"})
    EXPECT_FALSE(parse_lsf_time_left(text)) << text;
}

TEST_F(Allocation, FluxTellsSecondsLeft) {
  EXPECT_EQ(parse_flux_time_left("3540\n"), 3540);
  EXPECT_EQ(parse_flux_time_left("0\n"), 0);
  for (const char* text : {"", "4294967295\n", "-1", "12 s", "flux-job: error"})
    EXPECT_FALSE(parse_flux_time_left(text)) << text;
}

}  // namespace
}  // namespace sticky::cli
