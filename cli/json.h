/// What --json prints, as a value. The library that writes it takes a source two seconds to compile: only
/// json.cpp sees it.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace treadle::cli {

/// A number, a string, a truth value, null, a list, or an object: Json{{"name", name}, {"sizes", sizes}}.
/// Cheap to copy.
class Json {
 public:
  struct Member;

  Json();  ///< null
  Json(bool value);
  Json(double value);
  Json(std::string_view text);
  Json(const std::string& text) : Json(std::string_view(text)) {}
  Json(const char* text) : Json(std::string_view(text)) {}
  template <std::integral Integer>
  Json(Integer value) : Json(int64_t(value), Whole{}) {}
  Json(const std::vector<Json>& list);
  template <class T>
  Json(const std::vector<T>& list) : Json(std::vector<Json>(list.begin(), list.end())) {}
  Json(std::initializer_list<Member> members);
  template <class T>
  Json(const std::map<std::string, T>& members) : Json(std::initializer_list<Member>{}) {
    for (const auto& [name, value] : members) add(name, value);
  }

  /// Adds a member to an object.
  void add(const std::string& name, const Json& value);
  /// On one line. Bytes that are no UTF-8, as file names may hold, become U+FFFD.
  std::string text() const;

 private:
  struct Whole {};
  Json(int64_t value, Whole);

  std::shared_ptr<nlohmann::json> value_;
};

struct Json::Member {
  std::string name;
  Json value;
};

}  // namespace treadle::cli
