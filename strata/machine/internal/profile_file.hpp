// What the files of machine profiles have in common, be it of a processor or a GPU: strict reading
// of what was written, and what to do about files that are missing, useless or cannot be written.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "strata/base/error.hpp"
#include "strata/machine/profile.hpp"
#include "strata/machine/profile_policy.hpp"

namespace strata::detail {

using ProfileJson = nlohmann::ordered_json;

// A name for the file of what `identity` describes: "KIND-0123456789abcdef.json".
std::string profile_file_name(std::string_view kind, std::string_view identity);

// None if there is no such file. Throws FileError if it cannot be read.
std::optional<std::string> read_profile_file(const std::filesystem::path& path);
// Makes the folder, for this user alone, and replaces the file whole. Throws FileError.
void write_profile_file(const std::filesystem::path& path, const std::string& text);

// Why profiles are not stored in the folder, in words: it is a link, or somebody else could write
// what is read there. Empty if they can be, or if the folder does not exist yet.
std::string why_not_private(const std::filesystem::path& folder);
// Makes the folder if it does not exist yet. Throws FileError if it cannot, or why_not_private().
void require_private_folder(const std::filesystem::path& folder);

// The whole text as JSON. Throws FileError naming `source` if it is none, or of another version.
ProfileJson parse_profile(std::string_view text, const std::string& source, int format);
std::string text_of(const ProfileJson& document);

// Reads what was written and refuses everything else. The document must outlive it.
class ProfileReader {
 public:
  ProfileReader(const ProfileJson& object, const std::string& source)
      : object_(object), source_(source) {}

  [[noreturn]] void refuse(const std::string& why) const { throw FileError(source_, why); }

  bool has(const char* key) const { return object_.is_object() && object_.contains(key); }
  ProfileReader inside(const char* key) const { return ProfileReader(value(key), source_); }

  // A list, each item read by parse(ProfileReader).
  template <class Item, class Parse>
  std::vector<Item> list(const char* key, Parse&& parse) const {
    const ProfileJson& values = value(key);
    if (!values.is_array()) refuse(fmt::format("'{}' is not a list", key));
    std::vector<Item> items;
    for (const ProfileJson& item : values) items.push_back(parse(ProfileReader(item, source_)));
    return items;
  }
  std::string text(const char* key) const {
    const ProfileJson& text = value(key);
    if (!text.is_string()) refuse(fmt::format("'{}' is not a text", key));
    return text.get<std::string>();
  }
  bool yes_or_no(const char* key) const {
    const ProfileJson& answer = value(key);
    if (!answer.is_boolean()) refuse(fmt::format("'{}' is neither true nor false", key));
    return answer.get<bool>();
  }
  // A whole number from 1 to `largest`.
  Offset count(const char* key, Offset largest) const { return whole_number(key, 1, largest); }
  // A whole number from 0 on.
  int index(const char* key) const { return static_cast<int>(whole_number(key, 0, 1 << 20)); }
  int small_count(const char* key) const { return static_cast<int>(count(key, 1 << 20)); }
  Offset bytes(const char* key) const { return count(key, kMostBytes); }
  // From 0 on, without the limit of an index.
  Offset whole(const char* key) const { return whole_number(key, 0, kMostBytes); }
  // 0: no limit.
  Offset limit_bytes(const char* key) const { return whole_number(key, 0, kMostBytes); }
  // A finite number, not negative.
  double number(const char* key) const {
    const ProfileJson& number = value(key);
    if (!number.is_number()) refuse(fmt::format("'{}' is not a number", key));
    const double result = number.get<double>();
    if (!std::isfinite(result) || result < 0) {
      refuse(fmt::format("'{}' is {}, which is impossible", key, number.dump()));
    }
    return result;
  }
  double positive(const char* key) const {
    const double result = number(key);
    if (result == 0) refuse(fmt::format("'{}' is 0, which is impossible", key));
    return result;
  }

 private:
  static constexpr Offset kMostBytes = Offset{1} << 60;

  Offset whole_number(const char* key, Offset smallest, Offset largest) const {
    const ProfileJson& number = value(key);
    if (!number.is_number_integer()) refuse(fmt::format("'{}' is not a whole number", key));
    if (number < smallest || number > largest) {
      refuse(fmt::format("'{}' is {}, outside {} … {}", key, number.dump(), smallest, largest));
    }
    return number.get<Offset>();
  }
  const ProfileJson& value(const char* key) const {
    if (!object_.is_object()) refuse(fmt::format("'{}' is not inside an object", key));
    const auto found = object_.find(key);
    if (found == object_.end()) refuse(fmt::format("lacks '{}'", key));
    return *found;
  }

