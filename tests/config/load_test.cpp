#include "sticky/config/load.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>

#include <gtest/gtest.h>

#include "sticky/base/error.hpp"
#include "tests/support/temp_dir.hpp"

namespace sticky::config {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Works in a folder of its own, where a model and an input file stand.
class ConfigLoad : public testing::Test {
 protected:
  void SetUp() override {
    before_ = fs::current_path();
    fs::current_path(folder_);
    write("m.gguf", "");
    write("in.jsonl", "");
  }
  void TearDown() override { fs::current_path(before_); }

  static void write(const std::string& name, const std::string& text) {
    std::ofstream(name, std::ios::binary) << text;
  }
  static Loaded load_text(const std::string& toml, Sources sources = {}) {
    write("job.toml", toml);
    sources.job_file = "job.toml";
    return load(sources);
  }
  static Setting setting(const Loaded& loaded, const std::string& key) {
    for (const auto& setting : loaded.settings) {
      if (setting.key == key) return setting;
    }
    return {};
  }

 private:
  test::TempDir dir_;
  fs::path folder_ = dir_.path();
  fs::path before_;
};

constexpr const char* kGood = R"([input]
files = ["in.jsonl"]
[state.claims]
model = "m.gguf"
)";

std::vector<std::string> texts(const Loaded& loaded) {
  std::vector<std::string> out;
  for (const auto& problem : loaded.problems)
    out.push_back(problem.origin + " | " + problem.text);
  return out;
}

TEST_F(ConfigLoad, FillsTheFieldsThatKeysNameAndLeavesTheOthersAlone) {
  const Loaded loaded = load_text(std::string(kGood) + R"(
[output]
order = "input"
[engine]
threads = 3
[run]
grace = "1m30s"
read_ahead = "4MiB"
time_limit = 7200
[sampling]
temperature = 0
max_tokens = 64
stop = ["\n", "END"]
stop_token_ids = [2, 7]
[chat]
special_tokens_in_content = "hf"
)");

  EXPECT_THAT(texts(loaded), IsEmpty());
  const Config& c = loaded.config;
  EXPECT_EQ(c.job, "job");
  EXPECT_THAT(c.input.files, ElementsAre("in.jsonl"));
  EXPECT_EQ(c.output.order, io::Order::input);
  EXPECT_EQ(c.worker.state.name, "claims");
  EXPECT_EQ(c.worker.state.model, "m.gguf");
  EXPECT_EQ(c.worker.backend.n_threads, 3);
  EXPECT_EQ(c.coordinator.grace_seconds, 90.0);
  EXPECT_EQ(c.coordinator.max_queued_bytes, 4 << 20);
  EXPECT_EQ(c.run.time_limit_seconds, 7200.0);
  EXPECT_EQ(c.worker.sampling.temperature, 0.0);
  EXPECT_EQ(c.worker.sampling.max_tokens, 64);
  EXPECT_THAT(c.worker.sampling.stop, ElementsAre("\n", "END"));
  EXPECT_THAT(c.worker.sampling.stop_token_ids, ElementsAre(2, 7));
  EXPECT_TRUE(c.worker.chat.special_tokens_in_content);
  EXPECT_EQ(c.worker.sampling.top_p, 1.0);
  EXPECT_EQ(c.coordinator.attempts, 3);
}

TEST_F(ConfigLoad, NamesEveryProblemAtOnceEachWithItsLine) {
  const Loaded loaded = load_text(R"([inptu]
files = ["in.jsonl"]
[state.default]
modle = "m.gguf"
context = "big"
[engine]
threads = 0
temperature = 1.0
[run]
policy = "create-destroy"
grace = "soon"
[load]
stage = "/scratch"
)",
                                  {.sets = {"run.attempts=none", "nonsense"}});

  EXPECT_THAT(
      texts(loaded),
      ElementsAre(
          "job.toml:1 | unknown section [inptu]; did you mean [input]?",
          "job.toml:4 | unknown key 'state.default.modle'; did you mean 'state.default.model'?",
          "job.toml:5 | state.default.context = \"big\": expected \"auto\" or an integer from 1 to "
          "2147483647",
          "job.toml:7 | engine.threads = 0: expected \"auto\" or an integer from 1 to 1024",
          "job.toml:8 | unknown key 'engine.temperature'; did you mean 'sampling.temperature'?",
          "job.toml:10 | run.policy = \"create-destroy\" is not built yet; so far: \"sticky\"",
          "job.toml:11 | run.grace = \"soon\": expected a duration (\"90s\", \"5m\", \"1h30m\") "
          "from 0s to 24h",
          "job.toml:13 | load.stage = \"/scratch\" is not built yet; so far: \"none\"",
          "--set | run.attempts = \"none\": expected an integer from 1 to 1000",
          "--set | 'nonsense' is not of the form a.b.c=VALUE",
          " | no model: give --model PATH, or model = \"PATH\" under [state.default]",
          " | no input: give -i FILE, or files = [\"FILE\"] under [input]"));
}

