/// mnist_resnet: names and number of its parameters.
#include "treadle/models/mnist_resnet.h"

#include <gtest/gtest.h>

#include <set>

#include "treadle/models/model.h"

namespace treadle {
namespace {

TEST(MnistResnet, HasTheNamesOfItsTwin) {
  const auto model = make_model("mnist_resnet");
  EXPECT_EQ(model->parameter_count(), 514'570);
  std::set<std::string> parts;
  for (const NamedTensor& entry : model->state_dict())
    parts.insert(entry.name.substr(0, entry.name.find('.')));
  EXPECT_EQ(parts, (std::set<std::string>{"stem", "res1", "conv2", "res2", "fc1", "fc2"}));
  EXPECT_EQ(model->named_buffers().size(), 6u * 3);
}

}  // namespace
}  // namespace treadle
