#include "treadle/compile/instance.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "treadle/compile/arena.h"
#include "treadle/compile/variant_choice.h"
#include "treadle/core/error.h"
#include "treadle/core/log.h"
#include "treadle/core/runtime.h"
#include "treadle/graph/compute_scope.h"
#include "treadle/graph/select.h"

namespace treadle {
namespace {

using Kind = ProgramBuffer::Kind;
constexpr size_t kNumbersPerBuffer = 8;  ///< so that each lies on a cache line of its own

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

void* ReplayWorkspace::take(size_t bytes) {
  const size_t begin = taken_;
  taken_ += arena_aligned(std::max<size_t>(bytes, 1));
  if (taken_ <= bytes_) return memory_ + begin;
  overflow_.push_back(make_intrusive<Storage>(device_, bytes));
  return overflow_.back()->data();
}

KeptMemory ReplayWorkspace::keep(size_t bytes, std::initializer_list<int> inputs) {
  KeptBlock* block = std::exchange(kept_, nullptr);  // one for a call
  auto memory = block ? block->open(bytes, inputs) : std::nullopt;
  return memory ? *memory : KeptMemory{take(bytes), false};
}

void ReplayWorkspace::use(void* memory, size_t bytes, KeptBlock* kept) {
  memory_ = static_cast<char*>(memory);
  bytes_ = bytes;
  taken_ = 0;
  kept_ = kept;
  overflow_.clear();
}

ProgramInstance::ProgramInstance(std::shared_ptr<Program> program, bool graph)
    : program_(std::move(program)), workspace_(program_->device), lock_(*program_), graph_wanted_(graph) {
  arena_ = make_intrusive<Storage>(program_->device, program_->statistics.arena_bytes);
  if (!program_->numbers.empty()) {
    auto count = int64_t(program_->numbers.size() * kNumbersPerBuffer);
    numbers_ = Tensor::zeros({count}, DType::f64, program_->device);
    host_numbers_.resize(size_t(count));
  }
  scratch_bytes_.resize(program_->steps.size());
  scratch_offsets_ = planned_bytes_ = scratch_bytes_;
  for (size_t i = 0; i < program_->steps.size(); ++i) kept_.emplace_back(*program_, i);
  output_storages_.resize(size_t(program_->output_buffers));
  output_bytes_.resize(output_storages_.size());
  for (const ProgramBuffer& buffer : program_->buffers)
    if (buffer.kind == Kind::output) output_bytes_[size_t(buffer.number)] = buffer.bytes;
  results_.resize(program_->outputs.size());
  gradients_.resize(program_->gradients.size());
  spares_.resize(gradients_.size());
  find_mutations();
  make_views();
}

void ProgramInstance::find_mutations() {
  first_mutation_ = program_->steps.size();
  for (size_t i = program_->steps.size(); i-- > 0;) {
    for (int value : mutated_values(program_->steps[i])) {
      const auto& storage = program_->buffer_of(value).storage;
      if (!storage) continue;
      first_mutation_ = i;
      if (std::find(mutated_.begin(), mutated_.end(), storage) == mutated_.end()) mutated_.push_back(storage);
    }
  }
}

void* ProgramInstance::address_of(const ProgramBuffer& buffer) const {
  switch (buffer.kind) {
    case Kind::captured:
      return buffer.storage->data();
    case Kind::arena:
      return static_cast<char*>(arena_->data()) + buffer.offset;
    case Kind::numbers:
      return numbers_.data<double>() + size_t(buffer.number) * kNumbersPerBuffer;
    default:
      return nullptr;  // known when it is called
  }
}

/// Gives each step's scratch a place; the arena grows where there is none. Nothing in the arena outlives a
/// replay, so it may move between two.
void ProgramInstance::plan_scratch() {
  scratch_grew_ = false;
  workspace_.use(nullptr, 0, nullptr);  // lets go of what the allocator gave
  size_t needed = arena_->bytes();
  const auto placed = placed_buffers(program_->buffers);
  for (size_t i = 0; i < scratch_bytes_.size(); ++i) {
    scratch_offsets_[i] = lowest_place(placed, int(i), int(i), scratch_bytes_[i]);
    if (scratch_bytes_[i] > 0) needed = std::max(needed, scratch_offsets_[i] + scratch_bytes_[i]);
  }
  planned_bytes_ = scratch_bytes_;
  if (needed == arena_->bytes()) return;
  arena_ = {};  // the old one goes first
  arena_ = make_intrusive<Storage>(program_->device, needed);
  for (const Patch& patch : arena_patches_) apply(patch, arena_->data());
}

/// A captured graph makes anew what a step keeps: it cannot leave it out when it is there.
void ProgramInstance::begin_step(size_t step) {
  workspace_.use(static_cast<char*>(arena_->data()) + scratch_offsets_[step], planned_bytes_[step],
                 graph_wanted_ ? nullptr : &kept_[step]);
}

void ProgramInstance::end_step(size_t step) {
  kept_[step].close();
  if (workspace_.taken() <= scratch_bytes_[step]) return;
  scratch_bytes_[step] = workspace_.taken();
  scratch_grew_ = true;
}

void ProgramInstance::make_views() {
  size_t count = 0;
  for (const ProgramStep& step : program_->steps) count += step.inputs.size() + step.outputs.size();
  views_.reserve(count);  // calls point into it
  void* stream = program_->device.kind == DeviceKind::cpu ? nullptr : runtime(program_->device).stream();
  for (const ProgramStep& step : program_->steps) {
    size_t begin = views_.size();
    for (int value : step.inputs) add_view(value);
    for (int value : step.outputs) add_view(value);
    std::span<const TensorView> all(views_);
    calls_.push_back(Call{all.subspan(begin, step.inputs.size()),
                          all.subspan(begin + step.inputs.size(), step.outputs.size()), step.attributes,
                          stream, &workspace_});
  }
}

void ProgramInstance::add_view(int value) {
  TensorView view;
  if (value != kNoValue) {
    const ProgramValue& place = program_->values[size_t(value)];
    const ProgramBuffer& buffer = program_->buffer_of(value);
    size_t offset = size_t(place.offset) * size_of(place.spec.dtype);
    if (buffer.kind == Kind::input) input_patches_.push_back({buffer.number, views_.size(), offset});
    if (buffer.kind == Kind::output) output_patches_.push_back({buffer.number, views_.size(), offset});
    if (buffer.kind == Kind::arena) arena_patches_.push_back({0, views_.size(), buffer.offset + offset});
    if (auto found = std::find(mutated_.begin(), mutated_.end(), buffer.storage); found != mutated_.end())
      mutated_patches_.push_back({int(found - mutated_.begin()), views_.size(), offset});
    void* address = address_of(buffer);
    view = {address ? static_cast<char*>(address) + offset : nullptr, place.spec.dtype, place.spec.shape,
            place.spec.strides};
  }
  views_.push_back(view);
}

/// An argument, or behind the arguments the gradient that a leaf has.
const Tensor& ProgramInstance::input(std::span<const Tensor> arguments, int number) const {
  if (number < program_->arguments) return arguments[size_t(number)];
  return leaf_gradient(program_->gradient_inputs[size_t(number - program_->arguments)]);
}

void ProgramInstance::bind(std::span<const Tensor> arguments) {
  bind_results();
  for (const Patch& patch : input_patches_) apply(patch, input(arguments, patch.buffer_number).raw());
  for (const Patch& patch : output_patches_)
    apply(patch, output_storages_[size_t(patch.buffer_number)]->data());
}

void ProgramInstance::apply(const Patch& patch, void* memory) {
  views_[patch.view].data = static_cast<char*>(memory) + patch.byte_offset;
}

/// The number of the output buffer that a value lies in; -1 where it lies elsewhere.
int ProgramInstance::output_of(int value) const {
  if (value == kNoValue) return -1;
  const ProgramBuffer& buffer = program_->buffer_of(value);
  return buffer.kind == Kind::output ? buffer.number : -1;
}

/// Whether `tensor`, a result of the last replay, is held by `holders` handles that we know, and as it was.
bool ProgramInstance::is_ours(const Tensor& tensor, int value, const Storage* storage, int holders) const {
  if (!tensor.defined() || tensor.handle()->use_count() != holders || tensor.handle()->autograd) return false;
  const ProgramValue& place = program_->values[size_t(value)];
  return tensor.handle()->storage.get() == storage && tensor.handle()->offset == place.offset &&
         tensor.shape() == place.spec.shape && tensor.strides() == place.spec.strides &&
         tensor.dtype() == place.spec.dtype;
}

/// A gradient that is read before it is replaced is not overwritten: what was given before it is.
void ProgramInstance::take_spares() {
  for (size_t i = 0; i < gradients_.size(); ++i) {
    const ExportedGradient& gradient = program_->gradients[i];
    const int output = output_of(gradient.value);
    if (!gradient.reads_before || output < 0) continue;
    if (leaf_gradient(gradient.leaf).handle() == gradients_[i].handle()) {
      std::swap(gradients_[i], spares_[i].tensor);
      std::swap(output_storages_[size_t(output)], spares_[i].storage);
    }
  }
}

/// Results that nobody else holds are written again; others get new memory. A leaf whose gradient is replaced
/// holds the last one until then.
void ProgramInstance::bind_results() {
  take_spares();
  result_owners_.assign(output_storages_.size(), 1);
  result_is_ours_.assign(results_.size() + gradients_.size(), 0);
  auto each = [&](auto&& visit) {
    for (size_t i = 0; i < results_.size(); ++i) visit(i, results_[i], program_->outputs[i].value, 1);
    for (size_t i = 0; i < gradients_.size(); ++i) {
      const ExportedGradient& gradient = program_->gradients[i];
      bool leaf_holds =
          !gradient.reads_before && leaf_gradient(gradient.leaf).handle() == gradients_[i].handle();
      visit(results_.size() + i, gradients_[i], gradient.value, leaf_holds ? 2 : 1);
    }
  };
  each([&](size_t i, Tensor& tensor, int value, int holders) {
    const int output = output_of(value);
    if (output >= 0 && is_ours(tensor, value, output_storages_[size_t(output)].get(), holders))
      result_is_ours_[i] = 1, ++result_owners_[size_t(output)];
  });
  for (size_t i = 0; i < output_storages_.size(); ++i) {
    bool ours = output_storages_[i] && output_storages_[i]->use_count() == result_owners_[i];
    if (!ours) output_storages_[i] = make_intrusive<Storage>(program_->device, output_bytes_[i]);
    result_owners_[i] = ours;
  }
  each([&](size_t i, Tensor& tensor, int value, int) {
    int output = output_of(value);
    if (output >= 0 && !(result_is_ours_[i] && result_owners_[size_t(output)]))
      tensor = tensor_in(output_storages_[size_t(output)], value);
  });
}

Tensor ProgramInstance::tensor_in(const IntrusivePtr<Storage>& storage, int value) const {
  const ProgramValue& place = program_->values[size_t(value)];
  auto data = make_intrusive<TensorData>();
  data->storage = storage;
  data->offset = place.offset;
  data->shape = place.spec.shape;
  data->strides = place.spec.strides;
  data->dtype = place.spec.dtype;
  return Tensor(std::move(data));
}

void ProgramInstance::run_host_work() {
  size_t done = 0;
  try {
    for (const HostWork& work : program_->host_work) {
      if (work.work) work.work();
      ++done;
      write_numbers(work);
    }
    send_numbers();
  } catch (...) {
    undo_host_work(done);
    throw;
  }
}

void ProgramInstance::write_numbers(const HostWork& work) {
  if (work.number < 0) return;
  double* numbers = host_numbers_.data() + size_t(work.number) * kNumbersPerBuffer;
  program_->numbers[size_t(work.number)].write(numbers);
}

void ProgramInstance::send_numbers() {
  if (numbers_.defined())
    runtime(program_->device)
        .copy_from_host(numbers_.raw(), host_numbers_.data(), host_numbers_.size() * sizeof(double));
}

void ProgramInstance::undo_host_work(size_t count) {
  for (size_t i = count; i-- > 0;)
    if (program_->host_work[i].undo) program_->host_work[i].undo();
}

void ProgramInstance::run_step(size_t step) {
  begin_step(step);
  program_->steps[step].variant->run(calls_[step]);
  end_step(step);
}

/// Versions rise while nobody else reads.
void ProgramInstance::run_steps() {
  use_current_stream();
  CapturedLock::Hold hold(lock_);
  size_t step = 0;
  try {
    for (; step < calls_.size(); ++step) {
      if (step == first_mutation_) hold.write();
      const double start = on_step ? now() : 0;
      run_step(step);
      if (!on_step) continue;
      runtime(program_->device).synchronize();
      on_step(step, now() - start);
    }
  } catch (...) {
    if (step <= first_mutation_) undo_host_work(program_->host_work.size());
    if (step >= first_mutation_) raise_versions();  // it may have written some elements
    throw;
  }
  raise_versions();
}

void ProgramInstance::bind_fixed(std::span<const Tensor> arguments) {
  Runtime& device = runtime(program_->device);
  fixed_inputs_.resize(size_t(inputs()));
  for (size_t i = 0; i < fixed_inputs_.size(); ++i) {
    const Tensor& tensor = input(arguments, int(i));
    size_t bytes = size_t(reach(tensor.shape(), tensor.strides())) * size_of(tensor.dtype());
    if (!fixed_inputs_[i]) fixed_inputs_[i] = make_intrusive<Storage>(program_->device, bytes);
    if (bytes > 0) device.copy_within(fixed_inputs_[i]->data(), tensor.raw(), bytes);
  }
  fixed_outputs_.resize(output_storages_.size());
  for (size_t i = 0; i < fixed_outputs_.size(); ++i)
    if (!fixed_outputs_[i]) fixed_outputs_[i] = make_intrusive<Storage>(program_->device, output_bytes_[i]);
  bind_results();
  for (const Patch& patch : input_patches_) apply(patch, fixed_inputs_[size_t(patch.buffer_number)]->data());
  for (const Patch& patch : output_patches_)
    apply(patch, fixed_outputs_[size_t(patch.buffer_number)]->data());
}

void ProgramInstance::copy_results() {
  for (size_t i = 0; i < fixed_outputs_.size(); ++i)
    runtime(program_->device)
        .copy_within(output_storages_[i]->data(), fixed_outputs_[i]->data(), fixed_outputs_[i]->bytes());
}

/// Calls go to the device's stream as it is for this thread now: the capture's while one is under way. The
/// device becomes the thread's current one.
void ProgramInstance::use_current_stream() {
  if (program_->device.kind == DeviceKind::cpu) return;
  void* stream = runtime(program_->device).stream();
  for (Call& call : calls_) call.stream = stream;
}

/// Null where the work cannot be captured, which is said once; the loop does it then. Scratch that a step
/// took beyond its plan would be given back under the graph, so such a capture counts for nothing.
std::unique_ptr<CapturedGraph> ProgramInstance::capture_steps() {
  std::unique_ptr<CapturedGraph> graph;
  try {
    graph = runtime(program_->device).capture([this] {
      use_current_stream();
      for (size_t step = 0; step < calls_.size(); ++step) run_step(step);
    });
  } catch (const std::exception& error) {
    log_once(LogLevel::warning,
             fmt::format("a program cannot be captured as a graph and runs step by step: {}", error.what()));
    capturable_ = false;
  }
  if (scratch_grew_) graph.reset();
  return graph;
}

void ProgramInstance::launch_graph() {
  CapturedLock::Hold hold(lock_);
  if (!mutated_.empty()) hold.write();
  raise_versions();
  try {
    graph_->launch();
  } catch (...) {
    undo_host_work(program_->host_work.size());  // nothing of it has been done
    throw;
  }
}

/// A graph is captured in the second replay: the first one has made libraries and scratch ready.
void ProgramInstance::replay() {
  if (!graph_ && graph_wanted_ && capturable_ && warm_ && !on_step) graph_ = capture_steps();
  if (graph_ && !on_step)
    launch_graph();
  else
    run_steps();
  warm_ = true;
}

void ProgramInstance::run(std::span<const Tensor> arguments, std::span<Tensor> results) {
  ComputeScope scope(program_->device.kind);
  if (scratch_grew_) {
    graph_.reset();  // it has the old addresses
    plan_scratch();
  }
  if (graph_wanted_)
    bind_fixed(arguments);
  else
    bind(arguments);
  run_host_work();
  replay();
  if (graph_wanted_) copy_results();
  give(arguments, results);
}

/// The argument itself, or a view of it.
Tensor view_of(const Tensor& argument, const ProgramValue& place) {
  bool whole =
      place.offset == 0 && place.spec.shape == argument.shape() && place.spec.strides == argument.strides();
  return whole ? argument : argument.alias(place.spec.shape, place.spec.strides, place.offset);
}

void ProgramInstance::raise_versions() {
  for (const auto& storage : mutated_) storage->bump_version();
}

/// A captured tensor is given by a handle of its own, which `made` keeps as long as nobody changes it.
Tensor ProgramInstance::given(const ProgramOutput& output, Tensor& made,
                              std::span<const Tensor> arguments) const {
  if (output.existing) {
    if (!is_ours(made, output.value, output.existing.get(), 1))
      made = tensor_in(output.existing, output.value);
    return made;
  }
  if (output.input < 0) return made;
  return view_of(input(arguments, output.input), program_->values[size_t(output.value)]);
}

void ProgramInstance::give(std::span<const Tensor> arguments, std::span<Tensor> results) {
  for (size_t i = 0; i < results.size(); ++i)
    results[i] = given(program_->outputs[i], results_[i], arguments);
  for (size_t i = 0; i < gradients_.size(); ++i) {
    const ExportedGradient& gradient = program_->gradients[i];
    Tensor tensor = given(gradient, gradients_[i], arguments);
    set_leaf_gradient(gradient.leaf, gradient.input < 0 ? tensor : tensor.detach());  // the leaf's own handle
  }
}

size_t ProgramInstance::memory_bytes() const {
  size_t kept = 0;
  for (const KeptBlock& block : kept_) kept += block.bytes();
  return arena_->bytes() + kept + program_->statistics.output_bytes;
}

/// Copies of the captured tensors that steps write into, in their place while one lives.
class ProgramInstance::Copies {
 public:
  explicit Copies(ProgramInstance& instance) : instance_(instance) {
    const Device device = instance.program_->device;
    CapturedLock::Hold hold(instance.lock_);
    for (const auto& storage : instance.mutated_) {
      copies_.push_back(make_intrusive<Storage>(device, storage->bytes()));
      runtime(device).copy_within(copies_.back()->data(), storage->data(), storage->bytes());
    }
    put(copies_);
  }
  ~Copies() { put(instance_.mutated_); }
  Copies(const Copies&) = delete;
  Copies& operator=(const Copies&) = delete;