TEST_F(ConfigLoad, LaterSourcesOverruleEarlierOnesAndLeaveTheirNameBehind) {
  write("other.gguf", "");
  const Loaded loaded =
      load_text(std::string(kGood) + "[run]\nattempts = 5\nseed = 1\n[engine]\nthreads = 1\n",
                {.sets = {"run.attempts=6", "run.seed=9", "engine.cpu=avx2"},
                 .flags = {{"--model", "state.*.model", Json("other.gguf")},
                           {"--workers", "run.workers", Json(4)}}});

  ASSERT_THAT(texts(loaded), IsEmpty());
  EXPECT_EQ(loaded.config.coordinator.attempts, 6);
  EXPECT_EQ(loaded.config.worker.state.model, "other.gguf");
  EXPECT_EQ(setting(loaded, "run.attempts").origin, "--set");
  EXPECT_EQ(setting(loaded, "state.claims.model").origin, "--model");
  EXPECT_EQ(setting(loaded, "state.claims.model").value, Json("other.gguf"));
  EXPECT_EQ(setting(loaded, "run.workers").origin, "--workers");
  EXPECT_EQ(setting(loaded, "engine.threads").origin, "job.toml:9");
  EXPECT_EQ(setting(loaded, "engine.max_sequences").origin, "default");
  EXPECT_EQ(setting(loaded, "engine.max_sequences").value, Json("auto"));
}

TEST_F(ConfigLoad, NeedsNoJobFileWhenFlagsSayEnough) {
  const Loaded loaded = load({.sets = {"sampling.stop=a,b", "sampling.temperature=0"},
                              .flags = {{"-i", "input.files", Json::array({"in.jsonl"})},
                                        {"--model", "state.*.model", Json("m.gguf")}}});

  EXPECT_THAT(texts(loaded), IsEmpty());
  EXPECT_EQ(loaded.config.worker.state.name, "default");
  EXPECT_THAT(loaded.config.worker.sampling.stop, ElementsAre("a", "b"));
}

TEST_F(ConfigLoad, RefusesASecondStateOnce) {
  const Loaded loaded =
      load_text(std::string(kGood) + "[state.other]\nmodel = \"m.gguf\"\ndtype = \"f32\"\n");

  EXPECT_THAT(texts(loaded),
              ElementsAre("job.toml:6 | [state.other] is a second state beside [state.claims] "
                          "(job.toml:4); several states in one run are not built yet"));
}

TEST_F(ConfigLoad, SaysWhichFileIsMissingAndWhereItWasNamed) {
  const Loaded loaded = load_text("[input]\nfiles = [\"gone.jsonl\"]\n",
                                  {.flags = {{"--model", "state.*.model", Json("gone.gguf")}}});

  ASSERT_EQ(loaded.problems.size(), 2);
  EXPECT_EQ(loaded.problems[0].origin, "--model");
  EXPECT_THAT(loaded.problems[0].text, HasSubstr("state.default.model: there is no 'gone.gguf'"));
  EXPECT_EQ(loaded.problems[1].origin, "job.toml:2");
  EXPECT_THAT(loaded.problems[1].text, HasSubstr("input.files: there is no 'gone.jsonl'"));
}

