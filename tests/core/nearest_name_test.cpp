#include "treadle/core/nearest_name.h"

#include <gtest/gtest.h>

namespace treadle {
namespace {

const std::vector<std::string> kNames{"train", "eval", "predict", "fashion_cnn", "lenet5", "mnist"};

TEST(NearestName, FindsSlips) {
  for (auto [written, meant] :
       std::vector<std::pair<const char*, const char*>>{{"trian", "train"},
                                                        {"tain", "train"},
                                                        {"traain", "train"},
                                                        {"crain", "train"},
                                                        {"TRAIN", "train"},
                                                        {"pred", "predict"},
                                                        {"fashion-cnn", "fashion_cnn"},
                                                        {"fashion", "fashion_cnn"},
                                                        {"lenet", "lenet5"},
                                                        {"minst", "mnist"}})
    EXPECT_EQ(nearest_name(written, kNames), meant) << written;
}

TEST(NearestName, AnUnderscoreIsADash) {
  EXPECT_EQ(nearest_name("a-b-c", {"a_b_c"}), "a_b_c");
  EXPECT_EQ(nearest_name("a_b_c", {"a-b-c"}), "a-b-c");
}

/// A third of the longer name's letters, and the first of those that are as near.
TEST(NearestName, TakesTwoSlipsInSixLetters) {
  EXPECT_EQ(nearest_name("lenat", kNames), "lenet5");
  EXPECT_EQ(nearest_name("tran", {"tram", "tray"}), "tram");
}

TEST(NearestName, LeavesAloneWhatIsFar) {
  for (const char* written : {"", "x", "paint", "tr", "brian", "resnet", "zzzzzzzzzzzz"})
    EXPECT_EQ(nearest_name(written, kNames), "") << written;
  EXPECT_EQ(nearest_name(std::string(1 << 20, 't'), kNames), "");
  EXPECT_EQ(nearest_name(std::string(64, 't'), {std::string(65, 't')}), "");
  EXPECT_EQ(nearest_name("train", {}), "");
  EXPECT_EQ(nearest_name("", {"a"}), "");
}

TEST(NearestName, Messages) {
  EXPECT_EQ(unknown_name("no model is called", "lenet", {"mlp", "lenet5"}),
            "no model is called 'lenet'; did you mean 'lenet5'? Known are mlp, lenet5");
  EXPECT_EQ(unknown_name("no model is called", "x", {"mlp", "lenet5"}),
            "no model is called 'x'; known are mlp, lenet5");
}

}  // namespace
}  // namespace treadle
