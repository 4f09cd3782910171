/// What the sanitizers do unless the environment (ASAN_OPTIONS …) says otherwise, in each program that is
/// built with them. Tests ask for more memory than there is: that is to be an exception, as without the
/// sanitizers. LeakSanitizer takes blocks of thread-local variables for what an older glibc allocated, reads
/// what lies before them as their extent, and then scans wherever that leads ("Tracer caught signal 11");
/// without the interception it leaves them out. Freed blocks are kept for later faults up to 16 MiB, and with
/// ten frames each: the defaults, 256 and 30, take a quarter of the time of tests that allocate much.
#define TREADLE_DEFAULTS(sanitizer) extern "C" __attribute__((visibility("default"))) const char* sanitizer()

TREADLE_DEFAULTS(__asan_default_options) {
  return "allocator_may_return_null=1:intercept_tls_get_addr=0:quarantine_size_mb=16:malloc_context_size=10";
}
TREADLE_DEFAULTS(__ubsan_default_options) { return "print_stacktrace=1:halt_on_error=1"; }
TREADLE_DEFAULTS(__tsan_default_options) { return "halt_on_error=1:allocator_may_return_null=1"; }
