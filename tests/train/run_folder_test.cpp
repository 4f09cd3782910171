/// Run folders: one process at a time, a name of its own for each run, and files that agree after a kill.
#include "treadle/train/run_folder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/formats/temporary_folder.h"
#include "treadle/core/error.h"

namespace treadle {
namespace {

namespace fs = std::filesystem;

std::string line_of(int64_t epoch) { return fmt::format(R"({{"epoch":{},"train_loss":0.5}})", epoch); }

/// A state after so many epochs, whose weight tells the epoch.
Checkpoint state(int64_t epoch, int64_t best_epoch = 0) {
  Checkpoint checkpoint;
  checkpoint.model = "mlp";
  checkpoint.input = {1, 28, 28};
  checkpoint.epoch = epoch;
  checkpoint.parameters = {{"weight", Tensor::from({float(epoch)}, {1})}};
  if (epoch > 0) checkpoint.progress.metrics = line_of(epoch);
  checkpoint.progress.best_epoch = best_epoch;
  checkpoint.progress.best_score = best_epoch > 0 ? 0.5 : 0;
  return checkpoint;
}

class Folder : public testing::Test {
 protected:
  /// A run of so many epochs, the best of which is `best_epoch`.
  void run(int64_t epochs, int64_t best_epoch = 0) {
    RunFolder folder(path_);
    folder.set_config(fmt::format("epochs = {}\n", epochs));
    for (int64_t epoch = 1; epoch <= epochs; ++epoch)
      folder.save(state(epoch, std::min(epoch, best_epoch)), epoch <= best_epoch);
  }
  std::optional<Checkpoint> restore() {
    RunFolder folder(path_);
    return folder.restore(load_checkpoint(path_ / "last.safetensors"));
  }
  std::string metrics() { return read_text(path_ / "metrics.jsonl"); }
  /// What follows the name of the run.
  std::string config() {
    std::string text = read_text(path_ / "config.toml");
    EXPECT_TRUE(text.starts_with("run = '")) << text;
    return text.substr(text.find('\n') + 1);
  }
  std::string first_lines(int64_t count) {
    std::string text;
    for (int64_t i = 1; i <= count; ++i) text += line_of(i) + "\n";
    return text;
  }

