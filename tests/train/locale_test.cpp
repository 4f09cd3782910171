/// A host program may have set any locale: numbers in files do not follow it.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <charconv>
#include <clocale>
#include <cmath>
#include <locale>

#include "tests/compile/restored_settings.h"
#include "tests/formats/temporary_folder.h"
#include "tests/train/bright_quarters.h"
#include "treadle/models/model.h"
#include "treadle/optim/adam/adam.h"
#include "treadle/train/classification/fit_classifier.h"

namespace treadle {
namespace {

/// 1.234,5 instead of 1234.5.
struct CommaForPoint : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

/// What streams of C++ follow, while one lives.
class CommaStreams {
 public:
  CommaStreams() : before_(std::locale::global(std::locale(std::locale::classic(), new CommaForPoint))) {}
  ~CommaStreams() { std::locale::global(before_); }

 private:
  std::locale before_;
};

/// What strtod() and printf() follow. The locale is compiled from the system's sources.
class CommaConversions {
 public:
  CommaConversions() {
    std::string command = "localedef -i de_DE -f UTF-8 --no-archive " + (folder_ / "de_DE.UTF-8").string();
    if (::system((command + " >/dev/null 2>&1").c_str()) > 1 << 8) return;  // 1: with warnings
    ::setenv("LOCPATH", folder_.path().c_str(), 1);
    std::setlocale(LC_ALL, "de_DE.UTF-8");
  }
  ~CommaConversions() {
    std::setlocale(LC_ALL, "C");
    ::unsetenv("LOCPATH");
  }
  bool available() const { return *std::localeconv()->decimal_point == ','; }

 private:
  TemporaryFolder folder_;
};

class AnyLocale : public testing::Test {
 protected:
  FitResult train(int64_t epochs, const Checkpoint* resume) {
    auto model = make_model("mlp", 5);
    Adam optimizer(model->named_parameters(), 1e-3);
    RunFolder folder(folder_.path());
    ClassifierOptions o;
    o.epochs = epochs;
    o.batch_size = 24;
    o.folder = &folder;
    o.resume = resume;
    o.description.model = "mlp";
    o.description.classes = data_.train.classes;
    o.description.input = {1, 28, 28};
    o.description.normalization = {{0.286f}, {0.353f}};
    o.description.training = {{"--lr", "0.001"}};
    return fit_classifier(*model, optimizer, Schedule::named("constant", 1e-3), data_, o);
  }

  void SetUp() override {
    data_.validation.labels[0] = 9;
  }  // never found: no accuracy of 1, which has no point

  /// One epoch, and another one after resuming; what is read back is what was written.
  void expect_numbers_to_survive() {
    FitResult first = train(1, nullptr);
    Checkpoint last = load_checkpoint(folder_ / "last.safetensors");
    EXPECT_EQ(last.progress.best_score, first.validation["accuracy"]);
    EXPECT_NE(last.progress.best_score, std::floor(last.progress.best_score));  // it has a fraction
    EXPECT_EQ(last.normalization.deviation[0], 0.353f);
    FitResult second = train(2, &last);
    last = load_checkpoint(folder_ / "last.safetensors");
    EXPECT_EQ(last.progress.best_score,
              std::max(first.validation["accuracy"], second.validation["accuracy"]));
    std::string text = read_text(folder_ / "metrics.jsonl"), line = text.substr(0, text.find('\n'));
    EXPECT_EQ(written_accuracy(line), first.validation["accuracy"]) << line;
  }

  /// The number as it stands in the line of metrics.jsonl, with its point.
  static double written_accuracy(const std::string& line) {
    const std::string key = "\"validation_accuracy\":";
    const size_t at = line.find(key) + key.size();
    double value = 0;
    std::from_chars(line.data() + at, line.data() + line.size(), value);
    return value;
  }

  DatasetSplits data_{bright_quarters(100, 1), bright_quarters(300, 2), bright_quarters(190, 4)};
  TemporaryFolder folder_;
  DeterministicRuns equal_bits_;
};

TEST_F(AnyLocale, StreamsWithADecimalComma) {
  CommaStreams comma;
  expect_numbers_to_survive();
}

TEST_F(AnyLocale, ConversionsWithADecimalComma) {
  CommaConversions comma;
  if (!comma.available())
    GTEST_SKIP() << "no de_DE.UTF-8: localedef or its sources (package locales) are missing";
  ASSERT_EQ(std::strtod("0.5", nullptr), 0) << "the locale has no effect";
  expect_numbers_to_survive();
}

}  // namespace
}  // namespace treadle
