// Json: a JSON value, as results describe themselves. Keys keep the order in which they were added.
//
//   Json result{{"kernel", "mpk"}, {"power", 4}};
//   result["seconds"] = {{"median", 0.25}, {"repetitions", 20}};
//   std::puts(text_of(result, 2).c_str());
//
// A small tree of our own: files that describe results are many, and the header of a whole JSON
// library takes each of them seconds to compile.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace strata {

class Json {
 public:
  enum class Kind { null, boolean, integer, real, string, array, object };

  Json() = default;  // null
  Json(bool value) : kind_(Kind::boolean), integer_(value ? 1 : 0) {}
  template <std::integral Integer>
  Json(Integer value) : kind_(Kind::integer), integer_(static_cast<std::int64_t>(value)) {}
  Json(double value) : kind_(Kind::real), real_(value) {}
  Json(std::string value) : kind_(Kind::string), string_(std::move(value)) {}
  Json(std::string_view value) : Json(std::string(value)) {}
  Json(const char* value) : Json(std::string(value)) {}
  // An object if every element is a pair that begins with a string: {{"rows", 3}, {"cols", 4}}. An
  // array otherwise.
  Json(std::initializer_list<Json> elements);

  static Json array() { return of_kind(Kind::array); }
  static Json object() { return of_kind(Kind::object); }
  static Json object(std::initializer_list<Json> members);

  Kind kind() const { return kind_; }
  bool boolean() const { return integer_ != 0; }
  std::int64_t integer() const { return integer_; }
  double real() const { return real_; }
  const std::string& string() const { return string_; }
  // The elements of an array; the values of an object and, in the same order, their keys.
  const std::vector<Json>& elements() const { return elements_; }
  const std::vector<std::string>& keys() const { return keys_; }

  // The member of that name, added if there is none. Null becomes an object; anything else throws
  // InvalidArgument.
  Json& operator[](std::string_view key);
  // Takes over all members of another object: known keys get its values and keep their place.
  void update(const Json& other);
  // Null becomes an array; anything else throws InvalidArgument.
  void push_back(Json element);

 private:
  static Json of_kind(Kind kind);

  Kind kind_ = Kind::null;
  std::int64_t integer_ = 0;
  double real_ = 0;
  std::string string_;
  std::vector<std::string> keys_;
  std::vector<Json> elements_;
};

// On one line if `indent` is negative; otherwise a member or element per line, but a list of plain
// values, or an object of these in a list, is one line: lists of numbers can be long. What is not
// UTF-8 in strings is replaced by U+FFFD, and numbers that are not finite are null, for JSON has
// neither.
std::string text_of(const Json& json, int indent = -1);
// Throws InvalidArgument for text that is not JSON.
Json parse_json(std::string_view text);

}  // namespace strata
