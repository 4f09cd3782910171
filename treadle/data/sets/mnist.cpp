#include "treadle/data/dataset_registry.h"

namespace treadle::datasets {

/// LeCun, Cortes, Burges: "The MNIST Database of Handwritten Digits", 1998.
void register_mnist(DatasetRegistry& registry) {
  registry.add({.place = 2,
                .name = "mnist",
                .description = "70,000 grey images of handwritten digits, 28 x 28",
                .classes = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"},
                .how_to_get = "`treadle datasets get mnist`, or the four .gz files of MNIST "
                              "(train-images-idx3-ubyte.gz and so on) into one of these folders",
                .mirrors = {"https://ossci-datasets.s3.amazonaws.com/mnist/",
                            "https://storage.googleapis.com/cvdf-datasets/mnist/"},
                .files = {{"train-images-idx3-ubyte.gz", 47'040'016,
                           "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"},
                          {"train-labels-idx1-ubyte.gz", 60'008,
                           "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"},
                          {"t10k-images-idx3-ubyte.gz", 7'840'016,
                           "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"},
                          {"t10k-labels-idx1-ubyte.gz", 10'008,
                           "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2"}}});
}

}  // namespace treadle::datasets
