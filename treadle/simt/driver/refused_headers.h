/// Libraries that programs ask for and that are not here.
#pragma once

#include <string>
#include <string_view>

namespace treadle::simt::driver {

/// "cuBLAS" for "cublas_v2.h" or a path that ends so; empty for other headers.
std::string library_of_header(std::string_view header);

/// Looks through preprocessed text. Throws SourceError where it includes a header of such a library.
void refuse_included_libraries(std::string_view preprocessed);

/// Looks through what the preprocessor said. Throws SourceError where it misses a header of such a library.
void refuse_missing_libraries(std::string_view messages);

}  // namespace treadle::simt::driver