  const ProfileJson& object_;
  const std::string& source_;
};

// A BandwidthPoint or a Plateau.
template <class Point>
Point point_from(const ProfileReader& reader) {
  return {.threads = reader.small_count("threads"),
          .bytes = reader.bytes("bytes"),
          .bytes_per_second = reader.positive("bytes_per_second")};
}

// By threads, then by working set: what the interpolation relies on.
template <class Point>
std::vector<Point> points_from(const ProfileReader& reader, const char* key) {
  const auto points = reader.list<Point>(key, point_from<Point>);
  if (points.empty()) reader.refuse(fmt::format("'{}' is empty", key));
  for (std::size_t i = 1; i < points.size(); ++i) {
    const Point& before = points[i - 1];
    const Point& point = points[i];
    if (std::pair(before.threads, before.bytes) >= std::pair(point.threads, point.bytes)) {
      reader.refuse(fmt::format("'{}' is not in order", key));
    }
  }
  return points;
}

template <class Point>
ProfileJson json_of(const std::vector<Point>& points) {
  ProfileJson list = ProfileJson::array();
  for (const Point& point : points) {
    list.push_back({{"threads", point.threads},
                    {"bytes", point.bytes},
                    {"bytes_per_second", point.bytes_per_second}});
  }
  return list;
}

inline ProfileJson json_of(const HockneyFit& hockney) {
  ProfileJson json{{"overhead_seconds", hockney.overhead_seconds},
                   {"bytes_per_second", hockney.bytes_per_second},
                   {"relative_error", hockney.relative_error}};
  for (const TimedRead& read : hockney.samples) {
    json["samples"].push_back({{"bytes", read.bytes}, {"seconds", read.seconds}});
  }
  return json;
}

inline TimedRead sample_from(const ProfileReader& reader) {
  return {.bytes = reader.bytes("bytes"), .seconds = reader.positive("seconds")};
}

inline HockneyFit hockney_from(const ProfileReader& reader) {
  HockneyFit hockney{.overhead_seconds = reader.number("overhead_seconds"),
                     .bytes_per_second = reader.positive("bytes_per_second"),
                     .relative_error = reader.number("relative_error")};
  // Profiles of before samples were kept are as good without them.
  if (reader.has("samples")) hockney.samples = reader.list<TimedRead>("samples", sample_from);
  return hockney;
}

ProfileJson json_of(const MachineFingerprint& fingerprint);
MachineFingerprint fingerprint_from(const ProfileReader& reader);
// In words, for a remark; empty if it is the same.
std::string what_changed(const MachineFingerprint& stored, const MachineFingerprint& now);

// read() reads back what a program supplied, by the rules that files obey. Throws InvalidArgument.
template <class Read>
void require_usable(Read&& read) {
  try {
    read();
  } catch (const FileError& failure) {
    throw InvalidArgument(failure.what());
  }
}

// Stores what was measured just now: save() may throw FileError, which costs a remark.
template <class Known, class Save>
void store(Known& known, const std::filesystem::path& path, Save&& save) {
  if (path.empty()) {
    known.remark = "not stored: neither STRATA_CACHE_DIR nor a home folder says where";
    return;
  }
  try {
    require_private_folder(path.parent_path());
    save(known.profile);
    known.stored = true;
  } catch (const FileError& failure) {
    known.remark = fmt::format("not stored: {}", failure.what());
  }
}

// What load() finds; if that is nothing, or useless, what measure() gives; if the policy forbids
// that, assume(). load() throws FileError for what cannot be used. A folder that others can write
// counts as empty; the remark on storing says so.
template <class Known, class Load, class Measure, class Assume>
Known load_or_else(const std::filesystem::path& path, const ProfilePolicy& policy, Load&& load,
                   Measure&& measure, Assume&& assume) {
  std::string failed;
  try {
    if (policy.read && !path.empty() && why_not_private(path.parent_path()).empty()) {
      if (auto profile = load()) return {.profile = *std::move(profile), .stored = true};
    }
  } catch (const FileError& failure) {
    failed = failure.what();
  }
  if (!policy.measure) {
    std::string remark = "predicted with default figures: the profile policy forbids measuring";
    if (!failed.empty()) remark += fmt::format("; {}", failed);
    return {.profile = assume(), .remark = std::move(remark)};
  }
  Known known = measure();
  if (!failed.empty()) {
    const std::string remark = fmt::format("measured again: {}", failed);
    known.remark = known.remark.empty() ? remark : fmt::format("{}; {}", remark, known.remark);
  }
  return known;
}

}  // namespace strata::detail
