// Opens libtreadle.so and a module over it with dlopen, computes in threads older and younger than the
// library, closes both, in the order of opening and in the other, and opens them again.
//
// usage: treadle_dlopen_test LIBTREADLE MODULE
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

typedef double (*compute_function)(const char* device, long long n);

static compute_function compute;

static void* symbol(void* library, const char* name) {
  void* address = dlsym(library, name);
  if (!address) {
    fprintf(stderr, "dlopen_test: %s\n", dlerror());
    exit(1);
  }
  return address;
}

// The host's own scope stays as it is: RTLD_LOCAL.
static void* opened(const char* file) {
  void* library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    fprintf(stderr, "dlopen_test: %s\n", dlerror());
    exit(1);
  }
  return library;
}

static void require(int condition, const char* what) {
  if (condition) return;
  fprintf(stderr, "dlopen_test: %s\n", what);
  exit(1);
}

static void require_results(void) {
  const char* const devices[] = {"cpu", "simt"};
  for (int i = 0; i < 2; ++i)
    for (long long n = 1; n <= 65; n += 32) {
      const double result = compute(devices[i], n), wanted = (double)(n * n * n) + 1;
      if (result > wanted - 0.001 && result < wanted + 0.001) continue;
      fprintf(stderr, "dlopen_test: %s, n = %lld: %.9g instead of %.9g\n", devices[i], n, result, wanted);
      exit(1);
    }
}

static sem_t is_open;

// Starts before the library is opened.
static void* compute_when_open(void* unused) {
  sem_wait(&is_open);
  require_results();
  return unused;
}

static void* compute_at_once(void* unused) {
  require_results();
  return unused;
}

static void in_a_thread(void* (*work)(void*)) {
  pthread_t thread;
  require(pthread_create(&thread, NULL, work, NULL) == 0, "a thread cannot be started");
  pthread_join(thread, NULL);
}

// A version that starts with a digit, by the library's own symbol.
static void require_version(void* library) {
  const char* (*version)(void) = (const char* (*)(void))symbol(library, "_ZN7treadle7versionEv");
  require(version()[0] >= '0' && version()[0] <= '9', "the library's version is no number");
}

static void open_compute_close(const char* library_file, const char* module_file, int library_goes_first) {
  void* library = opened(library_file);
  require_version(library);
  void* module = opened(module_file);
  compute = (compute_function)symbol(module, "module_compute");
  require(((int (*)(void))symbol(module, "module_refuses_an_unknown_device"))() == 1,
          "an exception is not what it was thrown as");
  sem_post(&is_open);
  in_a_thread(compute_at_once);
  require_results();
  require(dlclose(library_goes_first ? library : module) == 0, "the first dlclose fails");
  require(dlclose(library_goes_first ? module : library) == 0, "the second dlclose fails");
}

int main(int count, char** words) {
  require(count == 3, "usage: treadle_dlopen_test LIBTREADLE MODULE");
  pthread_t older;
  sem_init(&is_open, 0, 0);
  require(pthread_create(&older, NULL, compute_when_open, NULL) == 0, "a thread cannot be started");
  void* kept = opened(words[2]);  // the older thread computes while others open and close
  open_compute_close(words[1], words[2], 0);
  pthread_join(older, NULL);
  require(dlclose(kept) == 0, "dlclose fails");
  open_compute_close(words[1], words[2], 1);
  open_compute_close(words[1], words[2], 0);
  return 0;
}
