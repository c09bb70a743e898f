#include "strata/machine/stored_facts.hpp"

#include <fmt/format.h>

#include <cstdlib>

#include "strata/machine/internal/fact_file.hpp"

namespace strata {

namespace {

namespace fs = std::filesystem;
using detail::FactReader;
using Json = detail::FactJson;

// Goes up whenever stored facts change their meaning.
constexpr int kFormat = 1;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

CacheFacts cache_from(const FactReader& reader) {
  return {.level = reader.small_count("level"),
          .bytes = reader.bytes("bytes"),
          .shared_by = reader.small_count("shared_by")};
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
  return cache_folder() / detail::fact_file_name("machine", identity);
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
                      {"plateaus", detail::json_of(facts.plateaus)},
                      {"read", detail::json_of(facts.read)},
                      {"stream",
                       {{"copy_bytes_per_second", stream.copy},
                        {"scale_bytes_per_second", stream.scale},
                        {"add_bytes_per_second", stream.add},
                        {"triad_bytes_per_second", stream.triad},
                        {"dot_bytes_per_second", stream.dot},
                        {"array_bytes", stream.array_bytes}}},
                      {"fork_join_seconds", facts.fork_join_seconds},
                      {"handoff_seconds", facts.handoff_seconds},
                      {"ramp_up", detail::json_of(facts.ramp_up)}};
  return detail::text_of(document);
}

MachineFacts facts_from_json(std::string_view text, const std::string& source) {
  const Json document = detail::parse_facts(text, source, kFormat);
  const FactReader reader(document, source);
  MachineFacts facts;
  facts.processor = reader.text("processor");
  facts.cores = reader.small_count("cores");
  facts.measured_at = reader.text("measured_at");
  facts.measuring_seconds = reader.number("measuring_seconds");
  facts.caches = reader.list<CacheFacts>("caches", cache_from);
  facts.plateaus = detail::points_from<Plateau>(reader, "plateaus");
  facts.read = detail::points_from<BandwidthPoint>(reader, "read");
  const FactReader stream = reader.inside("stream");
  facts.stream = {.copy = stream.positive("copy_bytes_per_second"),
                  .scale = stream.positive("scale_bytes_per_second"),
                  .add = stream.positive("add_bytes_per_second"),
                  .triad = stream.positive("triad_bytes_per_second"),
                  .dot = stream.positive("dot_bytes_per_second"),
                  .array_bytes = stream.bytes("array_bytes")};
  facts.fork_join_seconds = reader.number("fork_join_seconds");
  facts.handoff_seconds = reader.number("handoff_seconds");
  facts.ramp_up = detail::ramp_up_from(reader.inside("ramp_up"));
  return facts;
}

std::optional<MachineFacts> load_facts(const fs::path& path) {
  const auto text = detail::read_fact_file(path);
  if (!text) return std::nullopt;
  return facts_from_json(*text, path.string());
}

void save_facts(const MachineFacts& facts, const fs::path& path) {
  detail::write_fact_file(path, to_json(facts));
}

KnownFacts measure_anew(const fs::path& path, const MeasureOptions& options) {
  KnownFacts known{.facts = measure_machine(options), .remark = "", .measured = true};
  const int cores = reported_facts(options.threads).cores;
  if (known.facts.cores != cores) {
    known.remark =
        fmt::format("measured with {} of {} threads, hence not stored", known.facts.cores, cores);
    return known;
  }
  detail::store(known, [&](const MachineFacts& facts) { save_facts(facts, path); });
  return known;
}

KnownFacts load_or_measure(const fs::path& path, const MeasureOptions& options) {
  return detail::load_or_else<KnownFacts>([&] { return load_facts(path); },
                                          [&] { return measure_anew(path, options); });
}

const KnownFacts& known_machine() {
  static const KnownFacts known = load_or_measure(facts_path(), {.seconds = 1.5});
  return known;
}

}  // namespace strata
