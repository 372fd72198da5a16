// The real program, started as a user would.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <iterator>
#include <set>
#include <string>
#include <sys/wait.h>

#include <gtest/gtest.h>

namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

struct Ended {
  int exit_code = -1;
  std::string out;
  std::string err;
};

std::string read(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// Works in a folder of its own.
class Program : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "sticky-program-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    before_ = fs::current_path();
    fs::current_path(folder_);
  }
  void TearDown() override {
    fs::current_path(before_);
    fs::remove_all(folder_);
  }

  static Ended start(const std::string& arguments) {
    const std::string line =
        std::string("'") + STICKY_PROGRAM + "' " + arguments + " > out.txt 2> err.txt < /dev/null";
    const int status = std::system(line.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read("out.txt"), read("err.txt")};
  }
  static void write(const fs::path& file, const std::string& text) {
    if (file.has_parent_path()) fs::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
  }
  static std::set<std::string> names_in(const fs::path& folder) {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder))
      names.insert(entry.path().filename().string());
    return names;
  }

 private:
  fs::path folder_;
  fs::path before_;
};

// An mpirun, first in the PATH, that runs a line of shell in place of ranks.
class FakeMpirun {
 public:
  explicit FakeMpirun(const std::string& line) : path_before_(std::getenv("PATH")) {
    fs::create_directory("bin");
    std::ofstream("bin/mpirun") << "#!/bin/sh\ncase $1 in --version) echo 'mpirun (Open MPI) "
                                   "4.1.4' ;; *) "
                                << line << " ;; esac\n";
    fs::permissions("bin/mpirun", fs::perms::owner_all);
    setenv("PATH", (fs::absolute("bin").string() + ":" + path_before_).c_str(), 1);
  }
  FakeMpirun(const FakeMpirun&) = delete;
  FakeMpirun& operator=(const FakeMpirun&) = delete;
  ~FakeMpirun() { setenv("PATH", path_before_.c_str(), 1); }

 private:
  std::string path_before_;
};

TEST_F(Program, HelpNamesEveryCommandAndItsFlags) {
  const Ended help = start("--help");
  EXPECT_EQ(help.exit_code, 0);
  for (const char* command : {"run", "resume", "check", "render", "inspect", "status"}) {
    EXPECT_THAT(help.out, HasSubstr(std::string("\n  ") + command + " "));
    EXPECT_EQ(start(std::string(command) + " --help").exit_code, 0) << command;
  }
  const Ended run = start("run --help");
  for (const char* flag : {"-i,--input", "-o,--output", "--model", "--set", "--workers",
                           "--launcher", "--resume", "--print-launch", "--prompt", "Examples:"})
    EXPECT_THAT(run.out, HasSubstr(flag));
}

TEST_F(Program, VersionTellsCommitMpiAndCpu) {
  const Ended version = start("--version");

  EXPECT_EQ(version.exit_code, 0);
  EXPECT_THAT(version.out, StartsWith("stickyinvoc "));
  for (const char* what : {"commit ", "mpirun: ", "CPU: scalar", "GPU: "})
    EXPECT_THAT(version.out, HasSubstr(what));
}

TEST_F(Program, AWrongCommandLineIsAUsageError) {
  for (const char* arguments :
       {"", "dance", "run --no-such-flag", "run --workers 0", "resume",
        "render -i in.jsonl --model m", "render --line 0", "inspect", "run --launcher sbatch"}) {
    const Ended ended = start(arguments);
    EXPECT_EQ(ended.exit_code, 1) << arguments;
    EXPECT_THAT(ended.out, IsEmpty()) << arguments;
    EXPECT_THAT(ended.err, Not(IsEmpty())) << arguments;
  }
}

TEST_F(Program, ListsEveryProblemOfAJobBeforeItStartsAnything) {
  write("job.toml", "[run]\nbatsh = 3\nattempts = 0\n");

  const Ended ended = start("run job.toml --set engine.threads=many --set nonsense");

  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_EQ(ended.err,
            "job.toml:2: unknown key 'run.batsh'; did you mean 'run.batch'?\n"
            "job.toml:3: run.attempts = 0: expected an integer from 1 to 1000\n"
            "--set: engine.threads = \"many\": expected \"auto\" or an integer from 1 to 1024\n"
            "--set: 'nonsense' is not of the form a.b.c=VALUE\n"
            "no model: give --model PATH, or model = \"PATH\" under [state.default]\n"
            "no input: give -i FILE, or files = [\"FILE\"] under [input]\n");
  EXPECT_EQ(names_in("."), (std::set<std::string>{"err.txt", "job.toml", "out.txt"}));
}

