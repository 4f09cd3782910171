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
                .how_to_get = "apt install dataset-fashion-mnist, or `treadle datasets get fashion-mnist`",
                .mirrors = {"http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
                            "https://storage.googleapis.com/tensorflow/tf-keras-datasets/"},
                .files = {{"train-images-idx3-ubyte.gz", 47'040'016,
                           "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888"},
                          {"train-labels-idx1-ubyte.gz", 60'008,
                           "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9"},
                          {"t10k-images-idx3-ubyte.gz", 7'840'016,
                           "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b"},
                          {"t10k-labels-idx1-ubyte.gz", 10'008,
                           "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34"}}});
}

}  // namespace treadle::datasets
