// Opening plugins: which file is taken, and what is said of one that cannot be used. The good one is made by
// the build (plugin_for_test.cpp): it speaks version 7.
#include "treadle/core/plugin.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace treadle {
namespace {

namespace fs = std::filesystem;

/// A folder that is removed, and named by TREADLE_PLUGINS while it lives.
class PluginFolder {
 public:
  PluginFolder() : path_(fs::temp_directory_path() / ("treadle-plugins-" + std::to_string(getpid()))) {
    fs::create_directories(path_);
    setenv("TREADLE_PLUGINS", path_.c_str(), 1);
  }
  ~PluginFolder() {
    unsetenv("TREADLE_PLUGINS");
    fs::remove_all(path_);
  }
  fs::path file(const std::string& name) const { return path_ / ("libtreadle-" + name + ".so"); }

 private:
  fs::path path_;
};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Plugin, NamesTheFileAndTheFoldersWhereThereIsNone) {
  PluginFolder folder;
  const Plugin& plugin = open_plugin("of_nobody", 1);
  EXPECT_EQ(plugin.table, nullptr);
  EXPECT_EQ(plugin.file, "");
  EXPECT_TRUE(contains(plugin.absence, "libtreadle-of_nobody.so was not found in:")) << plugin.absence;
  for (const fs::path& searched :
       {folder.file("").parent_path(), fs::read_symlink("/proc/self/exe").parent_path()})
    EXPECT_TRUE(contains(plugin.absence, " " + searched.string())) << plugin.absence;
}

TEST(Plugin, OneThatCannotBeOpenedIsReportedAndNotPassedOver) {
  PluginFolder folder;
  std::ofstream(folder.file("broken")) << "not a library";
  const Plugin& plugin = open_plugin("broken", 1);
  EXPECT_EQ(plugin.table, nullptr);
  EXPECT_EQ(plugin.file, folder.file("broken"));
  EXPECT_TRUE(contains(plugin.absence, "cannot be opened: " + plugin.file)) << plugin.absence;
}

TEST(Plugin, ALibraryWithoutTheEntryIsNoPlugin) {
  PluginFolder folder;
  fs::copy_file(TREADLE_PLUGIN_FOR_TEST, folder.file("renamed"));
  const Plugin& plugin = open_plugin("renamed", 7);
  EXPECT_EQ(plugin.table, nullptr);
  EXPECT_TRUE(contains(plugin.absence, "has no treadle_renamed_api")) << plugin.absence;
}

TEST(Plugin, AnotherVersionIsRefused) {
  PluginFolder folder;
  fs::copy_file(TREADLE_PLUGIN_FOR_TEST, folder.file("for_test"));
  const Plugin& plugin = open_plugin("for_test", 8);
  EXPECT_EQ(plugin.table, nullptr);
  EXPECT_TRUE(contains(plugin.absence, plugin.file + " was built for another version")) << plugin.absence;
}

/// The reference stays valid, and the folder is not searched again.
TEST(Plugin, IsOpenedOnce) {
  PluginFolder folder;
  fs::copy_file(TREADLE_PLUGIN_FOR_TEST, folder.file("twice"));
  const Plugin& first = open_plugin("twice", 7);
  ASSERT_EQ(first.absence, "");
  EXPECT_EQ(*static_cast<const int*>(first.table), 42);
  fs::remove(folder.file("twice"));
  EXPECT_EQ(&open_plugin("twice", 7), &first);
  EXPECT_EQ(first.file, folder.file("twice"));
}

TEST(Plugin, ThoseAskedForAreKnown) {
  PluginFolder folder;
  open_plugin("asked_for", 1);
  int found = 0;
  for (const Plugin& plugin : known_plugins()) found += plugin.name == "asked_for";
  EXPECT_EQ(found, 1);
}

}  // namespace
}  // namespace treadle