TEST_F(ConfigLoad, NamesTheLineOfASyntaxError) {
  const Loaded loaded = load_text("[input]\nfiles = [\"in.jsonl\"\n[x]\n");

  ASSERT_FALSE(loaded.problems.empty());
  EXPECT_THAT(loaded.problems[0].origin, testing::StartsWith("job.toml:"));
  EXPECT_THAT(loaded.problems[0].text, testing::StartsWith("not valid TOML: "));
}

TEST_F(ConfigLoad, NamesAJobFileThatIsNotThere) {
  const Loaded loaded = load({.job_file = "gone.toml", .needs_input = false, .needs_model = false});

  EXPECT_THAT(texts(loaded),
              ElementsAre("job file | gone.toml: cannot be read: No such file or directory"));
}

TEST_F(ConfigLoad, AnEmptySectionIsFineIfItsNameIsKnown) {
  EXPECT_THAT(texts(load_text(std::string(kGood) + "[run]\n[sampling]\n")), IsEmpty());
  EXPECT_THAT(texts(load_text(std::string(kGood) + "[sampler]\n")),
              ElementsAre("job.toml:5 | unknown section [sampler]; did you mean [sampling]?"));
}

TEST_F(ConfigLoad, ASectionGivenAsAValueIsExplained) {
  EXPECT_THAT(texts(load_text("run = 3\n" + std::string(kGood))),
              ElementsAre("job.toml:1 | 'run' is a section: its keys stand under [run]"));
}

TEST_F(ConfigLoad, AResumedRunStartsFromItsEffectiveConfiguration) {
  const Loaded first = load_text(std::string(kGood) +
                                     "[run]\ngrace = \"90m\"\nread_ahead = \"8MiB\"\n"
                                     "[sampling]\nseed = -5\nstop = [\"x\"]\n"
                                     "[chat]\nspecial_tokens_in_content = \"hf\"\n",
                                 {.sets = {"run.time_limit=1h30m", "output.order=input"}});
  const Json stored = Json::parse(effective_json(first).dump());

  const Loaded second = load({.earlier = stored, .sets = {"run.attempts=7"}});

  EXPECT_THAT(texts(second), IsEmpty());
  EXPECT_EQ(setting(second, "run.attempts").value, Json(7));
  EXPECT_EQ(setting(second, "run.grace").origin, "job.toml:6");
  for (const auto& [key, value, origin] : first.settings) {
    if (key != "run.attempts") {
      EXPECT_EQ(setting(second, key).value, value) << key;
    }
  }
}

TEST_F(ConfigLoad, BothRoomsThatNeedAKeyGetIt) {
  const Loaded loaded = load_text(
      "[input]\nfiles = [\"in.jsonl\"]\ncheck_model = true\n"
      "[state.default]\nmodel = \"m.gguf\"\ndtype = \"bf16\"\n");

  EXPECT_TRUE(loaded.config.input.check_model);
  EXPECT_TRUE(loaded.config.worker.check_model);
  EXPECT_EQ(loaded.config.worker.backend.dtype, "bf16");
}

TEST_F(ConfigLoad, TellsWhatResizeCannotBe) {
  const Loaded good = load_text(std::string(kGood) + R"(
[resize]
watch = "hostfile:idle.txt"
min_workers = 2
max_workers = 8
spawn_timeout = "45s"
join = "spawn"
)");
  EXPECT_THAT(texts(good), IsEmpty());
  EXPECT_EQ(good.config.resize.watch, "hostfile:idle.txt");
  EXPECT_EQ(good.config.resize.min_workers, 2);
  EXPECT_EQ(good.config.resize.max_workers, 8);
  EXPECT_EQ(good.config.resize.spawn_timeout_seconds, 45.0);
  EXPECT_EQ(good.config.resize.join, "spawn");

  const Loaded bad = load_text(std::string(kGood) + R"(
[resize]
watch = "slurm"
min_workers = 3
max_workers = 2
join = "connect"
)");
  EXPECT_THAT(texts(bad),
              testing::UnorderedElementsAre(
                  "job.toml:7 | resize.watch: \"slurm\" comes later; so far it is \"off\" or "
                  "\"hostfile:FILE\"",
                  "job.toml:9 | resize.max_workers = 2 is below resize.min_workers = 3",
                  "job.toml:10 | resize.join = \"connect\" is not built yet; so far: \"auto\", "
                  "\"spawn\""));
}

