#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "strata/campaign/internal/object_reader.hpp"

namespace strata::campaign::detail {

void ValueReader::refuse(const std::string& why) const {
  throw InvalidCampaign(place_.empty() ? fmt::format("{}: {}", source_, why)
                                       : fmt::format("{}: '{}' {}", source_, place_, why));
}

std::string ValueReader::inside(std::string_view key) const {
  return place_.empty() ? std::string(key) : fmt::format("{}.{}", place_, key);
}

void ValueReader::require_object(std::initializer_list<std::string_view> known_keys) const {
  if (!value_.is_object()) refuse("is not an object");
  for (const auto& [key, value] : value_.items()) {
    if (std::ranges::find(known_keys, key) != known_keys.end()) continue;
    refuse(fmt::format("{} '{}', which is no key of a campaign here: {}",
                       place_.empty() ? "has" : "contains", key,
                       fmt::join(known_keys.begin(), known_keys.end(), ", ")));
  }
}

bool ValueReader::has(std::string_view key) const {
  return value_.is_object() && value_.contains(key);
}

ValueReader ValueReader::at(std::string_view key) const {
  if (!has(key)) refuse(fmt::format("lacks '{}'", key));
  return {value_.at(std::string(key)), source_, inside(key)};
}

std::vector<std::pair<std::string, ValueReader>> ValueReader::members() const {
  if (!value_.is_object()) refuse("is not an object");
  std::vector<std::pair<std::string, ValueReader>> members;
  for (const auto& [key, value] : value_.items()) {
    members.emplace_back(key, ValueReader(value, source_, inside(key)));
  }
  return members;
}

std::vector<ValueReader> ValueReader::elements() const {
  if (!value_.is_array()) refuse("is not a list");
  if (value_.empty()) refuse("is empty");
  std::vector<ValueReader> elements;
  for (std::size_t i = 0; i < value_.size(); ++i) {
    elements.emplace_back(value_[i], source_, fmt::format("{}[{}]", place_, i));
  }
  return elements;
}

std::vector<ValueReader> ValueReader::one_or_more() const {
  return value_.is_array() ? elements() : std::vector{*this};
}

std::string ValueReader::text() const {
  if (!value_.is_string()) refuse("is not a text");
  std::string text = value_.get<std::string>();
  if (text.empty()) refuse("is empty");
  if (text.find('\0') != std::string::npos) refuse("has a character 0");
  return text;
}

bool ValueReader::yes_or_no() const {
  if (!value_.is_boolean()) refuse("is neither true nor false");
  return value_.get<bool>();
}

double ValueReader::positive() const {
  if (!value_.is_number()) refuse("is not a number");
  const double number = value_.get<double>();
  if (!std::isfinite(number) || number <= 0) {
    refuse(fmt::format("is {}, which is not above 0", value_.dump()));
  }
  return number;
}

int ValueReader::count() const {
  if (!value_.is_number_integer()) refuse("is not a whole number");
  if (value_ < 1 || value_ > 1'000'000) {
    refuse(fmt::format("is {}, outside 1 … 1000000", value_.dump()));
  }
  return value_.get<int>();
}

std::int64_t ValueReader::bytes() const {
  constexpr std::int64_t kMost = std::int64_t{1} << 60;
  std::int64_t number = 0;
  std::int64_t unit = 1;
  if (value_.is_number_integer()) {
    number = value_.get<std::int64_t>();
  } else {
    const std::string written = text();
    const char* const end = written.data() + written.size();
    const auto [stop, problem] = std::from_chars(written.data(), end, number);
    const std::string_view suffix(stop, static_cast<std::size_t>(end - stop));
    if (suffix == "k") unit = std::int64_t{1} << 10;
    if (suffix == "M") unit = std::int64_t{1} << 20;
    if (suffix == "G") unit = std::int64_t{1} << 30;
    if (problem != std::errc() || (unit == 1 && !suffix.empty())) {
      refuse(fmt::format("is '{}': bytes are a whole number, with k, M or G", written));
    }
  }
  if (number < 1 || number > kMost / unit) refuse("is outside 1 byte … 2^60 bytes");
  return number * unit;
}

std::vector<std::string> ValueReader::texts() const {
  std::vector<std::string> texts;
  for (const ValueReader& element : elements()) texts.push_back(element.text());
  return texts;
}

std::string ValueReader::word() const {
  if (value_.is_number()) return value_.dump();
  if (!value_.is_string()) refuse("is neither a text nor a number");
  return text();
}

}  // namespace strata::campaign::detail
