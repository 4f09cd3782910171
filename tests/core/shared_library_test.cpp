// Opening libraries at run time, on the C library's own files.
#include "treadle/core/shared_library.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace treadle {
namespace {

namespace fs = std::filesystem;

/// A folder that is removed, and named by TREADLE_LIBRARY_PATH while it lives.
class LibraryFolder {
 public:
  LibraryFolder() : path_(fs::temp_directory_path() / ("treadle-library-" + std::to_string(getpid()))) {
    fs::create_directories(path_ / "part" / "lib");
    setenv("TREADLE_LIBRARY_PATH", path_.c_str(), 1);
  }
  ~LibraryFolder() {
    unsetenv("TREADLE_LIBRARY_PATH");
    fs::remove_all(path_);
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

TEST(SharedLibrary, FindsFunctions) {
  SharedLibrary library = SharedLibrary::open({"libm.so.6"}, {});
  ASSERT_TRUE(library.is_open()) << library.absence();
  double (*cosine)(double) = nullptr;
  library.find(cosine, "cos");
  ASSERT_NE(cosine, nullptr);
  EXPECT_EQ(cosine(0), 1);
}

TEST(SharedLibrary, SaysWhatIsMissing) {
  SharedLibrary library = SharedLibrary::open({"libnone.so.2", "libnone.so.1"}, {"/nowhere"});
  EXPECT_FALSE(library.is_open());
  EXPECT_EQ(library.absence(),
            "libnone.so.2, libnone.so.1 not found; TREADLE_LIBRARY_PATH can name its folder");
}

TEST(SharedLibrary, AMissingFunctionClosesIt) {
  SharedLibrary library = SharedLibrary::open({"libm.so.6"}, {});
  void (*function)() = nullptr;
  library.find(function, "no_such_function");
  EXPECT_EQ(function, nullptr);
  EXPECT_FALSE(library.is_open());
  EXPECT_NE(library.absence().find("no_such_function"), std::string::npos);
}

TEST(SharedLibrary, SearchesTheUsersFoldersAndTheLibFoldersBeneath) {
  LibraryFolder folder;
  std::ofstream(folder.path() / "part" / "lib" / "libbroken.so.1") << "not a library";
  SharedLibrary library = SharedLibrary::open({"libbroken.so.1"}, {});
  EXPECT_FALSE(library.is_open());
  EXPECT_NE(library.absence().find("part/lib/libbroken.so.1"), std::string::npos) << library.absence();
}

}  // namespace
}  // namespace treadle
