#include "cli/program_summary.h"

#include "treadle/data/batches.h"
#include "treadle/graph/autograd.h"
#include "treadle/ops/layout/copy.h"
#include "treadle/ops/random/random.h"
#include "treadle/train/classification/training_step.h"

namespace treadle::cli {

ProgramSource program_source(const std::string& name, const ModelTask& task, const std::string& optimizer,
                             int64_t batch, Device device) {
  ProgramSource source;
  source.model = make_model(name, task);
  source.model->to(device);
  source.optimizer = make_optimizer(optimizer, source.model->named_parameters(), 0.01);
  Generator generator;
  const Shape shape = batch_shape(batch, task.input);
  const bool numbers = model_info(name).input_dtype == DType::i64;  // a label for each, else one for all
  source.examples = numbers ? Tensor::zeros(shape, DType::i64, device)
                            : to(rand(shape, DType::f32, kCpu, generator), device);
  source.labels = Tensor::zeros(numbers ? shape : Shape{batch}, DType::i64, device);
  return source;
}

ModelPrograms make_programs(ProgramSource& source) {
  ModelPrograms programs;
  {
    NoGrad no_grad;
    source.model->eval();
    auto predict = compile([&](Tensor examples) { return (*source.model)(examples); });
    predict(source.examples);
    programs.inference = predict.programs()[0];
  }
  source.model->train();
  auto step = compile(TrainingStep{*source.model, *source.optimizer});
  step(source.examples, source.labels);
  programs.training = step.programs()[0];
  return programs;
}

}  // namespace treadle::cli
