#include "strata/machine/stored_facts.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "strata/base/error.hpp"
#include "strata/base/random.hpp"
#include "strata/io/replace_file.hpp"

namespace strata {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// Goes up whenever stored facts change their meaning.
constexpr int kFormat = 1;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0;
  for (const char letter : text) hash = mix_bits(hash + static_cast<unsigned char>(letter) + 1);
  return hash;
}

// Reads what to_json wrote and refuses everything else.
class Reader {
 public:
  Reader(const Json& object, const std::string& source) : object_(object), source_(source) {}

  [[noreturn]] void refuse(const std::string& why) const { throw FileError(source_, why); }

  Reader inside(const char* key) const { return Reader(value(key), source_); }

  // A list of `kind`, each read by parse(Reader).
  template <class Item, class Parse>
  std::vector<Item> list(const char* key, Parse&& parse) const {
    const Json& values = value(key);
    if (!values.is_array()) refuse(fmt::format("'{}' is no list", key));
    std::vector<Item> items;
    for (const Json& item : values) items.push_back(parse(Reader(item, source_)));
    return items;
  }
  std::string text(const char* key) const {
    const Json& text = value(key);
    if (!text.is_string()) refuse(fmt::format("'{}' is no text", key));
    return text.get<std::string>();
  }
  // A whole number from 1 to `largest`.
  Offset count(const char* key, Offset largest) const {
    const Json& number = value(key);
    if (!number.is_number_integer()) refuse(fmt::format("'{}' is no whole number", key));
    if (number < 1 || number > largest) {
      refuse(fmt::format("'{}' is {}, outside 1 … {}", key, number.dump(), largest));
    }
    return number.get<Offset>();
  }
  int small_count(const char* key) const { return static_cast<int>(count(key, 1 << 20)); }
  Offset bytes(const char* key) const { return count(key, Offset{1} << 60); }
  // A finite number, not negative.
  double number(const char* key) const {
    const Json& number = value(key);
    if (!number.is_number()) refuse(fmt::format("'{}' is no number", key));
    const double result = number.get<double>();
    if (!std::isfinite(result) || result < 0) {
      refuse(fmt::format("'{}' is {}, which cannot be", key, number.dump()));
    }
    return result;
  }
  double positive(const char* key) const {
    const double result = number(key);
    if (result == 0) refuse(fmt::format("'{}' is 0, which cannot be", key));
    return result;
  }

 private:
  const Json& value(const char* key) const {
    if (!object_.is_object()) refuse(fmt::format("'{}' is not where it belongs", key));
    const auto found = object_.find(key);
    if (found == object_.end()) refuse(fmt::format("lacks '{}'", key));
    return *found;
  }

  const Json& object_;
  const std::string& source_;
};

CacheFacts cache_from(const Reader& reader) {
  return {.level = reader.small_count("level"),
          .bytes = reader.bytes("bytes"),
          .shared_by = reader.small_count("shared_by")};
}

// A BandwidthPoint or a Plateau.
template <class Point>
Point point_from(const Reader& reader) {
  return {.threads = reader.small_count("threads"),
          .bytes = reader.bytes("bytes"),
          .bytes_per_second = reader.positive("bytes_per_second")};
}

// By threads, then by working set: what the interpolation relies on.
template <class Point>
std::vector<Point> points_from(const Reader& reader, const char* key) {
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
Json json_of(const std::vector<Point>& points) {
  Json list = Json::array();
  for (const Point& point : points) {
    list.push_back({{"threads", point.threads},
                    {"bytes", point.bytes},
                    {"bytes_per_second", point.bytes_per_second}});
  }
  return list;
}

}  // namespace

fs::path cache_folder() {
  if (const std::string folder = environment("STRATA_CACHE_DIR"); !folder.empty()) return folder;
  if (const std::string caches = environment("XDG_CACHE_HOME"); !caches.empty()) {
    return fs::path(caches) / "strata";
  }
  if (const std::string home = environment("HOME"); !home.empty()) {
    return fs::path(home) / ".cache" / "strata";
  }
  return fs::path("/tmp") / "strata";
}

fs::path facts_path(int threads) {
  const MachineFacts facts = reported_facts(threads);
  std::string identity = fmt::format("{}|{}|{}", kFormat, facts.processor, facts.cores);
  for (const CacheFacts& cache : facts.caches) {
    identity += fmt::format("|L{} {} {}", cache.level, cache.bytes, cache.shared_by);
  }
  return cache_folder() / fmt::format("machine-{:016x}.json", hash_of(identity));
}