TEST_F(Program, AnEmptyValueIsAMistakeAndNotTheDefault) {
  write("in.jsonl", "{\"prompt\": \"a\"}\n");
  write("m.gguf", "");
  write("job.toml", "[output]\ndir = \"\"\n");
  const FakeMpirun mpirun("touch started");
  const std::string good = "run -i in.jsonl --model m.gguf ";
  for (const std::string& arguments :
       {good + "-o ''", good + "-i '' -o d", std::string("run -i in.jsonl --model '' -o d"),
        good + "-o d ''", good + "--set ''", good + "--set output.dir=", good + "job.toml",
        std::string("run --model m.gguf --prompt ''"), std::string("resume ''"),
        std::string("status ''"), std::string("inspect ''"), good + "-o d --workers= --resume",
        good + "-o d --no-progress=", std::string("run -i in.jsonl --model= -o d"),
        std::string("resume d --retry-errors="), std::string("status d --exit-code=")}) {
    const Ended ended = start(arguments);
    EXPECT_EQ(ended.exit_code, 1) << arguments;
    EXPECT_THAT(ended.err, HasSubstr(" is empty")) << arguments;
  }
  EXPECT_THAT(start(good + "-o ''").err, HasSubstr("output.dir is empty"));
  EXPECT_THAT(start("resume d --retry-errors=").err, HasSubstr("--retry-errors=CODE"));
  EXPECT_FALSE(fs::exists("started"));
}

TEST_F(Program, InputAndRunFolderAreLookedAtBeforeAnyLaunch) {
  write("in.jsonl", "{\"prompt\": \"a\"}\n");
  write("m.gguf", "");
  fs::create_directory("folder");
  const FakeMpirun mpirun("touch started");
  const std::string end = " --model m.gguf -o ";
  for (const std::string& arguments :
       {"run -i folder" + end + "d", "run -i gone.jsonl" + end + "d",
        "run -i in.jsonl -i in.jsonl" + end + "d", "run -i in.jsonl" + end + "m.gguf",
        "run -i in.jsonl" + end + "m.gguf/below",
        "run -i in.jsonl" + end + std::string(300, 'x')}) {
    const Ended ended = start(arguments);
    EXPECT_EQ(ended.exit_code, 1) << arguments;
    EXPECT_THAT(ended.err, Not(IsEmpty())) << arguments;
  }
  EXPECT_FALSE(fs::exists("started"));
  EXPECT_FALSE(fs::exists("d"));
}

TEST_F(Program, StatusDoesNotTrustADamagedSummary) {
  write("d/results.jsonl", "{}\n");
  for (const char* text :
       {"", "{\"exit_code\": 0, ", "{\"exit_code\": 256, \"ending\": \"complete\"}",
        "{\"exit_code\": \"0\", \"ending\": \"complete\"}"}) {
    write("d/summary.json", text);
    const Ended ended = start("status d --exit-code");
    EXPECT_EQ(ended.exit_code, 5) << text;
    EXPECT_THAT(ended.err, HasSubstr("d/summary.json is damaged")) << text;
  }
}

TEST_F(Program, LeavesAFolderThatHoldsARunAsItIs) {
  write("in.jsonl", "{\"prompt\": \"a\"}\n");
  write("m.gguf", "");
  write("done/results.jsonl", "{\"id\": 1}\n");

  const Ended ended = start("run -i in.jsonl --model m.gguf -o done");

  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_EQ(ended.err, "done holds a run already. Go on with it: stickyinvoc resume done\n");
  EXPECT_EQ(names_in("done"), std::set<std::string>{"results.jsonl"});
  EXPECT_EQ(read("done/results.jsonl"), "{\"id\": 1}\n");
}

