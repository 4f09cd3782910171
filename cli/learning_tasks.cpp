#include "cli/learning_tasks.h"

#include <algorithm>

#include "treadle/core/error.h"

namespace treadle::cli {

void register_all(LearningTasks& tasks);  // generated from the files of cli/tasks/

const LearningTask& LearningTasks::of(const ModelInfo& model) const {
  const auto found = std::find_if(tasks_.begin(), tasks_.end(),
                                  [&](const LearningTask& task) { return task.name == model.task; });
  require<Error>(found != tasks_.end(), "the model {} learns '{}', which is no task of this program",
                 model.name, model.task);
  return *found;
}

const LearningTasks& learning_tasks() {
  static const LearningTasks tasks = [] {
    LearningTasks all;
    register_all(all);
    return all;
  }();
  return tasks;
}

const LearningTask& learning_task_of(const std::string& model) {
  return learning_tasks().of(model_info(model));
}

void require_task_of_images(const std::string& model, const std::string& use) {
  require<ValueError>(learning_task_of(model).of_images, "{} needs a model of images; {} learns {}", use,
                      model, model_info(model).task);
}

}  // namespace treadle::cli
