#include "treadle/data/dataset_registry.h"

namespace treadle::datasets {

/// Clanuwat, Bober-Irizar, Kitamoto, Lamb, Yamamoto, Ha: "Deep Learning for Classical Japanese Literature",
/// 2018.
void register_kmnist(DatasetRegistry& registry) {
  registry.add({.place = 4,
                .name = "kmnist",
                .description = "70,000 grey images of cursive Japanese characters, 28 x 28",
                .classes = {"o", "ki", "su", "tsu", "na", "ha", "ma", "ya", "re", "wo"},
                .how_to_get = "`treadle datasets get kmnist`, or the four .gz files of Kuzushiji-MNIST "
                              "(train-images-idx3-ubyte.gz and so on) into one of these folders",
                .mirrors = {"http://codh.rois.ac.jp/kmnist/dataset/kmnist/"},
                .files = {{"train-images-idx3-ubyte.gz"},
                          {"train-labels-idx1-ubyte.gz"},
                          {"t10k-images-idx3-ubyte.gz"},
                          {"t10k-labels-idx1-ubyte.gz"}}});
}

}  // namespace treadle::datasets