TEST(ConfigProblems, AreThrownAsOneTextWithALineEach) {
  const std::vector<Problem> problems{{"job.toml:3", "first"}, {"", "second"}};
  try {
    throw_if_any(problems);
    FAIL() << "expected ConfigError";
  } catch (const ConfigError& error) {
    EXPECT_STREQ(error.what(), "job.toml:3: first\nsecond");
  }
  EXPECT_NO_THROW(throw_if_any({}));
}

TEST_F(ConfigLoad, TextsOutsideTheirDomainAreNamedWithTheirLine) {
  const auto loaded =
      load_text(std::string(kGood) +
                "dtype = \"f8\"\n"
                "[chat]\nnow = \"yesterday\"\n"
                "[output]\ndir = \"a\\u0000b\"\n"
                "[sampling]\nstop_token_ids = [-1]\nmin_tokens = 9\nmax_tokens = 8\n");

  EXPECT_THAT(
      texts(loaded),
      ElementsAre(HasSubstr("job.toml:5 | state.claims.dtype = \"f8\": expected one of"),
                  "job.toml:7 | chat.now = \"yesterday\": expected a date or time of ISO 8601 "
                  "(\"2026-01-15\", \"2026-01-15T12:30:00\"), or \"\"",
                  HasSubstr("job.toml:9 | output.dir = \"a\\u0000b\": expected a string without"),
                  HasSubstr("job.toml:11 | sampling.stop_token_ids = [-1]: expected a list"),
                  "job.toml:12 | sampling.min_tokens = 9 is more than sampling.max_tokens = 8 "
                  "(job.toml:13)"));
}

TEST_F(ConfigLoad, AFixedTimeMayBeWrittenAsTomlWritesTimes) {
  for (const char* now : {"2026-01-15", "2026-01-15T12:30:00", "2026-01-15T12:30:00Z", "\"\""})
    EXPECT_THAT(texts(load_text(std::string(kGood) + "[chat]\nnow = " + now + "\n")), IsEmpty())
        << now;
}

TEST_F(ConfigLoad, StopsAreAsManyAndAsLongAsARequestMayBring) {
  const auto n_problems = [](std::size_t n_stops, std::size_t n_bytes) {
    std::string stops;
    for (std::size_t i = 0; i < n_stops; ++i)
      stops += "\"" + std::string(n_bytes, 'x') + "\",";
    return load_text(std::string(kGood) + "[sampling]\nstop = [" + stops + "]\n").problems.size();
  };
  EXPECT_EQ(n_problems(64, 4096), 0U);
  EXPECT_EQ(n_problems(65, 1), 1U);
  EXPECT_EQ(n_problems(1, 4097), 1U);
}

// Most often an unset variable of a script.
TEST_F(ConfigLoad, NothingStandsForNoDefaultAndForNoList) {
  for (const char* set : {"chat.template=", "sampling.stop=", "sampling.stop_token_ids="}) {
    const Loaded loaded = load_text(kGood, {.sets = {set}});
    EXPECT_THAT(texts(loaded), ElementsAre(HasSubstr(" = \"\""))) << set;
  }
  EXPECT_THAT(texts(load_text(kGood, {.sets = {"chat.template=model", "sampling.stop=[]"}})),
              IsEmpty());
}

TEST_F(ConfigLoad, ALinkInACircleIsNotMissing) {
  fs::create_symlink("loop", "loop");
  EXPECT_THAT(texts(load_text(kGood, {.sets = {"chat.template=loop"}})),
              ElementsAre(HasSubstr("chat.template: 'loop' cannot be looked at: ")));
}

TEST_F(ConfigLoad, AStateHasAName) {
  const char* wrong = "'state..model': a state has a name, as in [state.default]";
  EXPECT_THAT(
      texts(load_text("[input]\nfiles = [\"in.jsonl\"]\n[state.\"\"]\nmodel = \"m.gguf\"\n")),
      testing::Contains(std::string("job.toml:4 | ") + wrong));
  EXPECT_THAT(texts(load_text(kGood, {.sets = {"state..model=m.gguf"}})),
              ElementsAre(std::string("--set | ") + wrong));
}

}  // namespace
}  // namespace sticky::config
