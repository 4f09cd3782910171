/// Models that follow the data refuse examples that they cannot take, and take those of other sizes.
#include "tests/random_tensor.h"
#include "tests/refused.h"
#include "treadle/core/error.h"
#include "treadle/graph/autograd.h"
#include "treadle/models/model.h"

namespace treadle {
namespace {

TEST(ModelTasks, AreRefusedByName) {
  expect_refused({
      refused<ShapeError>("too small", {"vgg_small", "[3, 7, 32]", "8×8"},
                          [] {
                            make_model("vgg_small", ModelTask{{3, 7, 32}, 10});
                          }),
      refused<ShapeError>("no image", {"vgg_small", "[2]"},
                          [] {
                            make_model("vgg_small", ModelTask{{2}, 10});
                          }),
      refused<ShapeError>("no image", {"resnet18_cifar", "[2]", "[C, H, W]"},
                          [] {
                            make_model("resnet18_cifar", ModelTask{{2}, 10});
                          }),
      refused<ShapeError>("parts of patches", {"vision_transformer", "[1, 28, 30]", "multiples of 4"},
                          [] {
                            make_model("vision_transformer", ModelTask{{1, 28, 30}, 10});
                          }),
      refused<ShapeError>("no patch", {"vision_transformer", "[1, 0, 28]"},
                          [] {
                            make_model("vision_transformer", ModelTask{{1, 0, 28}, 10});
                          }),
  });
}

TEST(ModelTasks, OfOtherSizesAreTaken) {
  const NoGrad no_grad;
  for (const char* name :
       {"vgg_small", "resnet18_cifar", "vision_transformer", "mobilenet_cifar", "large_kernel_cnn"}) {
    const auto model = make_model(name, ModelTask{{2, 12, 16}, 3});
    EXPECT_EQ((*model)(random_tensor({2, 2, 12, 16}, 1)).shape(), (Shape{2, 3})) << name;
  }
}

}  // namespace
}  // namespace treadle
