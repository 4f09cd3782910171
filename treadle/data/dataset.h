/// Labelled sets of images, or of other numbers, in memory; finding and loading the known ones.
#pragma once  // public

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "treadle/core/error.h"
#include "treadle/core/export.h"
#include "treadle/core/shape.h"

namespace treadle {

/// A data set that is nowhere to be found; the message says where it was looked for and how to get it.
struct TREADLE_API DatasetAbsent : Error {
  using Error::Error;
};

/// Images of one size with a label each; or examples of another kind, which are numbers.
struct ImageDataset {
  std::string name;
  std::vector<std::string> classes;  ///< label → name
  Shape image_shape;                 ///< [C, H, W]; of numbers any shape, [D] for vectors
  std::vector<uint8_t> pixels;       ///< [N, C, H, W]; empty where there are values
  std::vector<int32_t> labels;       ///< [N], each from 0 and below classes.size()
  std::vector<float> values = {};    ///< [N, …image_shape]: the examples where they are no images

  int64_t size() const { return int64_t(labels.size()); }
  bool has_values() const { return !values.empty(); }
};

/// Throws ValueError unless the shape has positive extents, three where examples are images, and there are as
/// many pixels or values as examples of it: for data sets that were not loaded.
TREADLE_API void require_whole(const ImageDataset& dataset);

struct DatasetSplits {
  ImageDataset train;
  ImageDataset test;
  ImageDataset validation = {};  ///< empty unless hold_out() filled it
};

/// Loads the known data set NAME from the first of $TREADLE_DATA/NAME, $XDG_DATA_HOME/treadle/NAME
/// (or ~/.local/share/treadle/NAME) and /usr/share/datasets/NAME that holds it, or a folder given by its
/// path. A folder holds either four IDX files (train-images-idx3-ubyte, train-labels-idx1-ubyte,
/// t10k-images-idx3-ubyte, t10k-labels-idx1-ubyte; also with '.' before idx, also with .gz) or
/// data_batch_1.bin … data_batch_5.bin and test_batch.bin (also in a folder cifar-10-batches-bin inside).
/// Classes of a folder with a known set's name are that set's; else they are "0", "1", … up to the largest
/// training label. Throws DatasetAbsent, ValueError for a name that is neither known nor a folder, FileError,
/// and FormatError for damaged files, numbers of images and labels that differ, and labels beyond the
/// classes.
///
/// A set that is made and not stored is drawn by `seed`. Its name may say how many classes it shall have:
/// "spirals:5".
TREADLE_API DatasetSplits load_dataset(std::string_view name_or_folder, uint64_t seed = 0);

/// What names the same data set from any working directory: a known set's name as it is, else the folder's
/// absolute path. A folder that is not there keeps its name.
TREADLE_API std::string lasting_name(const std::string& name_or_folder);

/// What `treadle datasets` lists.
struct KnownDataset {
  std::string name;
  std::string description;
  std::vector<std::string> classes;
  std::filesystem::path found;  ///< the folder that load_dataset would read; empty when there is none
  std::string how_to_get;
  std::vector<std::filesystem::path> places = {};  ///< where it is looked for, best first
  bool made = false;                               ///< by a seed: there is nothing to find or to get
};

/// All of them, the one first that is taken where none is named.
TREADLE_API std::vector<KnownDataset> known_datasets();

/// Their names, in the same order.
TREADLE_API std::vector<std::string> dataset_names();

}  // namespace treadle
