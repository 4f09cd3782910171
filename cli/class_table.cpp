#include "cli/class_table.h"

#include "cli/format.h"

namespace treadle::cli {

std::string share_of_test_set(int64_t images, int64_t in_test_set) {
  if (images == in_test_set) return "";
  return ", of the first " + with_commas(images) + " of " + with_commas(in_test_set) + " test images";
}

std::string class_table(const std::vector<std::string>& classes, const Evaluation& evaluation) {
  std::vector<std::vector<std::string>> rows{{"class", "images", "correct", "accuracy"}};
  for (size_t i = 0; i < classes.size(); ++i) {
    int64_t total = evaluation.total[i], correct = evaluation.correct[i];
    rows.push_back({classes[i], with_commas(total), with_commas(correct),
                    total ? percent(double(correct) / double(total)) : "-"});
  }
  return table(rows, {1, 2, 3});
}

}  // namespace treadle::cli
