/// A run of training as Python makes it.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "python/bindings/examples.h"
#include "python/bindings/heartbeat.h"
#include "treadle/compile/measuring.h"

namespace treadle::python {

/// fit() with callbacks of Python's, told of signals, without the GIL.
class Run {
 public:
  Run(const ClassifierOptions& options, const std::vector<Callback*>& callbacks, nb::object tick)
      : options_(options), heartbeat_(interruption_, std::move(tick)) {
    options_.stop = interruption_.token();
    options_.callbacks = {&heartbeat_};
    for (Callback* callback : callbacks) {
      guarded_.push_back(std::make_unique<GuardedCallback>(*callback, interruption_));
      options_.callbacks.push_back(guarded_.back().get());
    }
  }

  const ClassifierOptions& options() const { return options_; }
  std::shared_ptr<const Examples> examples(nb::handle data, bool training) {
    return examples_in(data, options_, training, interruption_);
  }
  /// Calls fit() without the GIL; then what ^C has raised is thrown.
  template <class Fit>
  auto operator()(Fit fit) {
    return interruption_.around([&] {
      const std::stop_token stop = options_.stop;
      const ObserveMeasuring measuring({[stop](std::string_view) { return !stop.stop_requested(); }, [] {}});
      return fit();
    });
  }

 private:
  ClassifierOptions options_;
  Interruption interruption_;
  Heartbeat heartbeat_;
  std::vector<std::unique_ptr<GuardedCallback>> guarded_;
};

}  // namespace treadle::python
