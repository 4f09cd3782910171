#include "cli/json.h"

#include <nlohmann/json.hpp>

namespace treadle::cli {

namespace {

template <class Value>
std::shared_ptr<nlohmann::json> holding(Value value) {
  return std::make_shared<nlohmann::json>(std::move(value));
}

}  // namespace

Json::Json() : value_(holding(nullptr)) {}
Json::Json(bool value) : value_(holding(value)) {}
Json::Json(double value) : value_(holding(value)) {}
Json::Json(int64_t value, Whole) : value_(holding(value)) {}
Json::Json(std::string_view text) : value_(holding(std::string(text))) {}

Json::Json(const std::vector<Json>& list) : value_(holding(nlohmann::json::array())) {
  for (const Json& item : list) value_->push_back(*item.value_);
}

Json::Json(std::initializer_list<Member> members) : value_(holding(nlohmann::json::object())) {
  for (const Member& member : members) add(member.name, member.value);
}

/// Copies of this value keep what they had.
void Json::add(const std::string& name, const Json& value) {
  value_ = holding(*value_);
  (*value_)[name] = *value.value_;
}

std::string Json::text() const {
  return value_->dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace treadle::cli
