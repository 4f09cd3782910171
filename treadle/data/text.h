/// Texts as numbers of their characters, to learn from and to be judged by.
#pragma once  // public

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "treadle/core/export.h"

namespace treadle {

/// The characters that a model knows: code points in their order, and a number for each, from 0.
class TREADLE_API Vocabulary {
 public:
  Vocabulary() = default;
  /// Those of a text. Throws FormatError where it is not UTF-8; `what` names it.
  static Vocabulary of(std::string_view text, const std::string& what);
  /// Throws FormatError unless each is one character, in their order.
  explicit Vocabulary(const std::vector<std::string>& characters);

  int64_t size() const { return int64_t(characters_.size()); }
  /// Number → character, in UTF-8.
  std::vector<std::string> characters() const;
  bool has(char32_t character) const;
  /// The numbers of a text's characters. Throws FormatError where it is not UTF-8, ValueError naming a
  /// character that is none of these.
  std::vector<int32_t> encode(std::string_view text, const std::string& what) const;
  /// The text of the numbers, each below size().
  std::string decode(std::span<const int32_t> numbers) const;

  bool operator==(const Vocabulary&) const = default;

 private:
  explicit Vocabulary(std::u32string characters) : characters_(std::move(characters)) {}

  std::u32string characters_;
};

/// A text in parts that follow each other.
struct TextDataset {
  std::string name;
  Vocabulary vocabulary;
  int64_t block = 0;           ///< characters that a model sees at a time
  std::vector<int32_t> train;  ///< the numbers of its characters
  std::vector<int32_t> validation = {};
  std::vector<int32_t> test = {};  ///< the end of the text
};

struct TextOptions {
  int64_t block = 64;
  const Vocabulary* vocabulary = nullptr;  ///< that of a model that shall read the text; null: the text's own
};

/// The share of a text, at its end, that is the test part.
inline constexpr double kTextTestShare = 0.1;

/// Reads a file of text in UTF-8; a byte order mark is passed over. Throws DatasetAbsent where there is no
/// file, FileError, ValueError for a folder and a block below 1, and FormatError: not UTF-8, a part that is
/// no longer than a block, a character that is not in options.vocabulary.
TREADLE_API TextDataset load_text(const std::filesystem::path& file, const TextOptions& options = {});

/// Moves a share of text.train, its end, to text.validation. Throws ValueError unless 0 < share < 1 and both
/// parts are longer than a block.
TREADLE_API void hold_out(TextDataset& text, double share);

}  // namespace treadle
