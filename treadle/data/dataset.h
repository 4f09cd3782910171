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

/// How a data set is read where its files leave that open.
struct DatasetOptions {
  uint64_t seed = 0;              ///< draws what is made, and the test part of what has none
  int64_t height = 0, width = 0;  ///< that images of folders are scaled to; 0: those of the first
  int64_t channels = 0;           ///< of images of folders: 1 grey, 3 colour; 0: those of the first
  std::string label_column = {};  ///< of tables: its name or number, from 1; empty: see below
};

/// The share of the examples that is drawn for the test where the files name no test part.
inline constexpr double kTestShare = 0.2;

/// Loads the known data set NAME from the first of $TREADLE_DATA/NAME, $XDG_DATA_HOME/treadle/NAME
/// (or ~/.local/share/treadle/NAME) and /usr/share/datasets/NAME that holds it, or a folder or file given by
/// its path. These are
/// - four IDX files (train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-idx3-ubyte,
///   t10k-labels-idx1-ubyte; also with '.' before idx, also with .gz);
/// - data_batch_1.bin … data_batch_5.bin and test_batch.bin (also in a folder cifar-10-batches-bin inside);
/// - images, PNG or JPEG, as train/CLASS/* and test/CLASS/*, or as CLASS/*;
/// - one .npz file of arrays x_train and y_train, perhaps x_test and y_test: bytes of three axes are grey
/// images
///   [N,H,W], of four with 1 or 3 last (or second) coloured ones; anything else is taken as numbers;
/// - a .csv file, or train.csv and perhaps test.csv: one column holds the labels, called label, class, target
/// or
///   species where none is named, else the last; the others hold numbers. A first line without a number is
///   the columns' names.
/// Where there is no test part, kTestShare of the examples is drawn for it by the seed.
/// Classes of a folder with a known set's name are that set's; those of images are the folders' names,
/// sorted, of tables the labels, sorted; else they are "0", "1", … up to the largest training label. Throws
/// DatasetAbsent, ValueError for a name that is neither known nor a folder, FileError, and FormatError for
/// damaged files, numbers of images and labels that differ, and labels beyond the classes.
///
/// A set that is made and not stored is drawn by the seed. Its name may say how many classes it shall have:
/// "spirals:5".
TREADLE_API DatasetSplits load_dataset(std::string_view name_or_folder, const DatasetOptions& options = {});

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
