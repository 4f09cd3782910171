#include "treadle/data/text.h"

#include <algorithm>
#include <cmath>

#include "treadle/core/error.h"
#include "treadle/data/dataset.h"
#include "treadle/data/file_names.h"
#include "treadle/data/read_bytes.h"
#include "treadle/formats/utf8.h"

namespace treadle {
namespace {

std::string read_text(const std::filesystem::path& file) {
  require<ValueError>(!is_folder(file), "{} is a folder; a text is one file in UTF-8", file.string());
  require<DatasetAbsent>(is_file(file), "there is no file {} to read a text from; check the path",
                         file.string());
  const std::vector<std::byte> bytes = read_bytes(file);
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  return std::string(text);
}

/// As messages show it: "'é' (U+00E9)", without what would move the cursor.
std::string shown(char32_t character) {
  const std::string number = fmt::format("U+{:04X}", uint32_t(character));
  return character < 0x20 || character == 0x7f ? number
                                               : fmt::format("'{}' ({})", utf8_of(character), number);
}

/// Takes the last `count` numbers off.
std::vector<int32_t> take_end(std::vector<int32_t>& numbers, int64_t count) {
  std::vector<int32_t> end(numbers.end() - count, numbers.end());
  numbers.resize(numbers.size() - size_t(count));
  return end;
}

}  // namespace

Vocabulary Vocabulary::of(std::string_view text, const std::string& what) {
  std::u32string characters = code_points(text, what);
  std::sort(characters.begin(), characters.end());
  characters.erase(std::unique(characters.begin(), characters.end()), characters.end());
  return Vocabulary(std::move(characters));
}

Vocabulary::Vocabulary(const std::vector<std::string>& characters) {
  for (const std::string& text : characters) {
    const std::u32string one = code_points(text, "a character of the vocabulary");
    require<FormatError>(one.size() == 1, "'{}' in the vocabulary is not one character", text);
    require<FormatError>(characters_.empty() || characters_.back() < one[0],
                         "{} in the vocabulary is not behind {}", shown(one[0]),
                         shown(characters_.empty() ? 0 : characters_.back()));
    characters_.push_back(one[0]);
  }
}

std::vector<std::string> Vocabulary::characters() const {
  std::vector<std::string> texts;
  for (char32_t character : characters_) texts.push_back(utf8_of(character));
  return texts;
}

bool Vocabulary::has(char32_t character) const {
  return std::binary_search(characters_.begin(), characters_.end(), character);
}

std::vector<int32_t> Vocabulary::encode(std::string_view text, const std::string& what) const {
  std::vector<int32_t> numbers;
  numbers.reserve(text.size());
  for (char32_t character : code_points(text, what)) {
    const auto found = std::lower_bound(characters_.begin(), characters_.end(), character);
    require<ValueError>(found != characters_.end() && *found == character,
                        "{} holds the character {}, which is none of the {} that the model knows", what,
                        shown(character), size());
    numbers.push_back(int32_t(found - characters_.begin()));
  }
  return numbers;
}

std::string Vocabulary::decode(std::span<const int32_t> numbers) const {
  std::string text;
  for (int32_t number : numbers) text += utf8_of(characters_.at(size_t(number)));
  return text;
}

TextDataset load_text(const std::filesystem::path& file, const TextOptions& options) {
  require<ValueError>(options.block > 0, "windows of {} characters cannot be read from a text",
                      options.block);
  const std::string text = read_text(file), name = file.string();
  TextDataset set{
      name, options.vocabulary ? *options.vocabulary : Vocabulary::of(text, name), options.block, {}};
  try {
    set.train = set.vocabulary.encode(text, name);
  } catch (const ValueError& error) {
    throw FormatError(error.what());
  }
  const auto size = int64_t(set.train.size()), test = int64_t(kTextTestShare * double(size));
  require<FormatError>(test > set.block,
                       "{} has {} characters, the last tenth of them {}: the test part must be longer than a "
                       "window of {}. Take a longer text or shorter windows",
                       name, size, test, set.block);
  set.test = take_end(set.train, test);
  return set;
}

void hold_out(TextDataset& text, double share) {
  require<ValueError>(share > 0 && share < 1, "a validation part of {} of the text is not within (0, 1)",
                      share);
  const auto size = int64_t(text.train.size());
  const int64_t count = std::llround(share * double(size));
  require<ValueError>(count > text.block && size - count > text.block,
                      "a validation part of {} of {} training characters leaves {} for it and {} for "
                      "training; both must be longer than a window of {}",
                      share, size, count, size - count, text.block);
  text.validation = take_end(text.train, count);
}

}  // namespace treadle