 private:
  void put(const std::vector<IntrusivePtr<Storage>>& storages) {
    for (const Patch& patch : instance_.mutated_patches_)
      instance_.apply(patch, storages[size_t(patch.buffer_number)]->data());
  }

  ProgramInstance& instance_;
  std::vector<IntrusivePtr<Storage>> copies_;
};

bool ProgramInstance::choose_by_rule() {
  bool open = false;
  for (size_t i = 0; i < calls_.size(); ++i) {
    ProgramStep& step = program_->steps[i];
    step.variant = &select_variant(*step.op, calls_[i], program_->device.kind);
    open |= needs_choice(*step.op, calls_[i], program_->device);
  }
  return open;
}

/// Each variant is timed with what it keeps in place, as in replays after the first.
void ProgramInstance::time_variants(size_t i) {
  ProgramStep& step = program_->steps[i];
  const Variant* last = nullptr;
  step.measured = measured_times(*step.op, calls_[i], program_->device, [&](const Variant& variant) {
    if (std::exchange(last, &variant) != &variant) kept_[i].forget();
    begin_step(i);
    variant.run(calls_[i]);
    kept_[i].close();
  });
  kept_[i].forget();
  if (step.measured.empty()) return;  // given up: the variant chosen by rule stays
  const bool trains = !mutated_.empty() || !program_->gradients.empty();
  step.variant = &fastest_variant(*step.op, calls_[i], program_->device, step.measured, trains);
}

void ProgramInstance::choose_variants(std::span<const Tensor> arguments, bool measure) {
  bind(arguments);
  bool open = choose_by_rule();
  if (!open || !measure) return;
  ComputeScope scope(program_->device.kind);
  for (const HostWork& work : program_->host_work) write_numbers(work);
  send_numbers();
  Copies copies(*this);
  measure_steps();
}

/// Others may write what is captured between two steps.
void ProgramInstance::measure_steps() {
  for (size_t i = 0; i < calls_.size(); ++i) {
    CapturedLock::Hold hold(lock_);
    if (needs_choice(*program_->steps[i].op, calls_[i], program_->device)) time_variants(i);
    run_step(i);
  }
}

std::vector<std::vector<const Variant*>> ProgramInstance::applicable() const {
  std::vector<std::vector<const Variant*>> variants;
  for (size_t i = 0; i < calls_.size(); ++i)
    variants.push_back(applicable_variants(*program_->steps[i].op, calls_[i], program_->device.kind));
  return variants;
}

/// Nobody reads by these addresses; they are bound anew before each replay.
std::vector<bool> ProgramInstance::inputs_with_alignment() {
  constexpr uintptr_t kAligned = 4096;
  auto place = [&](int number, uintptr_t address) {
    for (const Patch& patch : input_patches_)
      if (patch.buffer_number == number) apply(patch, reinterpret_cast<void*>(address));
  };
  for (int i = 0; i < inputs(); ++i) place(i, kAligned);
  const auto aligned = applicable();
  std::vector<bool> matters;
  for (int i = 0; i < inputs(); ++i) {
    place(i, kAligned + kVariantAlignment / 2);
    matters.push_back(applicable() != aligned);
    place(i, kAligned);
  }
  return matters;
}

}  // namespace treadle
