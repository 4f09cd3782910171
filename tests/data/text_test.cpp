/// Texts: characters as numbers, parts, and what is refused.
#include "treadle/data/text.h"

#include <gtest/gtest.h>

#include "tests/formats/temporary_folder.h"
#include "tests/refused.h"
#include "treadle/core/error.h"
#include "treadle/data/dataset.h"
#include "treadle/data/fingerprint.h"
#include "treadle/formats/file.h"

namespace treadle {
namespace {

class Text : public testing::Test {
 protected:
  std::filesystem::path write(const std::string& text) {
    const auto path = folder_.path() / "book.txt";
    replace_text(path, text);
    return path;
  }

  TemporaryFolder folder_;
};

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

TEST_F(Text, CharactersAreNumberedByCodePoint) {
  const TextDataset set = load_text(write(repeated("b\xc3\xa9 a", 10)), {.block = 3});
  EXPECT_EQ(set.vocabulary.characters(), (std::vector<std::string>{" ", "a", "b", "\xc3\xa9"}));
  EXPECT_EQ(set.block, 3);
  // The last tenth of 40 is the test part.
  EXPECT_EQ(set.train.size(), 36u);
  EXPECT_EQ(set.test, (std::vector<int32_t>{2, 3, 0, 1}));
  EXPECT_EQ(set.vocabulary.decode(set.test), "b\xc3\xa9 a");
  EXPECT_EQ(set.vocabulary.encode("ab", "prompt"), (std::vector<int32_t>{1, 2}));
  EXPECT_TRUE(set.validation.empty());
}

TEST_F(Text, AByteOrderMarkIsNoCharacter) {
  EXPECT_EQ(load_text(write("\xef\xbb\xbf" + repeated("ab", 20)), {.block = 2}).vocabulary.size(), 2);
}

TEST_F(Text, AModelsVocabularyIsKept) {
  const Vocabulary known(std::vector<std::string>{"a", "b", "c"});
  const TextDataset set = load_text(write(repeated("bc", 20)), {.block = 2, .vocabulary = &known});
  EXPECT_EQ(set.test, (std::vector<int32_t>{1, 2, 1, 2}));
  EXPECT_EQ(Vocabulary(known.characters()), known);
}

TEST_F(Text, TheValidationPartIsTheEndOfTheTrainingPart) {
  TextDataset set = load_text(write(repeated("abcdefghij", 10)), {.block = 4});
  hold_out(set, 0.1);
  EXPECT_EQ(set.train.size(), 81u);
  EXPECT_EQ(set.vocabulary.decode(set.validation), "bcdefghij");
  EXPECT_EQ(set.vocabulary.decode(set.test), "abcdefghij");
}

TEST_F(Text, WhatCannotBeReadIsRefused) {
  const auto load = [&](const std::string& text, int64_t block = 4) {
    return [this, text, block] { load_text(write(text), {.block = block}); };
  };
  const Vocabulary known(std::vector<std::string>{"a", "b"});
  expect_refused({
      refused<FormatError>("nothing", {"book.txt", "0 characters", "longer than a window of 4"}, load("")),
      refused<FormatError>("a test part of a block", {"40 characters", "tenth of them 4", "window of 4"},
                           load(std::string(40, 'a'))),
      refused<FormatError>("Latin-1", {"book.txt", "not UTF-8", "byte 3"}, load("caf\xe9")),
      refused<ValueError>("no block", {"windows of 0"}, load("abc", 0)),
      refused<ValueError>("a folder", {"is a folder"}, [&] { load_text(folder_.path()); }),
      refused<DatasetAbsent>("nowhere", {"no.txt"}, [&] { load_text(folder_.path() / "no.txt"); }),
      refused<FormatError>("unknown character", {"book.txt", "'\xc3\xa9' (U+00E9)", "none of the 2"},
                           [&] { load_text(write("ab\xc3\xa9"), {.vocabulary = &known}); }),
      refused<ValueError>("unknown in a prompt", {"the prompt", "U+000A"},
                          [&] { known.encode("a\n", "the prompt"); }),
      refused<FormatError>("two characters", {"'ab'"}, [] { Vocabulary(std::vector<std::string>{"ab"}); }),
      refused<FormatError>("out of order", {"'a' (U+0061)", "not behind 'b'"},
                           [] {
                             Vocabulary(std::vector<std::string>{"b", "a"});
                           }),
  });
}

TEST_F(Text, AValidationPartMustBeLongerThanABlock) {
  TextDataset set = load_text(write(repeated("abcdefghij", 10)), {.block = 8});
  expect_refused(
      {refused<ValueError>("too small", {"leaves 5", "window of 8"}, [&] { hold_out(set, 0.05); }),
       refused<ValueError>("all but a block", {"leaves 82 for it and 8"}, [&] { hold_out(set, 0.91); }),
       refused<ValueError>("all", {"not within (0, 1)"}, [&] { hold_out(set, 1); })});
  EXPECT_EQ(set.train.size(), 90u);
}

TEST_F(Text, TheFingerprintTellsTextsApart) {
  const auto of = [&](const std::string& text) { return fingerprint(load_text(write(text), {.block = 2})); };
  const std::string text = repeated("abcd", 20);
  EXPECT_EQ(of(text), of(text));
  EXPECT_NE(of(text), of(repeated("abdc", 20)));
  EXPECT_NE(of(text), of(repeated("abce", 20)));  // the same numbers of other characters
  EXPECT_NE(of(text).find("72 training and 8 test characters of 4 kinds"), std::string::npos) << of(text);
}

}  // namespace
}  // namespace treadle
