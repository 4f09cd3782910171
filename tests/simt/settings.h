/// Sets workers and schedule for one test and restores them.
#pragma once

#include "treadle/simt/executor.h"

namespace treadle::simt {

class ScopedSettings {
 public:
  explicit ScopedSettings(unsigned worker_count, Schedule order = {})
      : workers_(workers()), schedule_(schedule()) {
    set_workers(worker_count);
    set_schedule(order);
  }
  ~ScopedSettings() {
    set_workers(workers_);
    set_schedule(schedule_);
  }
  ScopedSettings(const ScopedSettings&) = delete;
  ScopedSettings& operator=(const ScopedSettings&) = delete;

 private:
  unsigned workers_;
  Schedule schedule_;
};

}  // namespace treadle::simt
