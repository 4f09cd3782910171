/// Binding the threads of parallel_for to cores.
#pragma once

namespace treadle::cli {

/// The number of cores this process may use; 0 when the system does not say.
int usable_cores();

/// Binds each thread of parallel_for, the caller included, to one of the cores this process may use, so that
/// the scheduler cannot put two of them on one core. Returns the number of threads bound.
int bind_threads();

}  // namespace treadle::cli
