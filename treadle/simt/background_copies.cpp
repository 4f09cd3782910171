#include "treadle/simt/background_copies.h"

#include <cstring>

namespace treadle::TREADLE_TARGET {

void make(const BackgroundCopy& copy) {
  unsigned char bytes[16] = {};
  std::memcpy(bytes, copy.from, copy.read);
  std::memcpy(copy.to, bytes, copy.bytes);
}

void BackgroundCopies::clear() {
  if (unmade_ == 0) return;
  threads_.clear();
  unmade_ = 0;
}

void BackgroundCopies::begin(unsigned thread, const BackgroundCopy& copy) {
  if (thread >= threads_.size()) threads_.resize(thread + 1);
  threads_[thread].copies.push_back(copy);
  ++unmade_;
}

void BackgroundCopies::commit(unsigned thread) {
  if (thread >= threads_.size()) threads_.resize(thread + 1);
  threads_[thread].groups.push_back(threads_[thread].copies.size());
}

void BackgroundCopies::wait(unsigned thread, unsigned pending) {
  if (thread >= threads_.size()) return;
  Thread& self = threads_[thread];
  while (self.groups.size() - self.done > pending) make_until(self, self.groups[self.done++]);
  if (self.made < self.copies.size() || self.done < self.groups.size()) return;
  self.copies.clear();
  self.groups.clear();
  self.made = self.done = 0;
}

void BackgroundCopies::finish(unsigned thread) {
  if (thread >= threads_.size()) return;
  make_until(threads_[thread], threads_[thread].copies.size());
  wait(thread, 0);
}

void BackgroundCopies::make_until(Thread& thread, size_t end) {
  for (; thread.made < end; ++thread.made, --unmade_) make(thread.copies[thread.made]);
}

}  // namespace treadle::TREADLE_TARGET
