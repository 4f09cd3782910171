// What the compiler calls for -fsanitize=bounds and -fsanitize=alignment: indices beyond an array of known
// size, and addresses that a GPU would refuse.
#include <cstdint>

#include "treadle/core/error.h"
#include "treadle/simt/check/runtime/block.h"

namespace {

// As libubsan lays them out.
struct SourceLocation {
  const char* file;
  uint32_t line, column;
};
struct TypeDescriptor {
  uint16_t kind, info;
  char name[1];
};
struct OutOfBounds {
  SourceLocation location;
  const TypeDescriptor *array, *index;
};
struct TypeMismatch {
  SourceLocation location;
  const TypeDescriptor* type;
  unsigned char log_alignment, access;
};

void report(const char* kind, const SourceLocation& location, const std::string& message,
            const char* allocation) {
  if (treadle::checker::running_block != nullptr)
    treadle::checker::running_block->report_at(kind, location.file, location.line, message, allocation);
}

}  // namespace

// NOLINTBEGIN: the compiler chose these names.
extern "C" {
void __ubsan_handle_out_of_bounds(OutOfBounds* data, uintptr_t index) {
  report("out-of-bounds", data->location,
         fmt::format("index {} of an array of type {}", static_cast<int64_t>(index), data->array->name),
         data->array->name);
}
void __ubsan_handle_type_mismatch_v1(TypeMismatch* data, uintptr_t address) {
  if (address == 0) return;  // the access itself tells
  report("misaligned", data->location,
         fmt::format("address {:#x} for type {}, which needs a multiple of {}", address, data->type->name,
                     1u << data->log_alignment),
         "");
}
}
// NOLINTEND