TEST_F(Program, PrintsTheLaunchAndDoesNothing) {
  write("in.jsonl", "{\"prompt\": \"a\"}\n");
  write("m.gguf", "");

  const Ended ended = start(
      "run -i in.jsonl --model m.gguf -o 'my run' --launcher srun --workers 3 --print-launch");

  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_EQ(ended.out,
            std::string("srun --mpi=pmix --kill-on-bad-exit=0 -n 4 ") +
                fs::canonical(STICKY_PROGRAM).string() +
                " run -i in.jsonl --model m.gguf -o 'my run' --launcher srun --workers 3\n");
  EXPECT_FALSE(fs::exists("my run"));
}

TEST_F(Program, ResumesAFolderThatWasNamedFromWhereItWasTyped) {
  write("elsewhere/in.jsonl", "{\"prompt\": \"a\"}\n");
  write("elsewhere/m.gguf", "");
  write("runs/old/results.jsonl", "");
  write("runs/old/job.json",
        R"({"job": "x", "directory": ")" + fs::absolute("elsewhere").string() + R"(", "config": {
            "input.files": {"value": ["in.jsonl"], "origin": "job.toml:2"},
            "state.default.model": {"value": "m.gguf", "origin": "--model"}}})");
  const FakeMpirun mpirun("test -f runs/old/job.json && echo found");

  const Ended ended = start("resume runs/old");

  EXPECT_EQ(ended.out, "found\n") << ended.err;
}

TEST_F(Program, DoesNotStartInAFolderWhereARunIsAtWork) {
  write("in.jsonl", "{\"prompt\": \"a\"}\n");
  write("m.gguf", "");
  write("d/lock", R"({"token": "t", "host": "far", "pid": 7, "beat": 99999999999})");
  const FakeMpirun mpirun("touch started");

  const Ended ended = start("run -i in.jsonl --model m.gguf -o d");

  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, HasSubstr("process 7 on host far"));
  EXPECT_FALSE(fs::exists("started"));
}

TEST_F(Program, ALaunchThatDoesNotReachTheFolderHasNotStarted) {
  write("in.jsonl", "{\"prompt\": \"a\"}\n");
  write("m.gguf", "");
  const FakeMpirun mpirun("true");

  const Ended ended = start("run -i in.jsonl --model m.gguf -o d");

  EXPECT_EQ(ended.exit_code, 5);
  EXPECT_THAT(ended.err, HasSubstr("\nerror: the run did not start"));
  EXPECT_THAT(ended.err, Not(HasSubstr("resume")));
}

TEST_F(Program, ARunThatBeganAndToldNoEndCanBeGoneOnWith) {
  write("in.jsonl", "{\"prompt\": \"a\"}\n");
  write("m.gguf", "");
  const FakeMpirun mpirun("mkdir d && touch d/job.json d/results.jsonl");

  const Ended ended = start("run -i in.jsonl --model m.gguf -o d");

  EXPECT_EQ(ended.exit_code, 4);
  EXPECT_THAT(ended.err, HasSubstr("stickyinvoc resume d"));
}

TEST_F(Program, WhatMpirunSaysOfEveryLostRankStandsInTheLogOnly) {
  write("in.jsonl", "{\"prompt\": \"a\"}\n");
  write("m.gguf", "");
  write("d/run.log", "before\n");
  const std::string noise =
      "[vm:12] PMIX ERROR: BAD-PARAM in file ../../../src/event/pmix_event_notification.c at line "
      "1033";
  const std::string error = "[vm:12] PMIX ERROR: UNREACHABLE in file a.c at line 1";
  const FakeMpirun mpirun("printf '%s\\n%s\\nhalf a line' '" + noise + "' '" + error + "' >&2");

  const Ended ended = start("run -i in.jsonl --model m.gguf -o d");

  EXPECT_THAT(ended.err, Not(HasSubstr("BAD-PARAM")));
  EXPECT_THAT(ended.err, HasSubstr(error + "\nhalf a line\n"));
  EXPECT_EQ(read("d/run.log"), "before\n" + noise + "\n");
}

TEST_F(Program, NoiseIsShownWhereThereIsNoLog) {
  write("in.jsonl", "{\"prompt\": \"a\"}\n");
  write("m.gguf", "");
  const FakeMpirun mpirun(
      "echo '[vm:1] PMIX ERROR: BAD-PARAM in file ../src/event/pmix_event_notification.c at line "
      "9' >&2");

  EXPECT_THAT(start("run -i in.jsonl --model m.gguf -o d").err, HasSubstr("BAD-PARAM"));
}

