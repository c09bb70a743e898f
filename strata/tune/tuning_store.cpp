#include "strata/tune/tuning_store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <mutex>
#include <system_error>
#include <utility>

#include "strata/base/error.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/formats/registry.hpp"
#include "strata/formats/stored_values.hpp"
#include "strata/formats/value_table.hpp"
#include "strata/kernels/product_spec.hpp"
#include "strata/machine/cached_profile.hpp"
#include "strata/machine/gpu/cached_profile.hpp"
#include "strata/machine/internal/profile_file.hpp"
#include "strata/machine/system.hpp"
#include "strata/tune/product_search.hpp"

namespace strata {

namespace {

namespace fs = std::filesystem;
using detail::ProfileReader;
using Json = detail::ProfileJson;

// Goes up whenever keys of entries, or their meaning, change.
constexpr int kFormat = 3;
// Entries have a few hundred bytes: a file beyond this for each is none of ours.
constexpr std::size_t kMostBytesOfEntry = 16384;

struct Entry {
  TuningKey key;
  TunedChoice choice;
};

std::string hex(std::uint64_t number) {
  return fmt::format("{:016x}", number);
}

std::uint64_t hex_from(const ProfileReader& reader, const char* key) {
  const std::string digits = reader.text(key);
  std::uint64_t number = 0;
  const char* const end = digits.data() + digits.size();
  const auto read = std::from_chars(digits.data(), end, number, 16);
  if (read.ec != std::errc() || read.ptr != end) {
    reader.refuse(fmt::format("'{}' is not a hexadecimal number", key));
  }
  return number;
}

Json json_of(const std::vector<NamedNumber>& parameters) {
  Json list = Json::array();
  for (const NamedNumber& parameter : parameters) {
    list.push_back({{"name", parameter.name}, {"value", parameter.value}});
  }
  return list;
}

Json json_of(const Entry& entry) {
  const Fingerprint& matrix = entry.key.matrix;
  return {{"matrix",
           {{"rows", matrix.rows},
            {"cols", matrix.cols},
            {"entries", matrix.entries},
            {"sum", hex(matrix.sums[0])},
            {"second_sum", hex(matrix.sums[1])}}},
          {"machine", entry.key.machine},
          {"precision", name_of(entry.key.precision)},
          {"threads", entry.key.threads},
          {"vectors", entry.key.vectors},
          {"encoded_eighths", entry.key.encoded_eighths},
          {"format", text_of(entry.choice.format)},
          {"kernel", entry.choice.kernel},
          {"parameters", json_of(entry.choice.parameters)},
          {"seconds", entry.choice.seconds},
          {"flops_per_second", entry.choice.flops_per_second},
          {"tuned_at", entry.choice.tuned_at},
          {"candidates", entry.choice.candidates}};
}

Precision precision_from(const ProfileReader& reader) {
  const auto precision = precision_named(reader.text("precision"));
  if (!precision) reader.refuse("'precision' is not the name of one");
  return *precision;
}

// Throws InvalidArgument for a format that is not known, and FileError for the rest.
Entry entry_from(const ProfileReader& reader) {
  const ProfileReader matrix = reader.inside("matrix");
  const auto parameter_from = [](const ProfileReader& parameter) {
    return NamedNumber{parameter.text("name"), parameter.whole("value")};
  };
  return {.key = {.matrix = {.rows = matrix.whole("rows"),
                             .cols = matrix.whole("cols"),
                             .entries = matrix.whole("entries"),
                             .sums = {hex_from(matrix, "sum"), hex_from(matrix, "second_sum")}},
                  .machine = reader.text("machine"),
                  .precision = precision_from(reader),
                  .threads = reader.index("threads"),
                  .vectors = reader.index("vectors"),
                  .encoded_eighths = reader.index("encoded_eighths")},
          .choice = {.format = parse_format_spec(reader.text("format")),
                     .kernel = reader.text("kernel"),
                     .parameters = reader.list<NamedNumber>("parameters", parameter_from),
                     .seconds = reader.positive("seconds"),
                     .flops_per_second = reader.number("flops_per_second"),
                     .tuned_at = reader.text("tuned_at"),
                     .candidates = reader.small_count("candidates")}};
}

// What was read of a file, and why the rest was not.
struct Contents {
  std::vector<Entry> entries = {};  // oldest first
  std::string problem = {};
};

// Those of the document that can be read. Throws FileError for what is no store.
Contents contents_of(std::string_view text, const std::string& source) {
  const Json document = detail::parse_profile(text, source, kFormat);
  const auto list = document.find("choices");
  if (list == document.end() || !list->is_array()) throw FileError(source, "lacks 'choices'");
  Contents contents;
  std::size_t unreadable = 0;
  for (const Json& item : *list) {
    try {
      contents.entries.push_back(entry_from(ProfileReader(item, source)));
    } catch (const Error&) {
      ++unreadable;  // one that is not ours says nothing about the others
    }
  }
  if (unreadable > 0) {
    contents.problem = fmt::format("{}: {} of {} entries cannot be read", source, unreadable,
                                   unreadable + contents.entries.size());
  }
  return contents;
}

// Nothing of a file that is missing, unreadable, too large or no store.
Contents contents_in(const fs::path& path, std::size_t capacity) {
  std::error_code unknown;  // reading it reports what is wrong
  if (path.empty() || !fs::exists(path, unknown)) return {};
  if (std::string reason = detail::why_not_private(path.parent_path()); !reason.empty()) {
    return {.problem = std::move(reason)};
  }
  try {
    const auto bytes = fs::file_size(path, unknown);
    if (!unknown && bytes / kMostBytesOfEntry > capacity) {
      return {.problem = fmt::format("{}: {} bytes are too many for {} entries", path.string(),
                                     bytes, capacity)};
    }
    const auto text = detail::read_profile_file(path);
    return text ? contents_of(*text, path.string()) : Contents{};
  } catch (const FileError& failure) {
    return {.problem = failure.what()};
  }
}

std::string text_of(const std::vector<Entry>& entries) {
  Json list = Json::array();
  for (const Entry& entry : entries) list.push_back(json_of(entry));
  return detail::text_of({{"format", kFormat}, {"choices", std::move(list)}});
}

void require_storable(const Entry& entry) {
  const std::string text = text_of(std::vector{entry});
  if (text.size() > kMostBytesOfEntry) {
    throw InvalidArgument(fmt::format("a tuned choice of {} bytes", text.size()));
  }
  const std::string source = "the tuned choice";
  detail::require_usable([&] {
    const Json document = Json::parse(text);
    entry_from(ProfileReader(document.at("choices").at(0), source));
  });
}

// Read, changed and written by one thread at a time.
std::mutex& file_mutex() {
  static std::mutex mutex;
  return mutex;
}

std::string key_of(std::string_view kind, std::string_view identity) {
  return fs::path(detail::profile_file_name(kind, identity)).stem().string();
}

}  // namespace

std::string machine_key(const MachineProfile& profile) {
  std::string identity = fmt::format("{}|{}|{}", profile.processor, profile.cores,
                                     detail::json_of(profile.fingerprint).dump());
  for (const CacheLevel& cache : profile.caches) {
    identity += fmt::format("|L{} {} {}", cache.level, cache.bytes, cache.shared_by);
  }
  return key_of("machine", identity + "|" + names_of_products(KernelTarget::processor));
}

std::string machine_key(const gpu::GpuProfile& profile) {
  // Without the number of the device: its twins are as fast.
  gpu::GpuProfile described;
  described.device = profile.device;
  described.device.index = 0;
  return key_of("gpu", gpu::to_json(described) + "|" + names_of_products(KernelTarget::gpu));
}

template <Value V, Index I>
int encoded_eighths(const Csr<V, I>& matrix) {
  constexpr Offset kSampleEntries = Offset{1} << 16;
  if (hardly_repeat(matrix.values())) return 8;
  const Csr<V, I> sample = sample_of_rows(matrix, kSampleEntries);
  const auto value_bytes = [&](StoredValues most) {
    const FormatSpec spec(Format::packed_sell, {{"values", static_cast<Offset>(most)}});
    return footprint(sample, spec).value_bytes;
  };
  const Offset full = value_bytes(StoredValues::full);
  if (full == 0) return 8;
  const double share =
      static_cast<double>(value_bytes(StoredValues::all)) / static_cast<double>(full);
  return static_cast<int>(std::lround(8 * share));
}

#define STRATA_INSTANTIATE(V, I) template int encoded_eighths(const Csr<V, I>&)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

fs::path tuning_store_path() {
  const fs::path folder = cache_folder();
  return folder.empty() ? fs::path() : folder / "tuning.json";
}

TuningStore::TuningStore(fs::path path, ProfilePolicy policy, std::size_t capacity)
    : path_(std::move(path)), policy_(std::move(policy)), capacity_(capacity) {
  if (capacity == 0) throw InvalidArgument("a tuning store without room for an entry");
}

TuningAnswer TuningStore::look_up(const TuningKey& key) const {
  if (!policy_.read) return {};
  const std::lock_guard lock(file_mutex());
  Contents contents = contents_in(path_, capacity_);
  const std::vector<Entry>& entries = contents.entries;
  TuningAnswer answer{.problem = std::move(contents.problem)};
  const auto found = std::find_if(entries.rbegin(), entries.rend(),
                                  [&](const Entry& entry) { return entry.key == key; });
  if (found != entries.rend()) answer.choice = found->choice;
  return answer;
}

std::string TuningStore::remember(const TuningKey& key, const TunedChoice& choice) const {
  Entry entry{key, choice};
  if (entry.choice.tuned_at.empty()) entry.choice.tuned_at = utc_now();
  require_storable(entry);
  if (!policy_.write) return "not stored: the profile policy forbids writing";
  if (path_.empty()) return "not stored: neither STRATA_CACHE_DIR nor a home folder says where";
  const std::lock_guard lock(file_mutex());
  try {
    detail::require_private_folder(path_.parent_path());
    std::vector<Entry> entries = contents_in(path_, capacity_).entries;
    std::erase_if(entries, [&](const Entry& old) { return old.key == key; });
    entries.push_back(std::move(entry));
    if (entries.size() > capacity_) {
      entries.erase(entries.begin(), entries.end() - static_cast<std::ptrdiff_t>(capacity_));
    }
    detail::write_profile_file(path_, text_of(entries));
  } catch (const FileError& failure) {
    return fmt::format("not stored: {}", failure.what());
  }
  return "";
}

std::size_t TuningStore::size() const {
  if (!policy_.read) return 0;
  const std::lock_guard lock(file_mutex());
  return contents_in(path_, capacity_).entries.size();
}

}  // namespace strata
