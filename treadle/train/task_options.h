/// What trainings of every kind of task are told beside the options of fit().
#pragma once  // public

#include "treadle/train/fit.h"
#include "treadle/train/training_step.h"

namespace treadle {

struct TaskOptions : FitOptions {
  Device device = kCpu;
  StepOptions step;  ///< its average and scaler are those of the options
};

}  // namespace treadle
