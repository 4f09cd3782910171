#include "treadle/simt/toolkit/events.h"
#include "treadle/simt/toolkit/handles.h"
#include "treadle/simt/toolkit/stream_api.h"

namespace treadle::TREADLE_TARGET {
namespace toolkit {
namespace {

Handles<cudaGraph_t, Graph>& graphs() {
  static auto* graphs = new Handles<cudaGraph_t, Graph>;
  return *graphs;
}

/// Executable graphs have nodes of their own: a graph may be changed or destroyed after.
Handles<cudaGraphExec_t, Graph>& executables() {
  static auto* executables = new Handles<cudaGraphExec_t, Graph>;
  return *executables;
}

cudaError_t no_graph(const Call& call) {
  return refuse(call, cudaErrorInvalidValue, "there is no such graph");
}

cudaError_t instantiate(const Call& call, cudaGraphExec_t* result, cudaGraph_t handle) {
  const auto graph = graphs().find(handle);
  if (result == nullptr || graph == nullptr) return no_graph(call);
  *result = executables().add(std::make_shared<Graph>(*graph));
  return cudaSuccess;
}

cudaError_t run(const Graph& graph) {
  for (const Work& node : graph.nodes)
    if (const cudaError_t error = node(); error != cudaSuccess) return error;
  return cudaSuccess;
}

}  // namespace

cudaGraph_t add_graph(const std::shared_ptr<Graph>& graph) { return graphs().add(graph); }

}  // namespace toolkit

using namespace toolkit;

inline namespace cuda_names {

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned) {
  return perform([&] { return *graph = add_graph(std::make_shared<Graph>()), cudaSuccess; });
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  TREADLE_CUDA_CALL(call);
  return perform([&] { return graphs().remove(graph) ? cudaSuccess : no_graph(call); });
}

cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t handle) {
  TREADLE_CUDA_CALL(call);
  return perform([&] {
    const auto graph = graphs().find(handle);
    if (clone == nullptr || graph == nullptr) return no_graph(call);
    *clone = add_graph(std::make_shared<Graph>(*graph));
    return cudaSuccess;
  });
}

cudaError_t cudaGraphGetNodes(cudaGraph_t handle, cudaGraphNode_t* nodes, size_t* count) {
  TREADLE_CUDA_CALL(call);
  return perform([&] {
    const auto graph = graphs().find(handle);
    if (graph == nullptr || count == nullptr) return no_graph(call);
    if (nodes != nullptr)
      for (size_t i = 0; i < std::min(*count, graph->nodes.size()); ++i)
        nodes[i] = reinterpret_cast<cudaGraphNode_t>(&graph->nodes[i]);
    *count = graph->nodes.size();
    return cudaSuccess;
  });
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long) {
  TREADLE_CUDA_CALL(call);
  return perform([&] { return instantiate(call, executable, graph); });
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, cudaGraphNode_t*, char*,
                                 size_t) {
  TREADLE_CUDA_CALL(call);
  return perform([&] { return instantiate(call, executable, graph); });
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* executable, cudaGraph_t graph,
                                          unsigned long long) {
  TREADLE_CUDA_CALL(call);
  return perform([&] { return instantiate(call, executable, graph); });
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  TREADLE_CUDA_CALL(call);
  return perform([&] { return executables().remove(executable) ? cudaSuccess : no_graph(call); });
}

cudaError_t cudaGraphUpload(cudaGraphExec_t executable, cudaStream_t) {
  TREADLE_CUDA_CALL(call);
  return perform([&] { return executables().find(executable) != nullptr ? cudaSuccess : no_graph(call); });
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t handle, cudaStream_t stream) {
  TREADLE_CUDA_CALL(call);
  return perform([&] {
    const auto graph = executables().find(handle);
    if (graph == nullptr) return no_graph(call);
    return submit(call, stream, [graph] { return run(*graph); });
  });
}

}  // namespace cuda_names
}  // namespace treadle::TREADLE_TARGET
