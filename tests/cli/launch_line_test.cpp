#include "launch_line.hpp"

#include <gtest/gtest.h>

namespace sticky::cli {
namespace {

const std::vector<std::string> kProgram{"/opt/stickyinvoc", "run", "my job.toml"};

std::string line_of(const LaunchRequest& request) {
  return shell_quoted(launch_line(request));
}

TEST(LaunchLine, OfOpenMpi4SharesCoresAndSurvivesALostRank) {
  const auto mpirun = parse_mpirun_version("mpirun (Open MPI) 4.1.4\n\nReport bugs to …\n");

  EXPECT_EQ(line_of({.mpirun = mpirun, .n_workers = 2, .program = kProgram}),
            "env EVENT_NOEPOLL=1 mpirun --oversubscribe --bind-to none --enable-recovery --mca pml "
            "ob1 --mca btl "
            "self,vader,tcp -n 3 /opt/stickyinvoc run 'my job.toml'");
}

TEST(LaunchLine, TellsOpenMpi4ThatRootIsMeant) {
  const auto mpirun = parse_mpirun_version("mpirun (Open MPI) 4.0.3");

  EXPECT_EQ(line_of({.mpirun = mpirun, .is_root = true, .n_workers = 1, .program = {"p"}}),
            "env EVENT_NOEPOLL=1 mpirun --oversubscribe --bind-to none --enable-recovery --mca pml "
            "ob1 --mca btl "
            "self,vader,tcp --allow-run-as-root -n 2 p");
}

TEST(LaunchLine, OfOpenMpi5HasItsOwnFlags) {
  const auto mpirun = parse_mpirun_version("mpirun (Open MPI) 5.0.11");

  EXPECT_EQ(line_of({.mpirun = mpirun, .n_workers = 4, .program = {"p"}}),
            "env OMPI_MCA_rmaps_base_oversubscribe=1 mpirun --map-by :OVERSUBSCRIBE --bind-to none "
            "--with-ft ulfm --mca pml ob1 --mca btl self,sm,tcp -n 5 p");
}

TEST(LaunchLine, OfAnotherMpiHasNoFlagsThatItMightNotKnow) {
  const auto mpirun = parse_mpirun_version("HYDRA build details:\n    Version: 4.0.2\n");

  EXPECT_EQ(mpirun.kind, MpirunVersion::Kind::other);
  EXPECT_EQ(line_of({.mpirun = mpirun, .is_root = true, .n_workers = 1, .program = {"p"}}),
            "mpirun -n 2 p");
}

TEST(LaunchLine, OfSlurmKeepsTheStepWhenATaskIsLost) {
  EXPECT_EQ(line_of({.launcher = "srun", .n_workers = 3, .program = {"p"}}),
            "srun --mpi=pmix --kill-on-bad-exit=0 -n 4 p");
}

TEST(MpirunVersion, OfNothingIsMissing) {
  EXPECT_EQ(parse_mpirun_version("").kind, MpirunVersion::Kind::missing);
  EXPECT_EQ(parse_mpirun_version("mpirun (Open MPI) 4.1.4\nmore").text, "mpirun (Open MPI) 4.1.4");
}

TEST(ShellQuoted, ProtectsWhatAShellWouldTakeApart) {
  EXPECT_EQ(shell_quoted({"a", "b c", "", "it's", "$x", "a.b=c,d"}),
            R"(a 'b c' '' 'it'\''s' '$x' a.b=c,d)");
}

}  // namespace
}  // namespace sticky::cli
