#include "cli/train_config.h"

#include <toml++/toml.h>

#include <locale>
#include <sstream>

#include "treadle/core/parallel_for.h"
#include "treadle/core/version.h"

namespace treadle::cli {

std::string config_text(const TrainOptions& o, Device device) {
  toml::table config{{"model", o.model},
                     {"data", o.data},
                     {"device", to_string(device)},
                     {"epochs", o.epochs},
                     {"batch_size", o.batch_size},
                     {"optimizer", o.optimizer},
                     {"learning_rate", o.learning_rate},
                     {"schedule", o.schedule},
                     {"warm_up", o.warm_up},
                     {"normalize", o.normalize},
                     {"seed", int64_t(o.seed)},
                     {"threads", num_threads()},
                     {"deterministic", o.settings.deterministic},
                     {"keep_subnormals", o.settings.keep_subnormals},
                     {"limit_batches", o.limit_batches},
                     {"steps", o.max_steps},
                     {"validation", o.validation},
                     {"treadle", version()}};
  std::ostringstream text;
  text.imbue(std::locale::classic());
  text << config << "\n";
  return text.str();
}

}  // namespace treadle::cli
