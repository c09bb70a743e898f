#include "cli/parts/power_settings.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <complex>
#include <map>

#include "strata/base/checked.hpp"
#include "strata/base/error.hpp"

namespace strata::cli {

namespace {

constexpr int kMostPowers = 10000;

template <class Number>
Number parse_number(std::string_view text, std::string_view what) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw InvalidArgument(fmt::format("'{}' is not a {}", text, what));
  }
  return number;
}

int parse_power(std::string_view text) {
  const int power = parse_number<int>(text, "power");
  if (power < 1 || power > kMostPowers) {
    throw InvalidArgument(fmt::format("power {} is outside 1 … {}", power, kMostPowers));
  }
  return power;
}

Offset parse_size(std::string_view text) {
  constexpr std::string_view kUnits = "kMG";
  const std::size_t unit = text.empty() ? std::string_view::npos : kUnits.find(text.back());
  Offset factor = 1;
  if (unit != std::string_view::npos) {
    factor = Offset{1} << (10 * (unit + 1));
    text.remove_suffix(1);
  }
  const auto count = parse_number<Offset>(text, "size in bytes");
  if (count < 1) throw InvalidArgument(fmt::format("a cache of {} bytes is not possible", count));
  return checked_multiply<Offset>(count, factor, "the size of a cache in bytes");
}

struct Ends {
  std::string first;
  std::string last;  // empty without a colon
};

Ends ends_of(const std::string& text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos) return {text, ""};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

double parse_real(std::string_view text) {
  return parse_number<double>(text, "number");
}

std::vector<std::complex<double>> parse_shifts(const std::string& text) {
  std::vector<std::complex<double>> shifts;
  for (const std::string& word : split_list(text)) {
    const auto [real, imaginary] = ends_of(word);
    shifts.emplace_back(parse_real(real), imaginary.empty() ? 0.0 : parse_real(imaginary));
  }
  return shifts;
}

// Enumerators follow each other from 0 on, and nothing else has a name.
std::vector<PowerStrategy> all_strategies() {
  std::vector<PowerStrategy> strategies;
  for (int i = 0; !name_of(static_cast<PowerStrategy>(i)).empty(); ++i) {
    strategies.push_back(static_cast<PowerStrategy>(i));
  }
  return strategies;
}

PowerStrategy strategy_named(const std::string& name) {
  for (const PowerStrategy each : all_strategies()) {
    if (name == name_of(each)) return each;
  }
  throw Unavailable(fmt::format("the strategy {} is not available", name));
}

// An option with one of the names that `name_of` gives to the values.
template <class Enum, std::size_t count>
void add_choice(CommandOptions& command, const std::string& option, Enum& setting,
                const std::array<Enum, count>& values, const std::string& help) {
  std::map<std::string, Enum> values_of;
  std::vector<std::string> names;
  for (const Enum value : values) values_of.emplace(name_of(value), value);
  for (const auto& [name, value] : values_of) names.push_back(name);
  command
      .add_parsed(
          option, [values_of, &setting](const std::string& name) { setting = values_of.at(name); },
          help)
      .type_name("NAME")
      .one_of(names);
}

}  // namespace

std::vector<int> parse_powers(const std::string& text) {
  std::vector<int> powers;
  for (const std::string& word : split_list(text)) {
    const auto [first, last] = ends_of(word);
    const int begin = parse_power(first);
    const int end = last.empty() && word == first ? begin : parse_power(last);
    if (end < begin) throw InvalidArgument(fmt::format("'{}' ends before it begins", word));
    for (int power = begin; power <= end; ++power) powers.push_back(power);
  }
  return powers;
}

std::vector<Offset> parse_sizes(const std::string& text) {
  std::vector<Offset> sizes;
  for (const std::string& word : split_list(text)) {
    const auto [first, last] = ends_of(word);
    const Offset begin = parse_size(first);
    const Offset end = last.empty() && word == first ? begin : parse_size(last);
    if (end < begin) throw InvalidArgument(fmt::format("'{}' ends before it begins", word));
    for (Offset size = begin; size <= end; size *= 2) {
      sizes.push_back(size);
      if (size > end / 2) break;
    }
  }
  return sizes;
}

Basis parse_basis(const std::string& text) {
  const std::size_t equals = text.find('=');
  const std::string name = text.substr(0, equals);
  const std::string numbers = equals == std::string::npos ? "" : text.substr(equals + 1);
  if (text == "monomial") return Basis::monomial();
  if (name == "scaled") return Basis::scaled(parse_real(numbers));
  if (name == "newton") return Basis::newton(parse_shifts(numbers));
  if (name == "chebyshev") {
    const auto [low, high] = ends_of(numbers);
    return Basis::chebyshev(parse_real(low), parse_real(high));
  }
  throw InvalidArgument(fmt::format(
      "'{}' is not one of monomial, scaled=S, chebyshev=LOW:HIGH, newton=S1,S2,…", text));
}

std::vector<PowerStrategy> PowerSettings::cpu_strategies() const {
  if (strategy == "graph") {
    throw Unavailable("the strategy graph is not available on processors");
  }
  if (strategy == "all") {
    return {PowerStrategy::levels, PowerStrategy::wavefront, PowerStrategy::automatic};
  }
  return {strategy_named(strategy)};
}

