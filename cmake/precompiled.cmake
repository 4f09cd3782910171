# Headers of others that nearly every source reads, compiled once for each target: a light source spent more than half of its time on them.
# None of Treadle's own, a change of which would compile all again. The build stays right without them
# (-DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON); fuzzing builds so, which shows an include that is missing.
set(precompiled_standard <algorithm> <array> <atomic> <cmath> <cstdint> <cstring> <filesystem> <functional> <map> <memory>
                         <mutex> <optional> <span> <string> <string_view> <utility> <vector>)

# precompile(TARGET [HEADER…]): the standard library's headers, and these.
function(precompile target)
  target_precompile_headers(${target} PRIVATE ${precompiled_standard} ${ARGN})
endfunction()
