#include "cli/command.h"

namespace treadle::cli {

/// What is done with CUDA programs lies in simt/.
void register_simt(Commands& commands) {
  commands.add({.place = 11,
                .name = "simt",
                .description = "Build, run and check CUDA programs, without a GPU",
                .example = "treadle simt run vector_add.cu -- 1000000"});
}

}  // namespace treadle::cli
