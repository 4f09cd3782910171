#include "python/bindings/interruption.h"

#include <atomic>

namespace treadle::python {
namespace {

/// What the handler stops; null outside of calls.
std::atomic<std::stop_source*> current = nullptr;
/// Python's own handler, which is called after ours.
void (*python_handler)(int) = nullptr;

void handle(int signal) {
  // request_stop() without callbacks is a few lock-free atomic operations, so a handler may call it.
  if (std::stop_source* source = current.load()) source->request_stop();
  python_handler(signal);
}

bool in_main_thread() {
  const nb::object threading = nb::module_::import_("threading");
  return threading.attr("current_thread")().is(threading.attr("main_thread")());
}

}  // namespace

Interruption::Interruption() {
  if (!in_main_thread()) return;
  if (std::stop_source* outer = current.load()) {
    source_ = outer;
    return;
  }
  // Where Python has no handler of its own, ^C ends the process or is ignored, as somebody wants it.
  if (sigaction(SIGINT, nullptr, &before_) != 0 || (before_.sa_flags & SA_SIGINFO) ||
      before_.sa_handler == SIG_DFL || before_.sa_handler == SIG_IGN)
    return;
  python_handler = before_.sa_handler;
  current = source_;
  struct sigaction action = before_;
  action.sa_handler = handle;
  installed_ = sigaction(SIGINT, &action, nullptr) == 0;
  if (!installed_) current = nullptr;
}

Interruption::~Interruption() { restore(); }

void Interruption::restore() {
  if (!installed_) return;
  installed_ = false;
  struct sigaction now {};
  // A handler that Python code has set meanwhile stays.
  if (sigaction(SIGINT, nullptr, &now) == 0 && now.sa_handler == handle) sigaction(SIGINT, &before_, nullptr);
  current = nullptr;
}

void Interruption::check_signals() {
  nb::gil_scoped_acquire acquired;
  if (PyErr_CheckSignals() == 0) return;
  stop_with(std::make_exception_ptr(nb::python_error()));
}

void Interruption::stop_with(std::exception_ptr fault) {
  if (!fault_) fault_ = std::move(fault);
  source_->request_stop();
}

void Interruption::finish() {
  restore();
  if (fault_) std::rethrow_exception(std::exchange(fault_, nullptr));
  if (PyErr_CheckSignals() != 0) nb::raise_python_error();
}

}  // namespace treadle::python