std::vector<PowerStrategy> PowerSettings::gpu_strategies() const {
  if (strategy != "all") return {strategy_named(strategy)};
  std::vector<PowerStrategy> strategies;
  for (const PowerStrategy each : all_strategies()) {
    const bool blocked = each != PowerStrategy::automatic && each != PowerStrategy::spmv;
    if (blocked) strategies.push_back(each);
  }
  strategies.push_back(PowerStrategy::automatic);
  return strategies;
}

PowerSweep PowerSettings::sweep_of(std::vector<PowerStrategy> strategies) const {
  PowerSweep chosen = sweep;
  chosen.strategies = std::move(strategies);
  return chosen;
}

PowerOptions PowerSettings::options_for(int power, Offset cache_bytes,
                                        PowerStrategy chosen_strategy) const {
  PowerOptions options = sweep.options;
  options.power = power;
  options.cache_bytes = cache_bytes;
  options.strategy = chosen_strategy;
  if (best_power) options.products = products > 0 ? products : kUsualProducts;
  return options;
}

PowerSettings PowerSettings::with_power(int power) const {
  PowerSettings settings = *this;
  settings.best_power = false;
  settings.products = 0;
  settings.sweep.powers = {power};
  return settings;
}

void PowerSettings::require_choice() const {
  if (!best_power && products > 0) {
    throw InvalidArgument("--products is for -p best, which chooses the powers per sweep for them");
  }
  if (best_power && sweep.cache_sizes.size() > 1) {
    throw InvalidArgument("-p best chooses p for one --cache-size");
  }
  if (best_power && sweep.options.block > 0) {
    throw InvalidArgument("-p best chooses the powers per sweep, which --block gives");
  }
}

void add_powers_option(CommandOptions& command, std::vector<int>& powers, const std::string& help) {
  command
      .add_parsed(
          "-p,--power", [&powers](const std::string& text) { powers = parse_powers(text); }, help)
      .type_name("P");
}

void add_power_options(CommandOptions& command, PowerSettings& settings, bool with_all,
                       const std::string& backend_help) {
  command
      .add_parsed(
          "-p,--power",
          [&settings](const std::string& text) {
            settings.best_power = text == "best";
            if (!settings.best_power) settings.sweep.powers = parse_powers(text);
          },
          "Powers per application, 4 when not given; 1:12 and 2,4,6 try several; best: the powers "
          "per sweep that are fastest for --products")
      .type_name("P");
  command
      .add_parsed(
          "--products",
          [&settings](const std::string& text) {
            settings.products = parse_number<Offset>(text, "number of products");
            if (settings.products < 1) {
              throw InvalidArgument(fmt::format("{} products are too few", settings.products));
            }
          },
          "With -p best: products that follow one another, 100 when not given")
      .type_name("N");
  std::vector<std::string> strategies{"auto", "spmv", "levels", "wavefront", "graph"};
  if (with_all) strategies.push_back("all");
  command.add("--strategy", settings.strategy, "How to compute powers")
      .type_name("NAME")
      .one_of(strategies)
      .show_default();
  add_choice(
      command, "--format", settings.sweep.options.format,
      std::array{Format::automatic, Format::csr, Format::sell, Format::packed_sell, Format::ell},
      "How the matrix is stored; chosen when not given");
  command
      .add("--slice-height", settings.sweep.options.slice_height,
           "Rows per slice of the sliced formats; chosen when not given")
      .type_name("C")
      .one_of({4, 8, 16, 32});
  command
      .add_parsed(
          "--values",
          [&settings](const std::string& name) {
            settings.sweep.options.values = stored_values_named(name);
          },
          "How far packed-sell encodes values; chosen when not given. full: every value as it is, "
          "for matrices whose values change often")
      .type_name("NAME")
      .one_of(std::vector<std::string>{"auto", "full", "constants", "few", "all"});
  command
      .add_parsed(
          "--cache-size",
          [&settings](const std::string& text) { settings.sweep.cache_sizes = parse_sizes(text); },
          "The cache that windows are planned for: on the processor that of all threads together, "
          "on a "
          "GPU its L2; as measured when not given; 512k:4M and 1M,2M try several")
      .type_name("BYTES[k|M|G]");
  command
      .add("--cache-share", settings.sweep.options.cache_share,
           "The share of the cache that windows may fill, a safety factor; 0.7 on "
           "processors and 1 on GPUs when not given")
      .type_name("SHARE")
      .positive();
  command
      .add_parsed(
          "--basis",
          [&settings](const std::string& text) {
            settings.sweep.options.basis = parse_basis(text);
          },
          "monomial, scaled=S, chebyshev=LOW:HIGH or newton=S1,S2,… (complex shifts are RE:IM)")
      .type_name("BASIS");
  command.add("--vectors", settings.sweep.options.vectors, "Right-hand sides at a time")
      .type_name("N")
      .range(1, cpu::kMaxVectors)
      .show_default();
  command.add("--block", settings.sweep.options.block, "Powers per sweep; chosen when not given")
      .type_name("B")
      .range(1, kMostPowers);
  command
      .add_parsed(
          "--order",
          [&order = settings.sweep.options.vector_order](const std::string& name) {
            order = name == "plan" ? VectorOrder::plan : VectorOrder::caller;
          },
          "Vectors in the caller's row order, copies in and out included (the default), or in the "
          "plan's, as solvers keep them")
      .type_name("ORDER")
      .one_of(std::vector<std::string>{"caller", "plan"});
  add_backend_option(command, settings.backend, backend_help);
}

}  // namespace strata::cli
