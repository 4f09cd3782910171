#include "treadle/data/dataset_registry.h"

namespace treadle::datasets {

/// Xiao, Rasul, Vollgraf: "Fashion-MNIST: a Novel Image Dataset for Benchmarking Machine Learning
/// Algorithms", 2017.
void register_fashion_mnist(DatasetRegistry& registry) {
  registry.add({.place = 1,
                .name = "fashion-mnist",
                .description = "70,000 grey images of clothing, 28 x 28",
                .classes = {"T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt",
                            "Sneaker", "Bag", "Ankle boot"},
                .how_to_get = "apt install dataset-fashion-mnist"});
}

}  // namespace treadle::datasets