std::string to_json(const MachineFacts& facts) {
  Json caches = Json::array();
  for (const CacheFacts& cache : facts.caches) {
    caches.push_back(
        {{"level", cache.level}, {"bytes", cache.bytes}, {"shared_by", cache.shared_by}});
  }
  const StreamRates& stream = facts.stream;
  const Json document{{"format", kFormat},
                      {"processor", facts.processor},
                      {"cores", facts.cores},
                      {"measured_at", facts.measured_at},
                      {"measuring_seconds", facts.measuring_seconds},
                      {"caches", caches},
                      {"plateaus", json_of(facts.plateaus)},
                      {"read", json_of(facts.read)},
                      {"stream",
                       {{"copy_bytes_per_second", stream.copy},
                        {"scale_bytes_per_second", stream.scale},
                        {"add_bytes_per_second", stream.add},
                        {"triad_bytes_per_second", stream.triad},
                        {"dot_bytes_per_second", stream.dot},
                        {"array_bytes", stream.array_bytes}}},
                      {"fork_join_seconds", facts.fork_join_seconds},
                      {"handoff_seconds", facts.handoff_seconds},
                      {"ramp_up",
                       {{"overhead_seconds", facts.ramp_up.overhead_seconds},
                        {"bytes_per_second", facts.ramp_up.bytes_per_second},
                        {"relative_error", facts.ramp_up.relative_error}}}};
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

MachineFacts facts_from_json(std::string_view text, const std::string& source) {
  const Json document = Json::parse(text, nullptr, false);
  const Reader reader(document, source);
  if (document.is_discarded()) reader.refuse("is not JSON, or not all of it");
  const Offset format = reader.count("format", Offset{1} << 60);
  if (format != kFormat) {
    reader.refuse(fmt::format("has facts of version {}, not {}", format, kFormat));
  }
  MachineFacts facts;
  facts.processor = reader.text("processor");
  facts.cores = reader.small_count("cores");
  facts.measured_at = reader.text("measured_at");
  facts.measuring_seconds = reader.number("measuring_seconds");
  facts.caches = reader.list<CacheFacts>("caches", cache_from);
  facts.plateaus = points_from<Plateau>(reader, "plateaus");
  facts.read = points_from<BandwidthPoint>(reader, "read");
  const Reader stream = reader.inside("stream");
  facts.stream = {.copy = stream.positive("copy_bytes_per_second"),
                  .scale = stream.positive("scale_bytes_per_second"),
                  .add = stream.positive("add_bytes_per_second"),
                  .triad = stream.positive("triad_bytes_per_second"),
                  .dot = stream.positive("dot_bytes_per_second"),
                  .array_bytes = stream.bytes("array_bytes")};
  facts.fork_join_seconds = reader.number("fork_join_seconds");
  facts.handoff_seconds = reader.number("handoff_seconds");
  const Reader ramp_up = reader.inside("ramp_up");
  facts.ramp_up = {.overhead_seconds = ramp_up.number("overhead_seconds"),
                   .bytes_per_second = ramp_up.positive("bytes_per_second"),
                   .relative_error = ramp_up.number("relative_error")};
  return facts;
}

std::optional<MachineFacts> load_facts(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) return std::nullopt;
  if (status.type() != fs::file_type::regular) {
    throw FileError(path.string(), error ? error.message() : "is no regular file");
  }
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file) throw FileError(path.string(), "cannot be read");
  return facts_from_json(text, path.string());
}

void save_facts(const MachineFacts& facts, const fs::path& path) {
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  if (error) throw FileError(path.parent_path().string(), error.message());
  replace_file(path, to_json(facts));
}

KnownFacts measure_anew(const fs::path& path, const MeasureOptions& options) {
  KnownFacts known{.facts = measure_machine(options), .remark = "", .measured = true};
  const int cores = reported_facts(options.threads).cores;
  if (known.facts.cores != cores) {
    known.remark =
        fmt::format("measured with {} of {} threads, hence not stored", known.facts.cores, cores);
    return known;
  }
  try {
    save_facts(known.facts, path);
  } catch (const FileError& failure) {
    known.remark = fmt::format("not stored: {}", failure.what());
  }
  return known;
}

KnownFacts load_or_measure(const fs::path& path, const MeasureOptions& options) {
  std::string remark;
  try {
    if (auto facts = load_facts(path)) return {.facts = *std::move(facts)};
  } catch (const FileError& failure) {
    remark = fmt::format("measured anew: {}", failure.what());
  }
  KnownFacts known = measure_anew(path, options);
  if (!remark.empty()) {
    known.remark = known.remark.empty() ? remark : fmt::format("{}; {}", remark, known.remark);
  }
  return known;
}

const KnownFacts& known_machine() {
  static const KnownFacts known = load_or_measure(facts_path(), {.seconds = 1.5});
  return known;
}

}  // namespace strata
