/// Operands of mixed dtypes and the gradients of pow, against what PyTorch gives: see make_promotion.py.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/folders.h"
#include "treadle/compile/compile.h"
#include "treadle/core/error.h"
#include "treadle/ops/layout/cast.h"
#include "treadle/ops/layout/copy.h"
#include "treadle/ops/pointwise/functions/pow.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/reduce/reduce.h"

namespace treadle {
namespace {

using nlohmann::json;

const json& promotion() {
  static const json contents = json::parse(std::ifstream(TREADLE_SOURCE_DIR "/tests/goldens/promotion.json"));
  return contents;
}

double number_of(const json& value) {
  if (value.is_string()) return std::stod(value.get<std::string>());
  return value.is_boolean() ? double(value.get<bool>()) : value.get<double>();
}

/// A tensor or a number, as the script names it.
struct Named {
  Tensor tensor;
  Scalar number = 0;
  Operand operand() const { return tensor.defined() ? Operand(tensor) : Operand(number); }
};

DType dtype_in(const std::string& name) { return dtype_named(name.substr(0, name.find(' '))); }

Tensor tensor_operand(const std::string& name, bool right, Device device) {
  const DType dtype = dtype_in(name);
  if (name.ends_with("rank0")) return to(cast(Tensor::from({right ? 2.f : 3.f}, {}), dtype), device);
  const std::vector<float> fractions = right ? std::vector<float>{2, 0.5, 2} : std::vector<float>{1.5, 0, 3};
  const std::vector<float> whole = right ? std::vector<float>{2, 1, 2} : std::vector<float>{1, 0, 3};
  return to(cast(Tensor::from(is_floating(dtype) ? fractions : whole, {3}), dtype), device);
}

Named operand(const std::string& name, bool right, Device device = kCpu) {
  if (name == "number bool") return {{}, true};
  if (name == "number int") return {{}, right ? 2 : 3};
  if (name == "number float") return {{}, right ? 0.5 : 1.5};
  return {tensor_operand(name, right, device)};
}

std::vector<std::string> operand_names() { return promotion()["operands"].get<std::vector<std::string>>(); }

TypedOperand typed(const Named& x) {
  if (!x.tensor.defined()) return {x.number.dtype(), OperandKind::number};
  return {x.tensor.dtype(), x.tensor.rank() == 0 ? OperandKind::rank0 : OperandKind::tensor};
}

TEST(Promotion, ResultTypesOfAllPairsAreThoseOfPyTorch) {
  const auto names = operand_names();
  ASSERT_EQ(names.size(), size_t(2 * kDTypeCount + 3));
  for (size_t i = 0; i < names.size(); ++i)
    for (size_t j = 0; j < names.size(); ++j) {
      const DType found = result_type({typed(operand(names[i], false)), typed(operand(names[j], true))});
      EXPECT_EQ(name_of(found), promotion()["result_types"][i][j].get<std::string>())
          << names[i] << ", " << names[j];
    }
}

TEST(Promotion, OfOneKindIsPromote) {
  for (DType a : kAllDTypes)
    for (DType b : kAllDTypes) EXPECT_EQ(result_type({{a}, {b}}), promote(a, b));
}

Tensor where_first(const Operand& a, const Operand& b, Device device) {
  return where(to(cast(Tensor::from({1, 0, 1}, {3}), DType::boolean), device), a, b);
}

using Binary = Tensor (*)(const Operand&, const Operand&);

const std::map<std::string, Binary>& binary_ops() {
  static const std::map<std::string, Binary> ops = {{"add", add},
                                                    {"sub", sub},
                                                    {"mul", mul},
                                                    {"div", div},
                                                    {"pow", pow},
                                                    {"maximum", maximum},
                                                    {"minimum", minimum},
                                                    {"equal", equal},
                                                    {"not_equal", not_equal},
                                                    {"less", less},
                                                    {"less_equal", less_equal},
                                                    {"greater", greater},
                                                    {"greater_equal", greater_equal}};
  return ops;
}

/// 2^-(explicit bits), the distance of neighbours at 1.
double epsilon(DType dtype) {
  return dtype == DType::f64    ? 0x1p-52
         : dtype == DType::f32  ? 0x1p-23
         : dtype == DType::f16  ? 0x1p-10
         : dtype == DType::bf16 ? 0x1p-7
                                : 0;
}

/// All values are exact but powers, which pow's error bound allows to be off.
void expect_values(const Tensor& found, const json& wanted, size_t first, const std::string& what) {
  const auto values = found.to_doubles();
  ASSERT_EQ(values.size(), wanted.size() - first) << what;
  for (size_t k = 0; k < values.size(); ++k) {
    const double number = number_of(wanted[k + first]);
    const double allowed =
        what.starts_with("pow") ? functions::Pow::kTerms * epsilon(found.dtype()) * std::abs(number) : 0;
    if (std::isnan(number) || std::isinf(number))
      EXPECT_TRUE(std::isnan(number) ? std::isnan(values[k]) : values[k] == number)
          << what << " element " << k << ": " << values[k] << ", PyTorch " << number;
    else
      EXPECT_NEAR(values[k], number, allowed) << what << " element " << k;
  }
}

/// "i64 7": the dtype, and the place of the values.
void expect_cell(const Tensor& found, const std::string& cell, const std::string& what) {
  std::istringstream stream(cell);
  std::string dtype;
  size_t place = 0;
  stream >> dtype >> place;
  EXPECT_EQ(name_of(found.dtype()), dtype) << what;
  expect_values(found, promotion()["values"][place], 0, what);
}

struct Pair {
  std::string op, a, b, cell;
  std::string what(Device device) const { return op + "(" + a + ", " + b + ") on " + to_string(device); }
};

std::vector<Pair> pairs_of(const std::string& op) {
  const auto names = operand_names();
  std::vector<Pair> pairs;
  for (size_t i = 0; i < names.size(); ++i)
    for (size_t j = 0; j < names.size(); ++j) {
      std::string cell = promotion()["binary"][op][i][j];
      if (!cell.empty()) pairs.push_back({op, names[i], names[j], cell});
    }
  return pairs;
}

Tensor call(const std::string& op, const Operand& a, const Operand& b, Device device) {
  return op == "where" ? where_first(a, b, device) : binary_ops().at(op)(a, b);
}

/// Bools subtracted or raised, which PyTorch refuses too, but for the power of a number. A difference with
/// one bool it refuses, and it is taken here.
bool is_refused(const Pair& pair) {
  const DType dtype = result_type({typed(operand(pair.a, false)), typed(operand(pair.b, true))});
  return dtype == DType::boolean && (pair.op == "sub" || pair.op == "pow");
}

void expect_refused(const Pair& pair) {
  const Named a = operand(pair.a, false), b = operand(pair.b, true);
  EXPECT_THROW(call(pair.op, a.operand(), b.operand(), kCpu), DTypeError) << pair.what(kCpu);
}

class BinaryOps : public testing::TestWithParam<std::string> {};

TEST_P(BinaryOps, GiveThePyTorchDtypeAndValues) {
  for (const Pair& pair : pairs_of(GetParam()))
    for (Device device : {kCpu, kSimt}) {
      if (is_refused(pair)) expect_refused(pair);
      if (is_refused(pair) || pair.cell == "error") continue;
      const Named a = operand(pair.a, false, device), b = operand(pair.b, true, device);
      expect_cell(call(pair.op, a.operand(), b.operand(), device), pair.cell, pair.what(device));
    }
}

/// Recorded, recorded again, and replayed.
TEST_P(BinaryOps, GiveTheSameCompiled) {
  for (const Pair& pair : pairs_of(GetParam())) {
    if (pair.cell == "error" || is_refused(pair) || pair.a.find("number") == 0 ||
        pair.a.find("rank0") != std::string::npos)
      continue;
    const Named a = operand(pair.a, false), b = operand(pair.b, true);
    auto f = compile([&](Tensor x) { return call(pair.op, x, b.operand(), kCpu); }, {.measure = false});
    if (pair.op == "where") continue;  // its condition would be made inside
    for (int i = 0; i < 3; ++i) expect_cell(f(a.tensor), pair.cell, pair.what(kCpu));
  }
}

INSTANTIATE_TEST_SUITE_P(All, BinaryOps,
                         testing::Values("add", "sub", "mul", "div", "pow", "maximum", "minimum", "equal",
                                         "not_equal", "less", "less_equal", "greater", "greater_equal",
                                         "where"),
                         [](const auto& info) { return info.param; });

Scalar bound(const json& value, bool floating) {
  if (value.is_boolean()) return value.get<bool>();
  if (floating || value.is_string()) return number_of(value);
  return value.get<int64_t>();
}

TEST(Promotion, ClampTakesBoundsAsPyTorch) {
  for (const json& entry : promotion()["clamp"])
    for (Device device : {kCpu, kSimt}) {
      const std::string name = entry[0], what = "clamp " + entry.dump() + " on " + to_string(device);
      const Tensor y =
          clamp(tensor_operand(name, false, device), bound(entry[1], entry[3]), bound(entry[2], entry[4]));
      EXPECT_EQ(name_of(y.dtype()), entry[5][0].get<std::string>()) << what;
      expect_values(y, entry[5], 1, what);
    }
}

/// Arithmetic wraps as in PyTorch. Comparisons, where PyTorch wraps the number too (200 < 300 is false in
/// u8), are right here.
TEST(Promotion, NumbersBeyondTheDtypeWrapAndAreComparedAsTheyAre) {
  for (const json& entry : promotion()["wide_numbers"])
    for (Device device : {kCpu, kSimt}) {
      const std::vector<float> values{0, 1, 100};
      const Tensor x = to(cast(Tensor::from(values, {3}), dtype_named(entry[0].get<std::string>())), device);
      const std::string op = entry[2];
      const double number = number_of(entry[1]);
      const Tensor y = call(op, x, entry[1].get<int64_t>(), device);
      EXPECT_EQ(name_of(y.dtype()), entry[3][0].get<std::string>()) << entry.dump();
      if (y.dtype() != DType::boolean) {
        expect_values(y, entry[3], 1, entry.dump());
        continue;
      }
      const bool below = op.starts_with("less") ? number > 0 : number < 0;
      EXPECT_EQ(y.to_bools(), std::vector<bool>(3, op == "not_equal" || (op != "equal" && below)))
          << entry.dump();
    }
}

bool alike(double found, double wanted) {
  if (std::isnan(wanted)) return std::isnan(found);
  if (std::isinf(wanted)) return found == wanted;
  return std::abs(found - wanted) <=
         2 * functions::Pow::kTerms * 0x1p-52 * std::abs(wanted);  // a power and two products
}

void expect_pow(const json& entry, Device device, bool compiled) {
  Tensor a = to(Tensor::from(std::vector<double>{number_of(entry[0])}, {1}), device).set_requires_grad();
  Tensor b = to(Tensor::from(std::vector<double>{number_of(entry[1])}, {1}), device).set_requires_grad();
  auto step = [&] {
    a.set_grad({}), b.set_grad({});
    Tensor y = pow(a, b);
    y.backward();
    return y.detach();
  };
  auto replayed = compile(step, {.measure = false});
  Tensor y;
  for (int i = 0; i < (compiled ? 3 : 1); ++i) y = compiled ? replayed() : step();
  const double found[] = {y.item(), a.grad().item(), b.grad().item()};
  for (int k = 0; k < 3; ++k)
    EXPECT_TRUE(alike(found[k], number_of(entry[k + 2])))
        << entry.dump() << " number " << k << ": " << found[k] << (compiled ? " compiled on " : " on ")
        << to_string(device);
}

TEST(Pow, GradientsInTheCornersAreThoseOfPyTorch) {
  for (const json& entry : promotion()["pow_gradients"])
    for (Device device : {kCpu, kSimt}) expect_pow(entry, device, false);
}

TEST(Pow, CompiledGradientsInTheCornersToo) {
  for (const json& entry : promotion()["pow_gradients"]) expect_pow(entry, kCpu, true);
}

/// Σ a·b: the gradient of either is the other, in the dtype of the operand.
TEST(Promotion, GradientsComeBackInTheOperandsDtype) {
  const DType floats[] = {DType::f32, DType::f64, DType::f16, DType::bf16};
  for (DType from : floats)
    for (DType other : kAllDTypes)
      for (Device device : {kCpu, kSimt}) {
        Tensor a = tensor_operand(std::string(name_of(from)), false, device).detach().set_requires_grad();
        Tensor b = tensor_operand(std::string(name_of(other)), true, device);
        sum(a * b).backward();
        ASSERT_EQ(a.grad().dtype(), from) << name_of(other);
        EXPECT_EQ(a.grad().to_doubles(), b.to_doubles()) << name_of(from) << " · " << name_of(other);
      }
}

TEST(Promotion, FractionsOfIntegersAreKept) {
  Tensor x = Tensor::from(std::vector<int64_t>{1, 2, 3}, {3});
  EXPECT_EQ((x * 0.5).to_vector<float>(), (std::vector<float>{0.5, 1, 1.5}));
  EXPECT_EQ((x / 0.5).to_vector<float>(), (std::vector<float>{2, 4, 6}));
  EXPECT_EQ((x / x).to_vector<float>(), (std::vector<float>{1, 1, 1}));
  EXPECT_EQ((1 - x).to_vector<int64_t>(), (std::vector<int64_t>{0, -1, -2}));
  EXPECT_EQ(sum(greater(x, 1.5)).to_vector<int64_t>(), (std::vector<int64_t>{2}));
}

}  // namespace
}  // namespace treadle
