/// CharGpt: what it sees, what its options make of it, and what it refuses.
#include "treadle/models/char_gpt.h"

#include <gtest/gtest.h>

#include "tests/refused.h"
#include "treadle/core/error.h"
#include "treadle/graph/autograd.h"
#include "treadle/ops/layout/views.h"

namespace treadle {
namespace {

Tensor numbers(std::vector<int64_t> values, Shape shape) { return Tensor::from(values, shape); }

std::shared_ptr<Module> small_gpt(std::map<std::string, std::string> more = {}) {
  more.insert({{"layers", "2"}, {"heads", "2"}, {"features", "8"}});
  return make_model("char_gpt", ModelTask{{6}, 5, more}, 3);
}

TEST(CharGpt, LogitsOfEveryPlace) {
  const auto model = make_model("char_gpt");
  EXPECT_EQ((*model)(Tensor::zeros({2, 64}, DType::i64)).shape(), (Shape{2, 64, 65}));
  EXPECT_EQ((*small_gpt())(Tensor::zeros({3, 4}, DType::i64)).shape(), (Shape{3, 4, 5}));
}

/// A later character changes no bit before it, and each earlier one does change what is behind.
TEST(CharGpt, NoPlaceSeesWhatFollows) {
  NoGrad no_grad;
  const auto model = small_gpt();
  const std::vector<int64_t> text = {1, 4, 0, 2, 3, 1};
  const auto logits = [&](const std::vector<int64_t>& x) {
    return (*model)(numbers(x, {1, 6})).to_doubles();
  };
  const auto before = logits(text);
  for (size_t changed = 0; changed < text.size(); ++changed) {
    auto other = text;
    other[changed] = (other[changed] + 1) % 5;
    const auto after = logits(other);
    for (size_t place = 0; place < text.size(); ++place) {
      bool same = true;
      for (size_t k = 0; k < 5; ++k) same &= before[place * 5 + k] == after[place * 5 + k];
      EXPECT_EQ(same, place < changed) << "place " << place << ", changed " << changed;
    }
  }
}

TEST(CharGpt, OptionsMakeOthers) {
  const auto count = [](std::map<std::string, std::string> options) {
    return make_model("char_gpt", ModelTask{{6}, 5, options})->parameter_count();
  };
  // A layer of C features: 4C² of attention, 8C² of the linear layers, and 13C of biases and norms.
  const auto expected = [](int64_t layers, int64_t c) {
    return layers * (12 * c * c + 13 * c) + (6 + 5) * c + 2 * c + 5 * c + 5;
  };
  EXPECT_EQ(count({}), expected(4, 128));
  EXPECT_EQ(count({{"layers", "1"}, {"features", "24"}, {"heads", "3"}}), expected(1, 24));
}

TEST(CharGpt, DropoutIsForTraining) {
  NoGrad no_grad;
  const auto model = small_gpt({{"dropout", "0.5"}});
  const Tensor x = numbers({1, 2, 3}, {1, 3});
  EXPECT_NE((*model)(x).to_doubles(), (*model)(x).to_doubles());
  model->eval();
  EXPECT_EQ((*model)(x).to_doubles(), (*model)(x).to_doubles());
  EXPECT_EQ((*model)(x).to_doubles(), (*small_gpt())(x).to_doubles());
}

TEST(CharGpt, RefusesWhatDoesNotFit) {
  const auto make = [](Shape input, std::map<std::string, std::string> options) {
    return [=] { make_model("char_gpt", ModelTask{input, 5, options}); };
  };
  const auto model = small_gpt();
  expect_refused({
      refused<ShapeError>("an image", {"[1, 28, 28]", "[T]"}, make({1, 28, 28}, {})),
      refused<ShapeError>("a long block", {"[4097]", "1 to 4096"}, make({4097}, {})),
      refused<ValueError>("unknown option", {"'width'", "layers heads features dropout"},
                          make({6}, {{"width", "3"}})),
      refused<ValueError>("no number", {"layers", "'two'"}, make({6}, {{"layers", "two"}})),
      refused<ValueError>("half a layer", {"'1.5' is not a whole number"}, make({6}, {{"layers", "1.5"}})),
      refused<ValueError>("no layers", {"layers=0", "1 to 32"}, make({6}, {{"layers", "0"}})),
      refused<ValueError>("heads", {"features=128", "heads=5"}, make({6}, {{"heads", "5"}})),
      refused<ValueError>("dropout", {"dropout=1"}, make({6}, {{"dropout", "1"}})),
      refused<ValueError>("of another model", {"lenet5 has no options", "'layers'"},
                          [] {
                            make_model("lenet5", ModelTask{{1, 28, 28}, 10, {{"layers", "1"}}});
                          }),
      refused<ShapeError>("longer than a block", {"[1, 7]", "at most 6"},
                          [&] {
                            (*model)(Tensor::zeros({1, 7}, DType::i64));
                          }),
  });
}

}  // namespace
}  // namespace treadle
