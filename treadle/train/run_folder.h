/// The folder of a training run: it belongs to one process at a time, and can be gone on with however that
/// ended.
#pragma once  // public

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "treadle/core/export.h"
#include "treadle/train/checkpoint.h"
#include "treadle/train/epoch_figures.h"

namespace treadle {

class LockedFile;

/// Holds last.safetensors, the state to go on from; best.safetensors where a validation part chooses;
/// config.toml; and metrics.jsonl, one JSON object a line for each finished epoch.
///
/// last.safetensors decides. save() writes it first, atomically and with its epoch's line of metrics.jsonl
/// inside; the other files follow it, and restore() puts right what a killed process did not get to. Until
/// the first save() the files of an earlier run in the folder stay as they are.
class TREADLE_API RunFolder {
 public:
  /// Whether a folder holds files of a run.
  static bool holds_run(const std::filesystem::path& path);
  /// The checkpoint in a run folder to evaluate and predict with: best.safetensors where last.safetensors
  /// says that its run has one, else last.safetensors. Throws FileError, FormatError.
  static std::filesystem::path model_file(const std::filesystem::path& path);

  /// The figures of the finished epochs of a run, from its metrics.jsonl; none where that is absent.
  static std::vector<EpochFigures> epochs_in(const std::filesystem::path& path);

  /// Makes the folder where it is absent, and keeps other processes out while the object lives. Throws
  /// FileError when another one has it (names process, machine and time), or when it cannot be made or
  /// written to.
  explicit RunFolder(const std::filesystem::path& path);
  /// The first of base, base-2, base-3, … that does not exist: no two processes are given the same.
  static std::unique_ptr<RunFolder> make_new(const std::filesystem::path& base);
  /// Removes the folder again if it was made here and nothing was saved.
  ~RunFolder();
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path last_file() const;
  std::filesystem::path best_file() const;
  /// The text of config.toml, which follows the name of the run there. The first save() writes it, and
  /// restore() if the file is not about the run.
  void set_config(std::string toml) { config_ = std::move(toml); }

  /// Goes on with the run whose last.safetensors `last` is, and brings the other files to its state. Returns
  /// the best state where that run has one. Throws FileError, FormatError.
  std::optional<Checkpoint> restore(const Checkpoint& last);
  /// Writes last.safetensors, the line of metrics.jsonl when an epoch was finished, and best.safetensors if
  /// it is the `best` state so far. The first call replaces what another run left. Throws FileError; unless
  /// last.safetensors was written, nothing has changed.
  void save(Checkpoint checkpoint, bool best);

 private:
  RunFolder(const std::filesystem::path& path, bool made);
  void write_metrics(const Checkpoint& last);
  std::string config_head() const;
  void write_config() const;

  std::filesystem::path path_;
  bool made_;
  std::unique_ptr<LockedFile> lock_;
  std::string run_, config_;
  bool restored_ = false, saved_ = false;
  int64_t epochs_written_ = 0;
};

}  // namespace treadle
