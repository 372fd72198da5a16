#include "sticky/comm/capability.hpp"

#include <gtest/gtest.h>

namespace sticky::comm {
namespace {

// Texts as the libraries gave them, but for Intel's and MVAPICH's, which follow their manuals.
TEST(Capability, IsReadFromTheLibrarysOwnWords) {
  const auto first = capability_of(
      "Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4, repo rev: v4.1.4, May 26, 2022");
  EXPECT_EQ(first.implementation, MpiKind::open_mpi);
  EXPECT_EQ(first.name, "Open MPI 4.1.4");
  EXPECT_EQ(first.major, 4);
  EXPECT_EQ(first.minor, 1);
  EXPECT_TRUE(first.can_spawn && first.can_spawn_on_hosts && first.can_join);
  EXPECT_EQ(sentence(first),
            "workers may be added, on later hosts too, and other launches may join; lost workers "
            "are survived with mpirun --enable-recovery");

  const auto second = capability_of("Open MPI v5.0.11");
  EXPECT_EQ(second.name, "Open MPI 5.0.11");
  EXPECT_TRUE(second.can_spawn && second.can_survive_loss);
  EXPECT_FALSE(second.can_spawn_on_hosts || second.can_join);
  EXPECT_EQ(second.survival_flag, "--with-ft ulfm");

  const auto mpich =
      capability_of("MPICH Version:      4.0.2\nMPICH Release date: Thu Apr  7 2022");
  EXPECT_EQ(mpich.implementation, MpiKind::mpich);
  EXPECT_EQ(mpich.name, "MPICH 4.0.2");

  const auto intel = capability_of("Intel(R) MPI Library 2021.9 for Linux* OS");
  EXPECT_EQ(intel.implementation, MpiKind::intel_mpi);
  EXPECT_EQ(intel.major, 2021);

  const auto mvapich = capability_of("MVAPICH2 Version      : 2.3.7\nMVAPICH2 Release date : Wed");
  EXPECT_EQ(mvapich.implementation, MpiKind::mvapich);
}

TEST(Capability, OfWhatWasNotMeasuredIsAFixedWorld) {
  for (const char* text : {"MPICH Version:      5.0.2", "Open MPI v4.0.5", "Open MPI v3.1.6",
                           "Open MPI v6.0.0", "Open MPI v", "Open MPI", "Some other MPI", ""}) {
    const auto c = capability_of(text);
    EXPECT_FALSE(c.can_spawn || c.can_spawn_on_hosts || c.can_join || c.can_survive_loss) << text;
    EXPECT_EQ(sentence(c).substr(0, 25), "a fixed number of workers") << text;
  }
  EXPECT_EQ(capability_of("").name, "an unknown MPI");
}

TEST(Capability, TheLibrarySaysItsNameBeforeMpiBegins) {
  EXPECT_FALSE(library_version().empty());
  EXPECT_EQ(library_version().find('\n'), std::string::npos);
}

}  // namespace
}  // namespace sticky::comm
