#include "treadle/data/dataset_registry.h"

namespace treadle::datasets {

/// LeCun, Cortes, Burges: "The MNIST Database of Handwritten Digits", 1998.
void register_mnist(DatasetRegistry& registry) {
  registry.add({.place = 2,
                .name = "mnist",
                .description = "70,000 grey images of handwritten digits, 28 x 28",
                .classes = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"},
                .how_to_get = "download the four .gz files of MNIST (train-images-idx3-ubyte.gz and so on) "
                              "into one of these folders"});
}

}  // namespace treadle::datasets
