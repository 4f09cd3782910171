/// Replays as a graph, on the device where a recording stands in for one.
#include <gtest/gtest.h>

#include "treadle/compile/compile.h"
#include "treadle/compile/instance.h"
#include "treadle/graph/autograd.h"
#include "treadle/graph/op.h"
#include "treadle/models/model.h"
#include "treadle/ops/fill/fill.h"
#include "treadle/ops/layout/copy.h"
#include "treadle/ops/loss/cross_entropy.h"
#include "treadle/ops/matrix/matmul.h"
#include "treadle/ops/pointwise/pointwise.h"
#include "treadle/ops/random/random.h"
#include "treadle/optim/sgd/sgd.h"
#include "treadle/simt/graph.h"

namespace treadle {
namespace {

const CompileOptions kGraph{.measure = false, .graph = CompileOptions::Graph::always};

Tensor random_on_simt(const Shape& shape, uint64_t seed) {
  Generator generator(seed);
  return to(rand(shape, DType::f32, kCpu, generator), kSimt);
}

TEST(Graph, TrainingEqualsTheLoop) {
  auto losses = [](CompileOptions::Graph graph) {
    auto model = make_model("mlp", 1);
    model->to(kSimt);
    Sgd optimizer(model->named_parameters(), 0.05);
    auto step = compile(
        [&](Tensor x, Tensor labels) {
          optimizer.zero_grad();
          Tensor loss = cross_entropy((*model)(x), labels);
          loss.backward();
          optimizer.step();
          return loss;
        },
        {.measure = false, .graph = graph});
    std::vector<double> values;
    for (uint64_t i = 0; i < 6; ++i) {
      optimizer.set_learning_rate(0.01 * double(i + 1));
      Tensor labels = to(Tensor::from(std::vector<int64_t>{3, int64_t(i), 5}, {3}), kSimt);
      values.push_back(step(random_on_simt({3, 1, 28, 28}, i), labels).item());
    }
    return values;
  };
  EXPECT_EQ(losses(CompileOptions::Graph::always), losses(CompileOptions::Graph::never));
}

TEST(Graph, NodesFollowTheProgramAndItsMemory) {
  NoGrad no_grad;
  Tensor w = random_on_simt({8, 5}, 1);
  auto f = compile([&](Tensor x) { return relu(matmul(relu(x), w)) + 1.0; }, kGraph);
  Tensor x = random_on_simt({4, 8}, 2);
  Tensor wanted = f(x);
  auto program = std::const_pointer_cast<Program>(f.programs()[0].program);
  ProgramInstance instance(program, true);
  Tensor result;
  for (int i = 0; i < 3; ++i) instance.run({&x, 1}, {&result, 1});
  EXPECT_EQ(result.to_vector<float>(), wanted.to_vector<float>());
  auto* graph = dynamic_cast<const simt::RecordedGraph*>(instance.graph());
  ASSERT_NE(graph, nullptr);
  ASSERT_EQ(graph->nodes().size(), program->steps.size());
  const Storage& arena = instance.arena();
  int in_arena = 0;
  for (size_t i = 0; i < graph->nodes().size(); ++i) {
    const simt::GraphNode& node = graph->nodes()[i];
    EXPECT_EQ(node.kind, simt::GraphNodeKind::kernel);
    if (program->steps[i].op->name == "matmul") {
      EXPECT_NE(node.kernel.find("matmul"), std::string::npos) << node.kernel;
      EXPECT_EQ(node.addresses_in(w.raw(), w.handle()->storage->bytes()).size(), 1u);
    }
    in_arena += int(node.addresses_in(arena.data(), arena.bytes()).size());
  }
  EXPECT_GE(in_arena,
            int(program->steps.size()));  // each but the last one writes there, each but the first reads
}

}  // namespace
}  // namespace treadle
