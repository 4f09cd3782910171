/// Module: a layer or network with named parameters, buffers and children, as in PyTorch.
#pragma once  // public

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "treadle/core/tensor.h"

namespace treadle {

class Recording;

struct NamedTensor {
  std::string name;
  Tensor tensor;
};

class TREADLE_API Module {
 public:
  Module() = default;
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  virtual ~Module() = default;

  /// Runs the module, telling the observer of this thread if there is one. Throws ValueError where it takes
  /// several tensors, or gives other than one.
  Tensor operator()(const Tensor& x);
  /// The same with several inputs, as in attention(query, key, value).
  template <class... Tensors>
  Tensor operator()(const Tensor& first, const Tensor& second, const Tensors&... more) {
    const Tensor inputs[] = {first, second, more...};
    return only_one(call(inputs));
  }
  /// The same with any number of inputs and outputs.
  std::vector<Tensor> call(std::span<const Tensor> inputs);

  /// Parameters of this module and its children, under PyTorch's names ("conv1.weight"), in order of
  /// registration; one that is registered several times, under its first name only.
  std::vector<NamedTensor> named_parameters() const;
  std::vector<Tensor> parameters() const;
  /// State that is saved but not trained; each once.
  std::vector<NamedTensor> named_buffers() const;
  /// Parameters, then buffers, under all their names.
  std::vector<NamedTensor> state_dict() const;
  /// Copies values of the same names and shapes. Of a tensor with several names one name is enough. Throws
  /// ShapeError naming both shapes, ValueError for names that are missing, too many or given twice, or that
  /// belong to one tensor and differ; then nothing was changed.
  void load_state_dict(const std::vector<NamedTensor>& values);
  int64_t parameter_count() const;

  /// Training mode (dropout, batch statistics) on or off, children included.
  void train(bool on = true);
  void eval() { train(false); }
  bool is_training() const;
  /// Moves parameters and buffers, and drops gradients.
  void to(Device device);
  /// Converts parameters and buffers that hold floating-point numbers, as cast() does, and drops gradients;
  /// integers stay. An optimizer with a state refuses to go on: it is made anew. Throws DTypeError for a
  /// dtype that is not floating.
  void to(DType dtype);
  /// Drops the gradients of all parameters.
  void zero_grad();

  /// Type and options, as in "Conv2d(1, 64, kernel 3×3)".
  virtual std::string describe() const = 0;
  /// Multiply-adds of one call, for summaries.
  virtual int64_t multiply_adds(std::span<const Shape> inputs, std::span<const Shape> outputs) const;
  const std::vector<std::pair<std::string, std::shared_ptr<Module>>>& children() const { return children_; }

  /// Keeps something with the module, for whoever made it, as long as it lives; what was kept before goes.
  void keep(std::shared_ptr<void> what) { kept_ = std::move(what); }
  const std::shared_ptr<void>& kept() const { return kept_; }

 protected:
  /// What the module computes: it defines this, or forward_all() where it takes or gives several tensors.
  virtual Tensor forward(const Tensor& x);
  virtual std::vector<Tensor> forward_all(std::span<const Tensor> inputs);
  /// Marks the tensor as requiring a gradient and returns it. Like what follows throws ValueError for an
  /// undefined tensor, and for a name that is taken, empty or has a dot in it; DTypeError for integers.
  Tensor register_parameter(std::string name, Tensor value);
  Tensor register_buffer(std::string name, Tensor value);
  /// Throws ValueError also for a module that has this one among its children.
  template <class M>
  std::shared_ptr<M> register_module(std::string name, std::shared_ptr<M> module) {
    check_child(name, module.get());
    children_.emplace_back(std::move(name), module);
    return module;
  }
  /// Puts another one in the place of what is registered under the name, and registers it where nothing is.
  /// Throws as the functions above.
  void replace_parameter(const std::string& name, const Tensor& value);
  void replace_buffer(const std::string& name, const Tensor& value);
  void replace_module(const std::string& name, std::shared_ptr<Module> module);
  /// Whether something was registered under the name, which is no part of the module any more.
  bool remove(const std::string& name);

 private:
  Tensor only_one(const std::vector<Tensor>& outputs) const;
  void note_mode(Recording& recording) const;
  void check_name(const std::string& name) const;
  void check_child(const std::string& name, const Module* module) const;
  bool contains(const Module* module) const;
  void collect(const std::string& prefix, bool parameters, std::vector<NamedTensor>& result) const;

  std::vector<NamedTensor> parameters_, buffers_;
  std::vector<std::pair<std::string, std::shared_ptr<Module>>> children_;
  bool training_ = true;
  std::shared_ptr<void> kept_;
  /// Compiled functions that called the module notice by it that the module is gone.
  std::shared_ptr<const Module> life_{this, [](const Module*) {}};
};

/// Called around every module's forward pass in this thread: before (no outputs) and after.
using ModuleObserver = std::function<void(const Module& module, std::span<const Tensor> inputs,
                                          std::span<const Tensor> outputs)>;

/// While one lives, `observer` sees all modules that this thread runs.
class TREADLE_API ObserveModules {
 public:
  explicit ObserveModules(ModuleObserver observer);
  ~ObserveModules();
  ObserveModules(const ObserveModules&) = delete;
  ObserveModules& operator=(const ObserveModules&) = delete;

 private:
  ModuleObserver observer_;
  const ModuleObserver* before_;
};

}  // namespace treadle
