// Reads the objects of a campaign file strictly: what is of the wrong type, missing or unknown is
// an InvalidCampaign that names the file and the key.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "strata/campaign/campaign.hpp"

namespace strata::campaign::detail {

using OrderedJson = nlohmann::ordered_json;

// A value and where it is: "runs[0].options". The JSON must outlive it.
class ValueReader {
 public:
  ValueReader(const OrderedJson& value, std::string source, std::string place = "")
      : value_(value), source_(std::move(source)), place_(std::move(place)) {}

  [[noreturn]] void refuse(const std::string& why) const;

  const OrderedJson& json() const { return value_; }
  const std::string& source() const { return source_; }

  // Objects: refuses values that are none, and other keys than these.
  void require_object(std::initializer_list<std::string_view> known_keys) const;
  bool has(std::string_view key) const;
  ValueReader at(std::string_view key) const;
  // All members, of objects whose keys are free.
  std::vector<std::pair<std::string, ValueReader>> members() const;

  // Lists, which must not be empty.
  std::vector<ValueReader> elements() const;
  // The elements of a list, or the value itself if it is none.
  std::vector<ValueReader> one_or_more() const;

  std::string text() const;  // not empty, and no character 0, which ends words of a command line
  bool yes_or_no() const;
  double positive() const;
  int count() const;           // from 1 on
  std::int64_t bytes() const;  // a number, or "512M" in powers of 1024
  std::vector<std::string> texts() const;
  // A number as the file spells it, a text as it is. Refuses everything else.
  std::string word() const;

 private:
  std::string inside(std::string_view key) const;

  const OrderedJson& value_;
  std::string source_;
  std::string place_;
};

}  // namespace strata::campaign::detail
