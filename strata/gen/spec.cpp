#include "strata/gen/spec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <span>

#include "strata/base/error.hpp"

namespace strata {

namespace {

constexpr Offset kLargest = std::numeric_limits<Offset>::max();

bool is_letter(char c) {
  return c >= 'a' && c <= 'z';
}

// Where the keys begin: the first comma followed by letters and '='.
std::size_t find_keys(std::string_view text) {
  for (std::size_t comma = text.find(','); comma != std::string_view::npos;
       comma = text.find(',', comma + 1)) {
    std::size_t end = comma + 1;
    while (end < text.size() && is_letter(text[end])) ++end;
    if (end > comma + 1 && end < text.size() && text[end] == '=') return comma;
  }
  return text.size();
}

// All of `text` as a number in [low, high]; `what` says what it stands for, `fault` what is wrong
// with a text that is no number.
Offset parse_integer(std::string_view text, std::string_view what, Offset low, Offset high,
                     std::string_view fault = "not an integer") {
  Offset value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, value);
  if (failure == std::errc::result_out_of_range && stop == end) {
    throw OverflowError(
        fmt::format("{} is {}, which does not fit in a 64-bit integer", what, text));
  }
  if (failure != std::errc{} || stop != end) {
    throw InvalidArgument(fmt::format("{} is '{}', which is {}", what, text, fault));
  }
  if (value < low || value > high) {
    throw InvalidArgument(
        high == kLargest ? fmt::format("{} is {}, but starts at {}", what, value, low)
                         : fmt::format("{} is {}, but lies in {} … {}", what, value, low, high));
  }
  return value;
}

// "4x5x6" as positive numbers, one for each element of `values`.
void parse_sizes(std::string_view text, std::string_view what, std::span<Offset> values) {
  const auto given = static_cast<std::size_t>(std::ranges::count(text, 'x')) + 1;
  if (given != values.size()) {
    throw InvalidArgument(
        fmt::format("{} is '{}', which has {} of {} dimensions", what, text, given, values.size()));
  }
  for (Offset& value : values) {
    const std::size_t length = std::min(text.find('x'), text.size());
    value = parse_integer(text.substr(0, length), what, 1, kLargest);
    text.remove_prefix(std::min(length + 1, text.size()));
  }
}

}  // namespace

Spec::Spec(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) throw InvalidArgument("there is no ':' behind the name");
  name_ = text.substr(0, colon);
  text.remove_prefix(colon + 1);
  const std::size_t keys = find_keys(text);
  argument_ = text.substr(0, keys);
  if (argument_.empty()) throw InvalidArgument("there is nothing behind the ':'");
  text.remove_prefix(keys);
  while (!text.empty()) {
    text.remove_prefix(1);  // the comma
    const std::size_t length = std::min(text.find(','), text.size());
    add_key(text.substr(0, length));
    text.remove_prefix(length);
  }
}

void Spec::add_key(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) {
    throw InvalidArgument(fmt::format("'{}' is not of the form key=value", text));
  }
  const std::string_view key = text.substr(0, equals);
  if (std::ranges::find(keys_, key, &Key::name) != keys_.end()) {
    throw InvalidArgument(fmt::format("the key '{}' is given twice", key));
  }
  keys_.push_back({std::string(key), std::string(text.substr(equals + 1))});
}

const Spec::Key* Spec::find(std::string_view key) {
  const auto found = std::ranges::find(keys_, key, &Key::name);
  if (found == keys_.end()) return nullptr;
  found->read = true;
  return &*found;
}

Offset Spec::size(Offset high) const {
  return parse_integer(argument_, "the size", 1, high);
}

template <std::size_t dimensions>
std::array<Offset, dimensions> Spec::sizes() const {
  std::array<Offset, dimensions> result{};
  parse_sizes(argument_, "the size", result);
  return result;
}

Offset Spec::integer(std::string_view key, Offset low, Offset high) {
  const Key* found = find(key);
  if (!found) throw InvalidArgument(fmt::format("the key '{}' is missing", key));
  return parse_integer(found->value, key, low, high);
}

Offset Spec::integer_or(std::string_view key, Offset fallback, Offset low, Offset high) {
  const Key* found = find(key);
  return found ? parse_integer(found->value, key, low, high) : fallback;
}

std::optional<Offset> Spec::integer_or_word(std::string_view key, std::string_view word,
                                            Offset meaning, Offset low) {
  const Key* found = find(key);
  if (!found) return std::nullopt;
  if (found->value == word) return meaning;
  return parse_integer(found->value, key, low, kLargest,
                       fmt::format("neither '{}' nor an integer", word));
}

double Spec::real_or(std::string_view key, double fallback) {
  const Key* found = find(key);
  if (!found) return fallback;
  double value = 0;
  const char* end = found->value.data() + found->value.size();
  const auto [stop, failure] = std::from_chars(found->value.data(), end, value);
  if (failure != std::errc{} || stop != end || !std::isfinite(value) || value < 0) {
    throw InvalidArgument(
        fmt::format("{} is '{}', which is not a finite number from 0 on", key, found->value));
  }
  return value;
}

template <std::size_t dimensions>
std::array<Offset, dimensions> Spec::proportions(std::string_view key) {
  std::array<Offset, dimensions> result{};
  result.fill(1);
  if (const Key* found = find(key)) parse_sizes(found->value, key, result);
  return result;
}

void Spec::refuse_unread_keys() const {
  const auto unread = std::ranges::find(keys_, false, &Key::read);
  if (unread != keys_.end()) {
    throw InvalidArgument(fmt::format("'{}' has no key '{}'", name_, unread->name));
  }
}

template std::array<Offset, 2> Spec::sizes() const;
template std::array<Offset, 3> Spec::sizes() const;
template std::array<Offset, 2> Spec::proportions(std::string_view);
template std::array<Offset, 3> Spec::proportions(std::string_view);

}  // namespace strata
