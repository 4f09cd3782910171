// Cases that follow from declared ones: other layouts, and extents of 1 and 0.
#include <algorithm>
#include <functional>
#include <optional>
#include <set>

#include "tests/contract/contract.h"
#include "treadle/core/error.h"

namespace treadle::contract {
namespace {

/// What tells two cases apart for a variant: shapes and strides.
using Fingerprint = std::vector<int64_t>;

Fingerprint fingerprint_of(const TestCase& test_case, const Layouts& layouts) {
  Fingerprint key;
  for (size_t i = 0; i < test_case.inputs.size(); ++i) {
    const Shape& shape = test_case.inputs[i].shape;
    const Placement p = place(shape, layouts.inputs[i]);
    key.insert(key.end(), shape.begin(), shape.end());
    key.insert(key.end(), p.strides.begin(), p.strides.end());
    key.push_back(p.offset);
  }
  return key;
}

/// Whether the op takes operands of these shapes and strides.
bool is_taken(const Op& op, const TestCase& test_case, const Layouts& layouts, DType dtype) {
  std::vector<TensorSpec> specs;
  for (size_t i = 0; i < test_case.inputs.size(); ++i) {
    const TestInput& input = test_case.inputs[i];
    specs.push_back({input.shape, place(input.shape, layouts.inputs[i]).strides, dtype_of_input(input, dtype),
                     input.defined});
  }
  try {
    op.infer(specs, test_case.attributes);
    return true;
  } catch (const Error&) {
    return false;
  }
}

/// Whether the extent at an axis of an input is to change.
using Choice = std::function<bool(const TestInput& input, int axis)>;

/// The case with other extents, labelled; indices below an extent stay below it, or there are none.
std::optional<TestCase> with_extents(const TestCase& declared, const Choice& choice, int64_t extent,
                                     const std::string& label) {
  TestCase changed = declared;
  changed.label += label;
  std::set<int64_t> before;
  for (TestInput& input : changed.inputs)
    for (int axis = 0; axis < input.shape.rank(); ++axis) {
      if (input.shape[axis] <= 1 || !choice(input, axis)) continue;
      before.insert(input.shape[axis]);
      input.shape[axis] = extent;
    }
  for (TestInput& input : changed.inputs)
    if (input.fill.kind == TestFill::integers && before.count(int64_t(input.fill.high) + 1)) {
      if (extent == 0 && input.shape.numel() > 0) return {};
      input.fill.high = double(extent - 1);
    }
  return changed;
}

/// All extents of one value, the extent of one axis of all inputs, of one axis of one input, or all of them.
std::vector<TestCase> with_small_extents(const TestCase& declared, int64_t extent) {
  std::vector<TestCase> cases;
  auto add = [&](const std::string& what, const Choice& choice) {
    if (auto changed = with_extents(declared, choice, extent, fmt::format(", {} to {}", what, extent)))
      cases.push_back(*changed);
  };
  for (const TestInput& input : declared.inputs)
    for (int axis = 0; axis < input.shape.rank(); ++axis) {
      const int64_t value = input.shape[axis];
      add(fmt::format("extents of {}", value),
          [=](const TestInput& each, int a) { return each.shape[a] == value; });
      add(fmt::format("axis {}", axis), [=](const TestInput&, int a) { return a == axis; });
    }
  if (extent == 1) add("all extents", [](const TestInput&, int) { return true; });
  return cases;
}

bool is_mutated(const Op& op, const TestCase& test_case, size_t input) {
  const std::vector<int> mutated = mutated_inputs(op, int(test_case.inputs.size()));
  return std::find(mutated.begin(), mutated.end(), int(input)) != mutated.end();
}

/// Input i in layout `of(i)`; what is written in place has elements of its own.
template <class Of>
Layouts layouts_of(const Op& op, const TestCase& test_case, Layout upstream, Of of) {
  Layouts layouts{{}, upstream == Layout::expanded ? Layout::contiguous : upstream};
  for (size_t i = 0; i < test_case.inputs.size(); ++i) {
    const Layout layout = of(i);
    const bool shares = layout == Layout::expanded && is_mutated(op, test_case, i);
    layouts.inputs.push_back(shares ? Layout::contiguous : layout);
  }
  return layouts;
}

/// All inputs alike, twice each in another, and each alone expanded, as broadcasting leaves it.
std::vector<Layouts> layouts_among(const Op& op, const TestCase& test_case, std::span<const Layout> among) {
  std::vector<Layouts> list;
  for (Layout layout : among)
    list.push_back(layouts_of(op, test_case, layout, [&](size_t) { return layout; }));
  for (size_t first = 1; first < among.size(); first += among.size() / 2)
    list.push_back(layouts_of(op, test_case, among[first - 1],
                              [&](size_t i) { return among[(first + i) % among.size()]; }));
  if (std::find(among.begin(), among.end(), Layout::expanded) == among.end()) return list;
  for (size_t one = 0; one < test_case.inputs.size(); ++one)
    list.push_back(layouts_of(op, test_case, Layout::contiguous,
                              [&](size_t i) { return i == one ? Layout::expanded : Layout::contiguous; }));
  return list;
}

/// Few enough that thousands of cases take seconds; each operand counts as some elements, too.
bool is_small(const TestCase& test_case) {
  constexpr int64_t kMost = 2000, kOperand = 20;
  int64_t elements = 0;
  for (const TestInput& input : test_case.inputs) elements += input.shape.numel() + kOperand;
  return elements <= kMost;
}

/// Collects small cases of different shapes and strides that the op takes.
class Collection {
 public:
  Collection(const Op& op, const TestCase& declared, DType dtype) : op_(op), dtype_(dtype) {
    seen_.insert(fingerprint_of(declared, declared_layouts(declared)));
  }
  void add(const TestCase& test_case, std::span<const Layout> among) {
    if (!is_small(test_case)) return;
    for (Layouts& layouts : layouts_among(op_, test_case, among)) {
      if (!is_taken(op_, test_case, layouts, dtype_)) continue;
      if (!seen_.insert(fingerprint_of(test_case, layouts)).second) continue;
      cases_.push_back({test_case, layouts});
      std::string names;
      for (Layout layout : layouts.inputs) names += fmt::format(" {}", name_of(layout));
      cases_.back().test_case.label += fmt::format(" as{}", names);
    }
  }
  std::vector<DerivedCase> take() { return std::move(cases_); }

 private:
  const Op& op_;
  DType dtype_;
  std::set<Fingerprint> seen_;
  std::vector<DerivedCase> cases_;
};

}  // namespace

std::vector<DerivedCase> derived_cases(const Op& op, const TestCase& declared, DType dtype) {
  constexpr Layout kAmbiguous[] = {Layout::contiguous, Layout::channels_last, Layout::stray};
  Collection collection(op, declared, dtype);
  collection.add(declared, kAllLayouts);
  for (int64_t extent : {1, 0})
    for (const TestCase& test_case : with_small_extents(declared, extent))
      collection.add(test_case, kAmbiguous);
  return collection.take();
}

}  // namespace treadle::contract
