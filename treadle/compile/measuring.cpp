#include "treadle/compile/measuring.h"

#include <utility>

namespace treadle {
namespace {

thread_local const MeasuringObserver* newest = nullptr;

}  // namespace

ObserveMeasuring::ObserveMeasuring(MeasuringObserver observer)
    : observer_(std::move(observer)), previous_(std::exchange(newest, &observer_)) {}

ObserveMeasuring::~ObserveMeasuring() { newest = previous_; }

const MeasuringObserver* measuring_observer() { return newest; }

}  // namespace treadle
