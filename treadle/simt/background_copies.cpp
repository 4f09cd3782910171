#include "treadle/simt/background_copies.h"

#include <cstring>

#include "treadle/simt/hooks.h"

namespace treadle::TREADLE_TARGET {

void make(const BackgroundCopy& copy) {
  unsigned char bytes[16] = {};
  std::memcpy(bytes, copy.from, copy.read);
  std::memcpy(copy.to, bytes, copy.bytes);
}

void BackgroundCopies::clear() {
  if (open_ == 0) return;
  threads_.clear();
  open_ = 0;
}

void BackgroundCopies::begin(unsigned thread, BackgroundCopy copy, bool at_once) {
  if (at_once) make(copy);
  copy.made = at_once;
  if (thread >= threads_.size()) threads_.resize(thread + 1);
  threads_[thread].copies.push_back(copy);
  ++open_;
}

void BackgroundCopies::commit(unsigned thread) {
  if (thread >= threads_.size()) threads_.resize(thread + 1);
  threads_[thread].groups.push_back(threads_[thread].copies.size());
}

void BackgroundCopies::wait(unsigned thread, unsigned pending) {
  if (thread >= threads_.size()) return;
  Thread& self = threads_[thread];
  while (self.groups.size() - self.done > pending) arrive_until(self, self.groups[self.done++]);
  if (self.arrived < self.copies.size() || self.done < self.groups.size()) return;
  self.copies.clear();
  self.groups.clear();
  self.arrived = self.done = 0;
}

void BackgroundCopies::finish(unsigned thread) {
  if (thread >= threads_.size()) return;
  arrive_until(threads_[thread], threads_[thread].copies.size());
  wait(thread, 0);
}

void BackgroundCopies::arrive_until(Thread& thread, size_t end) {
  for (; thread.arrived < end; ++thread.arrived, --open_) {
    const BackgroundCopy& copy = thread.copies[thread.arrived];
    if (!copy.made) make(copy);
    hooks::copy_arrived(copy.to, copy.bytes);
  }
}

}  // namespace treadle::TREADLE_TARGET