TEST_F(Program, TellsTasksOfSrunThatKnowNothingOfEachOther) {
  write("in.jsonl", "{\"prompt\": \"a\"}\n");
  write("m.gguf", "");
  setenv("SLURM_STEP_NUM_TASKS", "3", 1);

  const Ended ended = start("run -i in.jsonl --model m.gguf -o d");

  unsetenv("SLURM_STEP_NUM_TASKS");
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, HasSubstr("srun --mpi=pmix"));
  EXPECT_FALSE(fs::exists("d"));
}

TEST_F(Program, APromptIsNotAnsweredByManyRanks) {
  setenv("PMIX_RANK", "0", 1);

  const Ended ended = start("run --model m.gguf --prompt hello");

  unsetenv("PMIX_RANK");
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, HasSubstr("--prompt answers in one process"));
}

TEST_F(Program, ResumesNothingWhereThereIsNoRun) {
  fs::create_directory("empty");

  const Ended ended = start("resume empty");

  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, HasSubstr("job.json is missing or damaged"));
  EXPECT_TRUE(fs::is_empty("empty"));
}

TEST_F(Program, ResumeFailsOnAStoredConfigurationThatNamesAVanishedModel) {
  write("old/job.json",
        R"({"job": "x", "directory": "/", "config": {
            "input.files": {"value": ["/gone.jsonl"], "origin": "job.toml:2"},
            "state.default.model": {"value": "/gone.gguf", "origin": "--model"}}})");

  const Ended ended = start("resume old");

  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.err, HasSubstr("--model: state.default.model: there is no '/gone.gguf'"));
  EXPECT_THAT(ended.err, HasSubstr("job.toml:2: input.files: there is no '/gone.jsonl'"));
}

TEST_F(Program, StatusOfAFinishedRunIsItsSummaryAndItsExitCode) {
  write("done/summary.json",
        R"({"exit_code": 3, "ending": "complete", "seconds": 65.0,
            "counts": {"requests": 10, "results": 8, "errors": 2, "unanswered": 0}})");

  const Ended plain = start("status done");
  const Ended scripted = start("status done --exit-code");

  EXPECT_EQ(plain.exit_code, 0);
  EXPECT_THAT(plain.out, StartsWith("finished in 00:01:05\n  requests 10: 8 answered, 2 failed\n"));
  EXPECT_EQ(scripted.exit_code, 3);
  EXPECT_EQ(scripted.out, plain.out);
}

TEST_F(Program, StatusOfARunThatWasCutShortTellsHowToGoOn) {
  write("cut/results.jsonl", "");
  write(
      "cut/status.json",
      R"({"phase": "running", "seconds": 10, "input_ended": true, "counts": {"read": 4, "results": 2},
            "workers": [{"worker": 1, "state": "ready", "host": "n1", "pid": 7, "results": 2}]})");

  const Ended ended = start("status cut --exit-code");

  EXPECT_EQ(ended.exit_code, 4);
  EXPECT_THAT(ended.out, StartsWith("[00:00:10] 2/4 (50.0 %)  12 req/min"));
  EXPECT_THAT(ended.out, HasSubstr("n1:7"));
  EXPECT_THAT(ended.out, HasSubstr("Go on with: stickyinvoc resume cut\n"));
}

TEST_F(Program, StatusOfNoRunIsAnError) {
  fs::create_directory("empty");
  EXPECT_EQ(start("status empty").exit_code, 1);
  EXPECT_EQ(start("status nowhere --exit-code").exit_code, 1);
}

TEST_F(Program, CheckGoesOnAfterTheFirstProblem) {
  write("job.toml", "[run]\nbatsh = 3\n[state.default]\nmodel = \"m.gguf\"\n");
  write("m.gguf", "this is no model");

  const Ended ended = start("check job.toml");

  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_THAT(ended.out, HasSubstr("did you mean 'run.batch'?"));
  EXPECT_THAT(ended.out, HasSubstr("no input"));
  EXPECT_THAT(ended.out, HasSubstr("m.gguf"));
  EXPECT_THAT(ended.out, HasSubstr("command     "));
}

TEST_F(Program, PrintsTheReferencePage) {
  EXPECT_EQ(start("--print-config-reference").out,
            read(STICKY_SOURCE_DIR "/docs/configuration.md"));
}

}  // namespace
