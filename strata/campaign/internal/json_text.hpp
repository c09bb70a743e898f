// JSON as lines of text.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "strata/base/error.hpp"

namespace strata::campaign::detail {

using Json = nlohmann::ordered_json;

// Without line breaks. What is not UTF-8 in it becomes U+FFFD: messages of programs may be
// anything.
inline std::string one_line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// Throws InvalidArgument for text that is not JSON.
inline Json parse_json_text(std::string_view text) {
  Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) throw InvalidArgument("is not JSON");
  return json;
}

// The member, or what stands for it where it is missing or of another type.
template <class Value>
Value member(const Json& object, const char* key, Value otherwise) {
  const auto found = object.find(key);
  if (found == object.end()) return otherwise;
  try {
    return found->get<Value>();
  } catch (const Json::exception&) {
    return otherwise;
  }
}

}  // namespace strata::campaign::detail
