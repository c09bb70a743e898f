#include "strata/tune/register_profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

#include "strata/base/array.hpp"
#include "strata/base/checked.hpp"
#include "strata/base/error.hpp"
#include "strata/base/parallel.hpp"
#include "strata/bench/timing.hpp"
#include "strata/formats/bcsr.hpp"
#include "strata/kernels/cpu/levels.hpp"
#include "strata/kernels/cpu/parts.hpp"
#include "strata/machine/cached_profile.hpp"
#include "strata/machine/internal/profile_file.hpp"
#include "strata/machine/internal/profile_keeper.hpp"
#include "strata/machine/measure.hpp"
#include "strata/machine/system.hpp"

namespace strata {

namespace {

namespace fs = std::filesystem;
using detail::ProfileReader;
using Json = detail::ProfileJson;

// Goes up whenever keys of stored profiles, or their meaning, change.
constexpr int kFormat = 1;
constexpr int kRounds = 2;
constexpr Offset kSmallestOrder = 1008;
constexpr Offset kLargestOrder = 3600;

int threads_of(const RegisterOptions& options) {
  return options.threads > 0 ? options.threads : thread_count();
}

Offset value_bytes(Precision precision) {
  return with_types(precision, 32, []<Value V, Index I>() { return Offset{sizeof(V)}; });
}

double flops_per_entry(Precision precision) {
  return with_types(precision, 32, []<Value V, Index I>() { return is_complex<V> ? 8.0 : 2.0; });
}

double flops_of_product(const RegisterOptions& options, Offset order) {
  return flops_per_entry(options.precision) * static_cast<double>(order) *
         static_cast<double>(order);
}

Offset order_of(const RegisterOptions& options) {
  if (options.order > 0) return options.order;
  const auto bytes = static_cast<double>(2 * reported_profile().last_level_bytes());
  const auto wanted =
      static_cast<Offset>(std::sqrt(bytes / static_cast<double>(value_bytes(options.precision))));
  const Offset whole = ceil_div<Offset>(wanted, kCommonBlockMultiple) * kCommonBlockMultiple;
  return std::clamp(whole, kSmallestOrder, kLargestOrder);
}

void require_sensible(const RegisterOptions& options) {
  detail::require_index_bits(options.index_bits);
  if (options.order < 0 || options.order % kCommonBlockMultiple != 0) {
    throw InvalidArgument(
        fmt::format("blocks of all sizes do not divide a matrix of order {}: it "
                    "has to be a multiple of {}",
                    options.order, kCommonBlockMultiple));
  }
  if (options.threads < 0 || options.threads > kMaxThreads) {
    throw InvalidArgument(fmt::format("a register profile of {} threads", options.threads));
  }
  if (!(options.seconds > 0)) {
    throw InvalidArgument(fmt::format("a register profile in {} seconds", options.seconds));
  }
}

// All that the profile describes but its numbers.
RegisterProfile described(const RegisterOptions& options) {
  return {.processor = processor_name(),
          .fingerprint = machine_fingerprint(),
          .precision = options.precision,
          .index_bits = options.index_bits,
          .threads = threads_of(options),
          .level = std::string(cpu::name_of(cpu::level())),
          .order = order_of(options),
          .measured_at = utc_now()};
}

// A matrix without a zero.
template <Value V, Index I>
Bcsr<V, I> dense_in_blocks(I order, BlockSize block) {
  const Offset block_rows = order / block.rows;
  const Offset block_cols = order / block.cols;
  Array<Offset> offsets(block_rows + 1);
  for (Offset i = 0; i <= block_rows; ++i) offsets[i] = i * block_cols;
  Array<I> columns(block_rows * block_cols);
  for (Offset i = 0; i < block_rows * block_cols; ++i) columns[i] = static_cast<I>(i % block_cols);
  const Offset values = checked_multiply<Offset>(order, order, "the entries of a dense matrix");
  return Bcsr<V, I>(order, order, static_cast<I>(block.rows), static_cast<I>(block.cols),
                    std::move(offsets), std::move(columns), Array<V>(values, V{1}));
}

template <Value V, Index I>
double seconds_of_block(BlockSize block, I order, int threads, const TimingOptions& timing) {
  if constexpr (cpu::HasStep<Bcsr<V, I>>) {
    const Bcsr<V, I> matrix = dense_in_blocks<V, I>(order, block);
    const Array<V> x(order, V{1});
    Array<V> y(order, V{});
    const auto multiply = [&] {
      run_on_threads(threads, [&](int thread, int team) {
        cpu::step(matrix, {}, {x.data(), nullptr, y.data(), 1},
                  cpu::balanced_rows(matrix, thread, team));
      });
    };
    return time_runs(multiply, timing).minimum;
  } else {
    throw Unavailable("BCSR has no kernel for processors: there is no register profile to measure");
  }
}

bool usable(double number) {
  return std::isfinite(number) && number > 0;
}

std::string doubts_about_registers(const RegisterProfile& profile, const RegisterOptions& options) {
  const MeasuringConditions conditions = measuring_conditions({.threads = profile.threads});
  MachineProfile team;
  team.cores = profile.threads;
  std::string doubts = doubts_about(team, conditions);
  if (profile.spread > options.largest_spread) {
    doubts += fmt::format(
        "{}the machine was busy: one of two rounds took {:.1f} times as long as the other",
        doubts.empty() ? "" : "; ", profile.spread);
  }
  return doubts;
}

Json json_of(const BlockTable& table) {
  Json numbers = Json::array();
  for (const BlockSize block : all_block_sizes()) {
    numbers.push_back({{"block_rows", block.rows},
                       {"block_cols", block.cols},
                       {"flops_per_second", table.at(block)}});
  }
  return numbers;
}

BlockTable table_from(const ProfileReader& reader, const char* key) {
  struct Cell {
    BlockSize block;
    double number;
  };
  const auto cells = reader.list<Cell>(key, [](const ProfileReader& cell) {
    return Cell{{cell.small_count("block_rows"), cell.small_count("block_cols")},
                cell.positive("flops_per_second")};
  });
  const std::vector<BlockSize> wanted = all_block_sizes();
  if (!std::ranges::equal(cells, wanted, {}, &Cell::block)) {
    reader.refuse(fmt::format("'{}' does not have every block size once, in order", key));
  }
  BlockTable table;
  for (const Cell& cell : cells) table.at(cell.block) = cell.number;
  return table;
}

// Why a stored profile is not the one of these options; empty if it is.
std::string what_differs(const RegisterProfile& stored, const RegisterOptions& options) {
  const RegisterProfile wanted = described(options);
  if (stored.processor != wanted.processor || stored.precision != wanted.precision ||
      stored.index_bits != wanted.index_bits || stored.threads != wanted.threads ||
      stored.level != wanted.level || stored.order != wanted.order) {
    return "is the profile of something else";
  }
  const std::string changes = detail::what_changed(stored.fingerprint, wanted.fingerprint);
  return changes.empty() ? "" : "is out of date: " + changes;
}

}  // namespace

BlockTimer dense_block_timer(const RegisterOptions& options) {
  require_sensible(options);
  const Offset order = order_of(options);
  const int threads = threads_of(options);
  const auto shapes = static_cast<double>(all_block_sizes().size());
  // Half of the time goes into making the matrices.
  const TimingOptions timing{.min_seconds = options.seconds / (2 * kRounds * shapes),
                             .min_repetitions = 3};
  return [=, precision = options.precision, bits = options.index_bits](BlockSize block) {
    return with_types(precision, bits, [&]<Value V, Index I>() {
      return seconds_of_block<V, I>(block, narrow<I>(order, "the order of a dense matrix"), threads,
                                    timing);
    });
  };
}

RegisterProfile measure_register_profile(const RegisterOptions& options, const BlockTimer& timer) {
  require_sensible(options);
  const auto started = std::chrono::steady_clock::now();
  RegisterProfile profile = described(options);
  const double flops = flops_of_product(options, profile.order);
  const std::vector<BlockSize> blocks = all_block_sizes();
  BlockTable fastest;
  BlockTable slowest;
  const auto steps = static_cast<double>(kRounds * blocks.size());
  double done = 0;
  for (int round = 0; round < kRounds; ++round) {
    for (const BlockSize block : blocks) {
      if (options.progress) {
        options.progress(fmt::format("blocks of {} x {}", block.rows, block.cols), done / steps);
      }
      const double seconds = timer(block);
      if (!usable(seconds)) {
        throw InvalidArgument(fmt::format("a product in blocks of {} x {} took {} seconds",
                                          block.rows, block.cols, seconds));
      }
      fastest.at(block) = round == 0 ? seconds : std::min(fastest.at(block), seconds);
      slowest.at(block) = std::max(slowest.at(block), seconds);
      ++done;
    }
  }
  double ratios = 0;
  for (const BlockSize block : blocks) {
    profile.flops_per_second.at(block) = flops / fastest.at(block);
    ratios += slowest.at(block) / fastest.at(block);
  }
  profile.spread = ratios / static_cast<double>(blocks.size());
  profile.measuring_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  return profile;
}

RegisterProfile default_register_profile(const RegisterOptions& options) {
  require_sensible(options);
  constexpr double kBytesPerSecond = 20e9;
  RegisterProfile profile = described(options);
  const auto value = static_cast<double>(value_bytes(options.precision));
  const double index = options.index_bits / 8.0;
  for (const BlockSize block : all_block_sizes()) {
    const double bytes_per_entry = value + index / (block.rows * block.cols);
    profile.flops_per_second.at(block) =
        flops_per_entry(options.precision) * kBytesPerSecond / bytes_per_entry;
  }
  return profile;
}

std::string to_json(const RegisterProfile& profile) {
  return detail::text_of({{"format", kFormat},
                          {"processor", profile.processor},
                          {"fingerprint", detail::json_of(profile.fingerprint)},
                          {"precision", name_of(profile.precision)},
                          {"index_bits", profile.index_bits},
                          {"threads", profile.threads},
                          {"level", profile.level},
                          {"order", profile.order},
                          {"spread", profile.spread},
                          {"measured_at", profile.measured_at},
                          {"measuring_seconds", profile.measuring_seconds},
                          {"blocks", json_of(profile.flops_per_second)}});
}

RegisterProfile register_profile_from_json(std::string_view text, const std::string& source) {
  const Json document = detail::parse_profile(text, source, kFormat);
  const ProfileReader reader(document, source);
  RegisterProfile profile;
  profile.processor = reader.text("processor");
  profile.fingerprint = detail::fingerprint_from(reader.inside("fingerprint"));
  const auto precision = precision_named(reader.text("precision"));
  if (!precision) reader.refuse("'precision' is not the name of one");
  profile.precision = *precision;
  profile.index_bits = reader.small_count("index_bits");
  profile.threads = reader.small_count("threads");
  profile.level = reader.text("level");
  profile.order = reader.small_count("order");
  profile.spread = reader.positive("spread");
  profile.measured_at = reader.text("measured_at");
  profile.measuring_seconds = reader.number("measuring_seconds");
  profile.flops_per_second = table_from(reader, "blocks");
  return profile;
}

fs::path register_profile_path(const RegisterOptions& options) {
  const fs::path folder = cache_folder();
  if (folder.empty()) return {};
  const RegisterProfile profile = described(options);
  return folder / detail::profile_file_name(
                      "registers",
                      fmt::format("{}|{}|{}|{}|{}|{}|{}", profile.fingerprint.host,
                                  profile.processor, name_of(profile.precision), profile.index_bits,
                                  profile.threads, profile.level, profile.order));
}

CachedRegisterProfile load_or_measure_registers(const fs::path& path,
                                                const RegisterOptions& options,
                                                const std::function<BlockTimer()>& make_timer,
                                                const ProfilePolicy& policy) {
  require_sensible(options);
  const auto load = [&]() -> std::optional<RegisterProfile> {
    const auto text = detail::read_profile_file(path);
    if (!text) return std::nullopt;
    RegisterProfile profile = register_profile_from_json(*text, path.string());
    const std::string differs = what_differs(profile, options);
    if (!differs.empty()) throw FileError(path.string(), differs);
    return profile;
  };
  const auto measure = [&] {
    CachedRegisterProfile known{.profile = measure_register_profile(options, make_timer()),
                                .measured = true};
    if (!policy.write) return known;
    if (const std::string doubts = doubts_about_registers(known.profile, options);
        !doubts.empty()) {
      known.remark = fmt::format("not stored: {}", doubts);
      return known;
    }
    detail::store(known, path, [&](const RegisterProfile& profile) {
      detail::write_profile_file(path, to_json(profile));
    });
    return known;
  };
  return detail::load_or_else<CachedRegisterProfile>(
      path, policy, load, measure, [&] { return default_register_profile(options); });
}

const CachedRegisterProfile& cached_register_profile(Precision precision, int index_bits) {
  static detail::ProfileKeeper<CachedRegisterProfile> keeper;
  RegisterOptions options{
      .precision = precision, .index_bits = index_bits, .threads = thread_count()};
  require_sensible(options);
  // One number for all that tells profiles of this machine apart.
  int kind = static_cast<int>(precision);
  kind = 2 * kind + (index_bits == 64 ? 1 : 0);
  kind = 8 * kind + static_cast<int>(cpu::level());
  kind = (kMaxThreads + 1) * kind + options.threads;
  return keeper.get(kind, [&](const ProfilePolicy& policy) {
    options.progress = policy.progress;
    return load_or_measure_registers(
        register_profile_path(options), options, [&] { return dense_block_timer(options); },
        policy);
  });
}

BlockChoice choose_block_size(const BlockTable& flops_per_second, const BlockTable& fill) {
  BlockChoice choice;
  for (const BlockSize block : all_block_sizes()) {
    if (!usable(flops_per_second.at(block)) || !usable(fill.at(block))) {
      throw InvalidArgument(fmt::format("blocks of {} x {} with {} flops per second and fill {}",
                                        block.rows, block.cols, flops_per_second.at(block),
                                        fill.at(block)));
    }
    choice.expected.at(block) = flops_per_second.at(block) / fill.at(block);
  }
  choice.best = choice.expected.place_of_largest();
  return choice;
}

}  // namespace strata
