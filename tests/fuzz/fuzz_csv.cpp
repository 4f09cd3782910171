/// Fuzz target: CSV text, every field of which is read as a number. Any treadle::Error is a right answer;
/// crashes, hangs and sanitizer reports are not.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "treadle/core/error.h"
#include "treadle/formats/csv.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    treadle::CsvReader reader(std::string_view(reinterpret_cast<const char*>(data), size));
    for (std::vector<treadle::CsvField> record; reader.next(record);)
      for (const treadle::CsvField& field : record)
        if (treadle::is_csv_number(field.text)) treadle::csv_number(field, "input");
  } catch (const treadle::Error&) {
  }
  return 0;
}
