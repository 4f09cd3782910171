// The C interface of libtreadle-curl.so: downloads by HTTP and HTTPS with libcurl.
//
// The library is opened with dlopen and asked for its table of functions; nothing else is exported and
// nothing but plain C crosses the boundary.
#pragma once

#include <stddef.h>
#include <stdint.h>

#define TREADLE_CURL_ABI_VERSION 1

#ifdef __cplusplus
extern "C" {
#endif

enum TreadleCurlStatus {
  TREADLE_CURL_OK = 0,
  TREADLE_CURL_STOPPED = 1,  // a function of the request asked for it
  TREADLE_CURL_FAILED = 2    // no connection, or it broke, or nothing came for too long
};

// What a server says before it sends.
typedef struct TreadleCurlAnswer {
  int32_t status;  // 200, 206, 404 …
  uint64_t first;  // of status 206: the place of the first byte that comes
  int64_t length;  // of what comes; -1 where the server does not say
} TreadleCurlAnswer;

// Functions that give an int return 0 to go on, anything else to stop.
typedef struct TreadleCurlRequest {
  const char* url;   // http:// or https://
  uint64_t from;     // asks for the bytes from here on, where it is not 0
  int32_t patience;  // seconds without a connection, or with less than one byte each, before it gives up
  void* context;     // handed to the functions
  int (*begin)(void* context, const TreadleCurlAnswer* answer);  // once, before the first byte or the end
  int (*receive)(void* context, const void* bytes, size_t count);
  int (*is_stopped)(void* context);  // asked at least once a second
} TreadleCurlRequest;

typedef struct TreadleCurlApi {
  int32_t abi_version;

  // libcurl's own version, such as "7.88.1".
  const char* (*curl_version)(void);

  // Gets one file, through the proxies that http_proxy, https_proxy, all_proxy and no_proxy name;
  // redirections to http and https are followed. Returns a TreadleCurlStatus; on a failure it writes a
  // sentence, cut to message_size bytes with the final zero. One thread at a time.
  int (*get)(const TreadleCurlRequest* request, char* message, size_t message_size);
} TreadleCurlApi;

// The table, valid until the process ends; NULL when the library speaks another version than the one asked
// for.
__attribute__((visibility("default"))) const TreadleCurlApi* treadle_curl_api(int abi_version);

#ifdef __cplusplus
}
#endif
