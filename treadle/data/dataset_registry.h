/// The known data sets and the formats of folders. Each is declared in a file of sets/, which the build
/// finds; nothing else names it.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "treadle/data/dataset.h"

namespace treadle {

/// A file that mirrors have of a set.
struct DatasetFile {
  std::string name;
  uint64_t bytes = 0;       ///< of its contents, unpacked where it is one of gzip; 0: not known
  std::string sha256 = {};  ///< of these contents; empty: not known
};

/// A data set that has a name.
struct DatasetDeclaration {
  int place = 0;  ///< in lists, smallest first; the first is what is taken where no data set is named
  std::string name;
  std::string description;
  std::vector<std::string> classes;       ///< label → name
  std::string how_to_get = {};            ///< ends "to get it: …" and "not found; …"
  std::vector<std::string> mirrors = {};  ///< folders of the network that have the files
  std::vector<DatasetFile> files = {};
  std::vector<std::string> members = {};  ///< where the one file is a .tar.gz: what is taken out of it
  /// Of a set that is made and not stored: makes it with that many classes.
  std::function<DatasetSplits(uint64_t seed, int64_t classes)> make = {};
  int64_t most_classes = 0;  ///< of a made set that takes 2 and more; 0: it has those above
};

/// A set as it was asked for: "spirals:5" is spirals with 5 classes.
struct ChosenDataset {
  const DatasetDeclaration* set = nullptr;
  int64_t classes = 0;
};

/// How a folder or a file holds a data set.
struct DatasetFormat {
  int place = 0;      ///< in messages, smallest first
  std::string files;  ///< what a folder must hold, in words
  /// The folder, one inside it, or the file that holds the set, by its name; empty when there is none.
  std::function<std::filesystem::path(const std::filesystem::path& path)> find;
  /// Reads what find() gave: examples and labels, and the names of classes where the files have such. Throws
  /// DatasetAbsent for files that are missing, FileError, FormatError, and ValueError for options that do not
  /// fit.
  std::function<DatasetSplits(const std::filesystem::path& found, const DatasetOptions& options)> load;
  std::string only_set = {};  ///< the data set that all folders in this format hold, whatever they are called
};

class DatasetRegistry {
 public:
  void add(DatasetDeclaration declaration);
  void add(DatasetFormat format);

  const std::vector<DatasetDeclaration>& sets() const { return sets_; }
  /// The set of that name, or null.
  const DatasetDeclaration* find(std::string_view name) const;
  /// The same for a name that may say how many classes there shall be; without a set where none is meant.
  /// Throws ValueError for a number of classes that the set cannot have.
  ChosenDataset choose(std::string_view name) const;
  std::vector<std::string> names() const;

  /// The format that a folder or file is in, or null; one that only one set has goes before others.
  const DatasetFormat* format_of(const std::filesystem::path& path) const;
  /// What folders may hold, in words: "a, or b".
  std::string expected_files() const;

 private:
  std::vector<DatasetDeclaration> sets_;
  std::vector<DatasetFormat> formats_;
};

/// All that sets/ declares.
const DatasetRegistry& dataset_registry();

}  // namespace treadle