  TemporaryFolder temporary_;
  fs::path path_ = temporary_ / "run";
};

TEST_F(Folder, BelongsToOneAtATime) {
  RunFolder folder(path_);
  expect_error<FileError>([&] { RunFolder second(path_); },
                          {path_.string(), fmt::format("in use by process {} on ", ::getpid()), " UTC"});
}

TEST_F(Folder, ALockThatNobodyHoldsIsNone) {
  fs::create_directory(path_);
  write_bytes(path_ / ".lock", "process 1 on another machine since long ago");
  RunFolder folder(path_);
  EXPECT_EQ(folder.path(), path_);
}

TEST_F(Folder, EveryNewRunHasItsOwn) {
  auto first = RunFolder::make_new(temporary_ / "runs/mlp");
  auto second = RunFolder::make_new(temporary_ / "runs/mlp");
  auto third = RunFolder::make_new(temporary_ / "runs/mlp");
  EXPECT_EQ(first->path(), temporary_ / "runs/mlp");
  EXPECT_EQ(second->path(), temporary_ / "runs/mlp-2");
  EXPECT_EQ(third->path(), temporary_ / "runs/mlp-3");
}

TEST_F(Folder, IsRemovedWhenItWasMadeForNothing) {
  { RunFolder folder(path_); }
  EXPECT_FALSE(fs::exists(path_));
  fs::create_directory(path_);
  { RunFolder folder(path_); }
  EXPECT_TRUE(fs::is_empty(path_));
  expect_error<FileError>([&] { RunFolder folder("/dev/null/run"); }, {"/dev/null/run", "make the folder"});
}

TEST_F(Folder, HoldsTheFilesOfARun) {
  EXPECT_FALSE(RunFolder::holds_run(path_));
  run(3, 2);
  EXPECT_TRUE(RunFolder::holds_run(path_));
  EXPECT_EQ(metrics(), first_lines(3));
  EXPECT_EQ(config(), "epochs = 3\n");
  EXPECT_EQ(load_checkpoint(path_ / "best.safetensors").epoch, 2);
  EXPECT_EQ(load_checkpoint(path_ / "last.safetensors").epoch, 3);
  EXPECT_EQ(RunFolder::model_file(path_), path_ / "best.safetensors");
  EXPECT_EQ(size_t(std::distance(fs::directory_iterator(path_), {})), 4u);
}

TEST_F(Folder, AnEarlierRunStaysUntilTheNewOneSaves) {
  run(3, 2);
  std::string last = read_text(path_ / "last.safetensors");
  {
    RunFolder folder(path_);
    folder.set_config("new\n");
    EXPECT_EQ(read_text(path_ / "last.safetensors"), last);
    EXPECT_EQ(metrics(), first_lines(3));
    EXPECT_EQ(config(), "epochs = 3\n");
    folder.save(state(1), false);
  }
  EXPECT_EQ(metrics(), first_lines(1));
  EXPECT_EQ(config(), "new\n");
  EXPECT_FALSE(fs::exists(path_ / "best.safetensors"));
}

TEST_F(Folder, MetricsFollowTheState) {
  run(3);
  const std::string torn = first_lines(2) + R"({"epoch":3,"trai)", doubled = first_lines(2) + first_lines(3);
  for (const std::string& left :
       {std::string(), first_lines(2), first_lines(4), first_lines(3), torn, doubled}) {
    write_bytes(path_ / "metrics.jsonl", left);
    restore();
    // An empty file stands for one that was lost: only the state's own line can be made again.
    EXPECT_EQ(metrics(), left.empty() ? line_of(3) + "\n" : first_lines(3)) << left;
  }
}

/// A state from the middle of an epoch has no line of its own yet.
TEST_F(Folder, MetricsHaveALineForEachEpoch) {
  RunFolder folder(path_);
  folder.save(state(1), false);
  Checkpoint middle = state(1);
  middle.progress.examples = 5;
  folder.save(middle, false);
  EXPECT_EQ(metrics(), first_lines(1));
  folder.save(state(2), false);
  EXPECT_EQ(metrics(), first_lines(2));
}

TEST_F(Folder, ARunGoesOnAfterARestore) {
  run(2, 1);
  {
    RunFolder folder(path_);
    auto best = folder.restore(load_checkpoint(path_ / "last.safetensors"));
    ASSERT_TRUE(best);
    EXPECT_EQ(best->epoch, 1);
    folder.save(state(3, 1), false);
  }
  EXPECT_EQ(metrics(), first_lines(3));
  EXPECT_EQ(load_checkpoint(path_ / "best.safetensors").epoch, 1);
}

TEST_F(Folder, TheConfigIsThatOfTheStatesRun) {
  run(2);
  std::string of_another = read_text(path_ / "config.toml");
  run(1);
  std::string own = read_text(path_ / "config.toml");
  for (const std::string& left : {own, of_another}) {
    write_bytes(path_ / "config.toml", left);
    RunFolder folder(path_);
    folder.set_config("epochs = 7\n");
    folder.restore(load_checkpoint(path_ / "last.safetensors"));
    EXPECT_EQ(config(), left == own ? "epochs = 1\n" : "epochs = 7\n");
    folder.save(state(2), false);  // from now on the settings it goes on with
    EXPECT_EQ(config(), "epochs = 7\n");
  }
}

TEST_F(Folder, TheBestIsMadeAgainFromTheLast) {
  run(3, 3);
  Checkpoint earlier = state(2, 2);
  earlier.progress.run = load_checkpoint(path_ / "last.safetensors").progress.run;
  for (bool removed : {true, false}) {
    if (removed) fs::remove(path_ / "best.safetensors");
    if (!removed) save_checkpoint(path_ / "best.safetensors", earlier);
    auto best = restore();
    ASSERT_TRUE(best);
    EXPECT_EQ(best->epoch, 3);
    EXPECT_EQ(load_checkpoint(path_ / "best.safetensors").epoch, 3);
  }
}

/// Its weights are those of some steps later.
TEST_F(Folder, TheBestIsNotMadeFromTheMiddleOfAnEpoch) {
  {
    RunFolder folder(path_);
    Checkpoint middle = state(3, 3);
    middle.progress.examples = 5;
    folder.save(middle, false);
  }
  EXPECT_FALSE(restore());
  EXPECT_FALSE(fs::exists(path_ / "best.safetensors"));
}

/// It decides what a run is: a failure behind it costs the best, one before it would leave none.
TEST_F(Folder, TheStateIsWrittenBeforeTheBest) {
  RunFolder folder(path_);
  fs::create_directory(path_ / "best.safetensors");
  expect_error<FileError>([&] { folder.save(state(1, 1), true); }, {"best.safetensors"});
  EXPECT_EQ(load_checkpoint(path_ / "last.safetensors").epoch, 1);
}

/// A run that went on without a validation part.
TEST_F(Folder, WithoutABestTheStateIsTheModel) {
  run(3, 3);
  Checkpoint last = load_checkpoint(path_ / "last.safetensors");
  last.progress.best_epoch = 0;
  save_checkpoint(path_ / "last.safetensors", last);
  EXPECT_EQ(RunFolder::model_file(path_), path_ / "last.safetensors");
}

TEST_F(Folder, TheBestOfAnotherRunIsNotTaken) {
  run(3, 2);
  std::string of_another = read_text(path_ / "best.safetensors");
  run(3, 2);
  write_bytes(path_ / "best.safetensors", of_another);
  EXPECT_EQ(RunFolder::model_file(path_), path_ / "last.safetensors");
  EXPECT_FALSE(restore());
}

TEST_F(Folder, LeftoversOfKilledWritersAreRemoved) {
  run(1);
  for (const char* name :
       {"last.safetensors.tmp-123", "best.safetensors.tmp-4", "config.toml.tmp-5", "metrics.jsonl.tmp-6"})
    write_bytes(path_ / name, "half");
  write_bytes(path_ / "notes.tmp-7", "not a file of the run");
  { RunFolder folder(path_); }
  EXPECT_EQ(size_t(std::distance(fs::directory_iterator(path_), {})), 4u);  // three of the run, and the notes
}

}  // namespace
}  // namespace treadle
