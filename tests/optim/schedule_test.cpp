/// Learning-rate schedules: what PyTorch's do not show. Their rates are compared with its elsewhere.
#include "treadle/optim/schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/refused.h"
#include "treadle/core/error.h"
#include "treadle/optim/schedules/cosine.h"
#include "treadle/optim/schedules/one_cycle.h"
#include "treadle/optim/schedules/reduce_on_plateau.h"

namespace treadle {
namespace {

Schedule one_cycle(double rate, int64_t total, double warm_up) {
  return Schedule(OneCycleSchedule{warm_up}, rate, {total});
}

/// Powers of two and short sums of them are exact, so are the rates.
TEST(Schedule, OneCycleRisesToItsRateAndFallsToZero) {
  Schedule schedule = one_cycle(8, 7, 0.25);
  const double expected[] = {
      4, 8, 8 * 0.625 / 0.75, 8 * 0.5 / 0.75, 8 * 0.375 / 0.75, 8 * 0.25 / 0.75, 8 * 0.125 / 0.75};
  for (int64_t step = 0; step < 7; ++step) EXPECT_DOUBLE_EQ(schedule.at(step), expected[step]) << step;
  EXPECT_EQ(schedule.at(7), 0);
  EXPECT_EQ(schedule.at(1000), 0);
}

TEST(Schedule, LinearIsOneCycleWithoutARise) {
  Schedule schedule = Schedule::named("linear", 8, {7});
  for (int64_t step = 0; step < 9; ++step)
    EXPECT_EQ(schedule.at(step), std::max<int64_t>(7 - step, 0)) << step;
}

/// cos of 0, π/2 and π is 1, 0 and -1 but for the rounding of π.
TEST(Schedule, CosineFallsFromItsRateToZeroAndStaysThere) {
  const Schedule schedule(CosineSchedule(), 8, {6});
  const double expected[] = {8, 4 + 4 * 0.8660254037844386, 6, 4, 2, 4 - 4 * 0.8660254037844386, 0, 0, 0};
  for (int64_t step = 0; step < 9; ++step)
    EXPECT_NEAR(schedule.at(step), expected[step], 8 * 0x1p-50) << step;
  EXPECT_EQ(Schedule::named("cosine", 8, {6}).at(3), schedule.at(3));
}

TEST(Schedule, EveryStepOfARunHasARateAboveZeroAndAtMostItsPeak) {
  for (double warm_up : {0.0, 0.01, 0.3, 0.99})
    for (int64_t total : {1, 2, 3, 10, 1000})
      for (const char* name : {"one-cycle", "one-cycle-cosine"}) {
        const Schedule schedule = Schedule::named(name, 0.5, {total}, {{"warm_up", warm_up}});
        for (int64_t step = 0; step < total; ++step) {
          EXPECT_GT(schedule.at(step), 0) << name << ' ' << warm_up << ' ' << total << ' ' << step;
          EXPECT_LE(schedule.at(step), 0.5) << name << ' ' << warm_up << ' ' << total << ' ' << step;
        }
      }
}

TEST(Schedule, OneCycleCosineEndsWithItsLastRate) {
  const Schedule schedule = Schedule::named("one-cycle-cosine", 8, {5}, {{"final_divisor", 4.}});
  EXPECT_EQ(schedule.at(4), 8. / 25 / 4);
  EXPECT_EQ(schedule.at(400), 8. / 25 / 4);
}

TEST(Schedule, EveryKnownNameIsFound) {
  for (const std::string& name : known_schedules())
    EXPECT_GT(Schedule::named(name, 1, {10}).at(1), 0) << name;
  EXPECT_EQ(Schedule::named("one-cycle", 1, {99}, {{"warm_up", 0.5}}).at(24), 0.5);
  EXPECT_EQ(Schedule::named("constant", 0.125, {10}).at(20), 0.125);
  try {
    Schedule::named("stairs", 1, {10});
    FAIL() << "no exception";
  } catch (const ValueError& error) {
    for (const std::string& name : known_schedules())
      EXPECT_NE(std::string(error.what()).find(name), std::string::npos) << name;
  }
}

/// Step 3 of the cosine over the 6 steps that are left.
TEST(Schedule, AWarmUpComesBeforeTheScheduleAndItsSteps) {
  const Schedule schedule(CosineSchedule(), 8, {.total_steps = 9, .warm_up_steps = 3});
  for (int64_t step = 0; step < 3; ++step) EXPECT_EQ(schedule.at(step), 2. * double(step + 1)) << step;
  EXPECT_EQ(schedule.at(3), 8);
  EXPECT_NEAR(schedule.at(6), 4, 8 * 0x1p-50);
}

/// The program's options are those of all kinds: one name is one option.
TEST(Schedule, OptionsOfOneNameAreAlike) {
  std::map<std::string, OptionField> known;
  for (const ScheduleKind& kind : known_schedule_kinds())
    for (const OptionField& field : kind.options->fields) {
      const OptionField& first = known.emplace(field.name, field).first->second;
      EXPECT_EQ(first.default_value, field.default_value) << kind.name << ' ' << field.name;
      EXPECT_EQ(first.documentation, field.documentation) << kind.name << ' ' << field.name;
    }
}

TEST(Schedule, OnlyReduceOnPlateauFollowsAFigure) {
  for (const std::string& name : known_schedules()) {
    Schedule schedule = Schedule::named(name, 1, {10});
    EXPECT_EQ(schedule.follows_figure(), name == "reduce-on-plateau") << name;
    const double before = schedule.at(3);
    for (int epoch = 0; epoch < 20; ++epoch) schedule.observe(1, false);
    EXPECT_EQ(schedule.at(3) == before, !schedule.follows_figure()) << name;
    EXPECT_EQ(schedule.kept().empty(), !schedule.follows_figure()) << name;
  }
}

/// As it does when a run is resumed from its checkpoint.
TEST(Schedule, GoesOnFromWhatAnotherHasKept) {
  const ReduceOnPlateauSchedule kind{.gamma = 0.5, .patience = 2, .cooldown = 1};
  Schedule whole(kind, 1);
  for (int cut = 0; cut < 10; ++cut) {
    Schedule begun(kind, 1), resumed(kind, 1);
    for (int epoch = 0; epoch < cut; ++epoch) begun.observe(1 + epoch % 2, true);
    resumed.set_kept(begun.kept());
    for (int epoch = cut; epoch < 10; ++epoch) {
      begun.observe(1 + epoch % 2, true), resumed.observe(1 + epoch % 2, true);
      EXPECT_EQ(resumed.at(0), begun.at(0)) << cut << ' ' << epoch;
    }
    EXPECT_LT(resumed.at(0), 1);
  }
}

auto made(const std::string& kind, const std::string& option, const OptionValue& value) {
  return [=] { Schedule::named(kind, 1, {10}, {{option, value}}); };
}

/// Those that no option of its type takes.
std::vector<OptionValue> wrong_values(const OptionValue& value) {
  if (std::holds_alternative<double>(value)) return {-1.0, std::nan(""), double(INFINITY)};
  if (std::holds_alternative<int64_t>(value)) return {int64_t(-1)};
  return {std::vector<int64_t>{3, -1}};
}

TEST(Schedule, OptionsThatMakeNoneAreRefused) {
  for (const char* kind : {"one-cycle", "one-cycle-cosine"})
    for (double wrong : {-0.1, 1.0, 2.0, std::nan("")})
      EXPECT_THROW(made(kind, "warm_up", wrong)(), ValueError) << kind << ' ' << wrong;
  for (const ScheduleKind& kind : known_schedule_kinds())
    for (const OptionField& field : kind.options->fields)
      for (const OptionValue& wrong : wrong_values(field.default_value))
        EXPECT_THROW(made(kind.name, field.name, wrong)(), ValueError) << kind.name << ' ' << field.name;
  expect_refused({
      refused<ValueError>("step", {"step_size", "0"}, made("step", "step_size", int64_t(0))),
      refused<ValueError>("restart", {"restart_epochs", "0"},
                          made("cosine-warm-restarts", "restart_epochs", int64_t(0))),
      refused<ValueError>("factor", {"restart_factor", "0"},
                          made("cosine-warm-restarts", "restart_factor", int64_t(0))),
      refused<ValueError>("no drop", {"gamma", "1"}, made("reduce-on-plateau", "gamma", 1.0)),
      refused<ValueError>("divisor", {"divisor", "0"}, made("one-cycle-cosine", "final_divisor", 0.0)),
      refused<ValueError>("unknown", {"'gama'", "gamma"}, made("step", "gama", 1.0)),
      refused<ValueError>("epoch", {"0 steps"},
                          [] {
                            Schedule(CosineSchedule(), 1, {10, 0});
                          }),
      refused<ValueError>("warm-up", {"-1 steps"},
                          [] {
                            Schedule(CosineSchedule(), 1, {10, 1, -1});
                          }),
      refused<ValueError>("figure", {"nan"}, [] { Schedule(CosineSchedule(), 1).observe(NAN, true); }),
      refused<ValueError>("kept", {"cosine", "0", "1"}, [] { Schedule(CosineSchedule(), 1).set_kept({1}); }),
      refused<ValueError>("kept of another", {"reduce-on-plateau", "4", "3"},
                          [] {
                            Schedule(ReduceOnPlateauSchedule(), 1).set_kept({1, 2, 3});
                          }),
  });
}

}  // namespace
}  // namespace treadle
