/// The file of measured variants: whatever it holds, and wherever it should lie, compiled functions work.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "treadle/compile/compile.h"
#include "treadle/compile/variant_choice.h"
#include "treadle/core/error.h"
#include "treadle/ops/fill/fill.h"
#include "treadle/ops/matrix/linear.h"

namespace treadle {
namespace {

namespace fs = std::filesystem;

class VariantFile : public ::testing::Test {
 protected:
  VariantFile() : folder_(fs::temp_directory_path() / fmt::format("treadle_variants_{}", ::getpid())) {
    if (const char* before = std::getenv("TREADLE_CACHE")) before_ = before;
    fs::create_directories(folder_);
    use(folder_);
  }
  ~VariantFile() override {
    if (before_)
      ::setenv("TREADLE_CACHE", before_->c_str(), 1);
    else
      ::unsetenv("TREADLE_CACHE");
    fs::remove_all(folder_);
  }

  static void use(const fs::path& folder) { ::setenv("TREADLE_CACHE", folder.c_str(), 1); }
  /// A folder of its own, so that the file is read afresh.
  fs::path folder_with(const std::string& text) {
    fs::path folder = folder_ / fmt::format("{}", ++folders_);
    fs::create_directories(folder);
    std::ofstream(folder / "variants.json") << text;
    use(folder);
    return folder / "variants.json";
  }
  static nlohmann::json parsed(const fs::path& path) { return nlohmann::json::parse(std::ifstream(path)); }

  /// Measures at least one call and gives the right result.
  static void expect_works() {
    static int64_t columns = 16;
    int64_t k = ++columns;  // never measured before
    auto f = compile([&](Tensor x) { return linear(x, full({8, k}, 1)); });
    for (int i = 1; i < 4; ++i)
      EXPECT_EQ(f(full({4, k}, i)).to_vector<float>(), std::vector<float>(32, float(i * k)));
  }

  static void in_process(const std::function<void()>& work) {
    pid_t child = ::fork();
    if (child == 0) {
      work();
      ::_exit(0);
    }
    children_.push_back(child);
  }
  static void wait_for_processes() {
    for (pid_t child : children_) {
      int status = 1;
      ::waitpid(child, &status, 0);
      EXPECT_EQ(status, 0);
    }
    children_.clear();
  }

  fs::path folder_;
  std::optional<std::string> before_;
  static inline int folders_ = 0;  ///< so that no test meets what another one remembered
  static inline std::vector<pid_t> children_;
};

TEST_F(VariantFile, HoldsNonsense) {
  std::string deep(100000, '[');
  for (const std::string& text :
       {std::string(), std::string("{"), std::string("null"), std::string("[1, 2]"),
        std::string("{\"a\": 3}"), std::string("{\"a\": {\"b\": null}}"),
        std::string("{\"a\": {\"b\": 1e999}}"), std::string("{\"a\": {\"b\": \"fast\"}}"),
        std::string("\xff\xfe\0\1", 4), deep}) {
    auto path = folder_with(text);
    EXPECT_TRUE(VariantCache::entries().empty()) << text.substr(0, 20);
    expect_works();
    EXPECT_FALSE(parsed(path).empty()) << text.substr(0, 20);
  }
}

TEST_F(VariantFile, WasCutShort) {
  folder_with("{}");
  VariantCache::store("one", {{"fast", 1}, {"slow", 2}});
  std::ifstream file(VariantCache::path());
  std::string text{std::istreambuf_iterator<char>(file), {}};
  for (size_t size = 0; size < text.size() - 2; size += 3) {
    folder_with(text.substr(0, size));
    EXPECT_TRUE(VariantCache::find("one").empty());
    VariantCache::store("two", {{"fast", 1}});
    EXPECT_EQ(parsed(VariantCache::path()).size(), 1u);
  }
}

/// Times decide which variant runs, never whether the result is right; names that do not exist are ignored.
TEST_F(VariantFile, LiesAboutTimes) {
  folder_with("{}");
  expect_works();
  auto lies = parsed(VariantCache::path());
  for (auto& entry : lies) {
    double time = -1e300;
    for (auto& [name, seconds] : entry.items()) seconds = time, time = -time;
    entry["no such variant"] = -INFINITY;
    entry["no such variant"] = -1e308;
  }
  folder_with(lies.dump());
  expect_works();
}

TEST_F(VariantFile, CannotBeWrittenOrRead) {
  std::ofstream(folder_ / "file") << "x";
  fs::create_directories(folder_ / "folder" / "variants.json");
  for (const fs::path& folder : {folder_ / "file" / "below", folder_ / "folder", fs::path("/proc/nowhere"),
                                 fs::path("/") / std::string(300, 'x'), folder_ / std::string(5000, 'y')}) {
    use(folder);
    expect_works();
    VariantCache::store("key", {{"fast", 1}});
    EXPECT_EQ(VariantCache::find("key").size(), 1u);  // remembered by this process
    VariantCache::clear();
  }
}

TEST_F(VariantFile, MeetsAFullDisk) {
  auto path = folder_with("{}");
  VariantCache::store("before", {{"fast", 1}});
  auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit limit{};
  ::getrlimit(RLIMIT_FSIZE, &limit);
  rlimit small{20, limit.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &small);
  expect_works();
  ::setrlimit(RLIMIT_FSIZE, &limit);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(parsed(path).size(), 1u);
  EXPECT_EQ(std::distance(fs::directory_iterator(path.parent_path()), {}), 1) << "a partial file is left";
  VariantCache::store("after", {{"fast", 1}});
  EXPECT_GT(parsed(path).size(), 2u);
}

TEST_F(VariantFile, KeepsWhatAnotherProcessMeasured) {
  auto path = folder_with("{}");
  VariantCache::store("first", {{"fast", 1}});
  in_process([] { VariantCache::store("other", {{"fast", 2}}); });
  wait_for_processes();
  VariantCache::store("second", {{"fast", 3}});
  EXPECT_EQ(parsed(path).size(), 3u);
}

TEST_F(VariantFile, IsWrittenByProcessesAtOnce) {
  auto path = folder_with("{}");
  for (int process = 0; process < 2; ++process)
    in_process([process] {
      for (int i = 0; i < 30; ++i)
        VariantCache::store(fmt::format("{} {}", process, i), {{"fast", process + 1}});
    });
  for (int i = 0; i < 50; ++i) {
    auto now = parsed(path);  // never half a file
    for (auto& [key, times] : now.items()) EXPECT_EQ(times["fast"], key[0] == '0' ? 1 : 2);
    ::usleep(500);
  }
  wait_for_processes();
  EXPECT_GE(parsed(path).size(), 30u);
}

}  // namespace
}  // namespace treadle
