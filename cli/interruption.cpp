#include "cli/interruption.h"

#include <signal.h>

namespace treadle::cli {
namespace {

std::stop_source stop_source;

bool is_ignored(int signal) {
  struct sigaction current {};
  return sigaction(signal, nullptr, &current) == 0 && current.sa_handler == SIG_IGN;
}

}  // namespace

std::stop_token stop_on_signals() {
  struct sigaction action {};
  // request_stop() without callbacks is a few lock-free atomic operations, so the handler may call it.
  action.sa_handler = [](int) { stop_source.request_stop(); };
  action.sa_flags = int(SA_RESETHAND) | SA_RESTART | SA_ONSTACK;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  if (!is_ignored(SIGHUP)) sigaction(SIGHUP, &action, nullptr);
  action.sa_flags =
      SA_RESTART | SA_ONSTACK;  // each line that nobody reads sends one, also while the state is saved
  sigaction(SIGPIPE, &action, nullptr);
  return stop_source.get_token();
}

}  // namespace treadle::cli
