// One GET by libcurl.
#include <curl/curl.h>

#include <charconv>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "treadle/data/curl/api.h"

namespace treadle::curl {
namespace {

struct Closed {
  void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
};
using Handle = std::unique_ptr<CURL, Closed>;

/// A request on its way.
struct Transfer {
  const TreadleCurlRequest& request;
  CURL* handle;
  uint64_t first = 0;  ///< as the last header said
  bool begun = false, stopped = false;

  /// Keeps the first value that asks to stop.
  bool goes_on(int answer) {
    stopped |= answer != 0;
    return !stopped;
  }
};

/// The place of the first byte in "Content-Range: bytes 100-199/200".
void read_range(std::string_view line, Transfer& transfer) {
  constexpr std::string_view kName = "content-range:";
  if (line.starts_with("HTTP/")) transfer.first = 0;  // a redirection came before
  if (line.size() < kName.size() || !curl_strnequal(line.data(), kName.data(), kName.size())) return;
  const size_t digit = line.find_first_of("0123456789");
  if (digit == line.npos) return;
  std::from_chars(line.data() + digit, line.data() + line.size(), transfer.first);
}

bool begin(Transfer& transfer) {
  if (transfer.begun) return true;
  transfer.begun = true;
  long status = 0;
  curl_off_t length = -1;
  curl_easy_getinfo(transfer.handle, CURLINFO_RESPONSE_CODE, &status);
  curl_easy_getinfo(transfer.handle, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
  const TreadleCurlAnswer answer{int32_t(status), transfer.first, length};
  return transfer.goes_on(transfer.request.begin(transfer.request.context, &answer));
}

size_t on_header(char* bytes, size_t, size_t count, void* transfer) {
  read_range({bytes, count}, *static_cast<Transfer*>(transfer));
  return count;
}

size_t on_bytes(char* bytes, size_t, size_t count, void* context) {
  auto& transfer = *static_cast<Transfer*>(context);
  if (!begin(transfer)) return 0;
  return transfer.goes_on(transfer.request.receive(transfer.request.context, bytes, count)) ? count : 0;
}

int on_progress(void* context, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  auto& transfer = *static_cast<Transfer*>(context);
  return transfer.goes_on(transfer.request.is_stopped(transfer.request.context)) ? 0 : 1;
}

int report(TreadleCurlStatus status, const char* sentence, char* message, size_t message_size) {
  if (message && message_size > 0) std::snprintf(message, message_size, "%s", sentence);
  return status;
}

void prepare(CURL* handle, Transfer& transfer, char* error) {
  const TreadleCurlRequest& request = transfer.request;
  curl_easy_setopt(handle, CURLOPT_URL, request.url);
  curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(handle, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(handle, CURLOPT_FOLLOWLOCATION, 1L);
  curl_easy_setopt(handle, CURLOPT_MAXREDIRS, 8L);
  curl_easy_setopt(handle, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(handle, CURLOPT_USERAGENT, "treadle");
  curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, error);
  curl_easy_setopt(handle, CURLOPT_CONNECTTIMEOUT, long(request.patience));
  curl_easy_setopt(handle, CURLOPT_LOW_SPEED_LIMIT, 1L);
  curl_easy_setopt(handle, CURLOPT_LOW_SPEED_TIME, long(request.patience));
  curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, on_header);
  curl_easy_setopt(handle, CURLOPT_HEADERDATA, &transfer);
  curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, on_bytes);
  curl_easy_setopt(handle, CURLOPT_WRITEDATA, &transfer);
  curl_easy_setopt(handle, CURLOPT_XFERINFOFUNCTION, on_progress);
  curl_easy_setopt(handle, CURLOPT_XFERINFODATA, &transfer);
  curl_easy_setopt(handle, CURLOPT_NOPROGRESS, 0L);
  if (request.from > 0) curl_easy_setopt(handle, CURLOPT_RANGE, (std::to_string(request.from) + "-").c_str());
}

int get(const TreadleCurlRequest* request, char* message, size_t message_size) {
  static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
  const Handle handle(ready == CURLE_OK ? curl_easy_init() : nullptr);
  if (!handle) return report(TREADLE_CURL_FAILED, "libcurl does not start", message, message_size);
  Transfer transfer{*request, handle.get()};
  char error[CURL_ERROR_SIZE] = "";
  prepare(handle.get(), transfer, error);
  const CURLcode code = curl_easy_perform(handle.get());
  if (code == CURLE_OK) begin(transfer);  // of an empty body
  if (transfer.stopped) return report(TREADLE_CURL_STOPPED, "stopped", message, message_size);
  if (code == CURLE_OK) return TREADLE_CURL_OK;
  return report(TREADLE_CURL_FAILED, *error ? error : curl_easy_strerror(code), message, message_size);
}

const char* version() { return curl_version_info(CURLVERSION_NOW)->version; }

constexpr TreadleCurlApi kApi{TREADLE_CURL_ABI_VERSION, version, get};

}  // namespace
}  // namespace treadle::curl

const TreadleCurlApi* treadle_curl_api(int abi_version) {
  return abi_version == TREADLE_CURL_ABI_VERSION ? &treadle::curl::kApi : nullptr;
}
