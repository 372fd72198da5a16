// Facts about the tree that people lean on: files stay short, and links in the documentation lead somewhere.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace fs = std::filesystem;

namespace {

const fs::path kRoot = STICKY_SOURCE_DIR;

std::string read(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<fs::path> files_below(const std::string& top, const std::vector<std::string>& endings) {
  std::vector<fs::path> files;
  if (!fs::exists(kRoot / top)) return files;
  for (const auto& entry : fs::recursive_directory_iterator(kRoot / top)) {
    if (entry.is_regular_file() && std::ranges::count(endings, entry.path().extension().string()) > 0)
      files.push_back(entry.path());
  }
  return files;
}

TEST(Structure, NoSourceFileIsLongerThanTheHouseAllows) {
  constexpr std::ptrdiff_t kSourceLines = 400;
  constexpr std::ptrdiff_t kTestLines = 500;
  for (const std::string top : {"include", "src", "kernels", "perf", "tests"}) {
    for (const fs::path& file : files_below(top, {".cpp", ".hpp", ".cu", ".cuh"})) {
      const std::string text = read(file);
      EXPECT_LE(std::ranges::count(text, '\n'), top == "tests" ? kTestLines : kSourceLines) << file;
    }
  }
}

TEST(Structure, EveryLinkInTheDocumentationLeadsToAFile) {
  const std::regex link(R"(\]\(([^)#\s]+)(#[^)]*)?\))");
  std::vector<fs::path> pages = {kRoot / "README.md"};
  for (const std::string top : {"docs", "configs", "job_scripts", "perf", "tests", "kernels"}) {
    for (const fs::path& page : files_below(top, {".md"}))
      pages.push_back(page);
  }
  std::ptrdiff_t n_links = 0;
  for (const fs::path& page : pages) {
    const std::string text = read(page);
    for (auto at = std::sregex_iterator(text.begin(), text.end(), link); at != std::sregex_iterator(); ++at) {
      const std::string target = (*at)[1];
      if (target.starts_with("http")) continue;
      ++n_links;
      EXPECT_TRUE(fs::exists(page.parent_path() / target)) << page << " links to " << target;
    }
  }
  EXPECT_GT(n_links, 10);  // the pattern still finds links at all
}

}  // namespace
