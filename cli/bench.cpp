#include "cli/command.h"

namespace treadle::cli {

/// What is timed lies in bench/.
void register_bench(Commands& commands) {
  commands.add({.place = 9,
                .name = "bench",
                .description = "Time ops and whole steps",
                .example = "treadle bench step --model fashion_cnn --batch 32\n"
                           "         treadle bench op matmul --device simt"});
}

}  // namespace treadle::cli
