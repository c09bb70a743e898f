#include "cli/power_settings.hpp"

#include <fmt/format.h>

#include <CLI/Validators.hpp>
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
    throw InvalidArgument(fmt::format("'{}' is no {}", text, what));
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
  if (count < 1) throw InvalidArgument(fmt::format("{} bytes are no cache", count));
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

// An option whose text `parse` turns into a setting; what it throws is wrong usage.
template <class Parse>
CLI::Option* add_parsed(CLI::App& command, const std::string& name, const Parse& parse,
                        const std::string& help) {
  return command.add_option_function<std::string>(
      name,
      [name, parse](const std::string& text) {
        try {
          parse(text);
        } catch (const Error& error) {
          throw CLI::ValidationError(name, error.what());
        }
      },
      help);
}

// An option with one of the names that `name_of` gives to the values.
template <class Enum, std::size_t count>
void add_choice(CLI::App& command, const std::string& option, Enum& setting,
                const std::array<Enum, count>& values, const std::string& help) {
  std::map<std::string, Enum> names;
  for (const Enum value : values) names.emplace(name_of(value), value);
  command
      .add_option_function<std::string>(
          option, [names, &setting](const std::string& name) { setting = names.at(name); }, help)
      ->type_name("NAME")
      ->check(CLI::IsMember(names));
}

}  // namespace

std::vector<int> parse_powers(const std::string& text) {
  std::vector<int> powers;
  for (const std::string& word : split_list(text)) {
    const auto [first, last] = ends_of(word);
    const int begin = parse_power(first);
    const int end = last.empty() && word == first ? begin : parse_power(last);
    if (end < begin) throw InvalidArgument(fmt::format("'{}' counts down", word));
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
    if (end < begin) throw InvalidArgument(fmt::format("'{}' counts down", word));
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
  throw InvalidArgument(
      fmt::format("'{}' is none of monomial, scaled=S, chebyshev=LOW:HIGH, newton=S1,S2,…", text));
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
  return options;
}

void add_powers_option(CLI::App& command, std::vector<int>& powers, const std::string& help) {
  add_parsed(
      command, "-p,--power", [&powers](const std::string& text) { powers = parse_powers(text); },
      help)
      ->type_name("P");
}

void add_power_options(CLI::App& command, PowerSettings& settings, bool with_all,
                       const std::string& backend_help) {
  add_powers_option(command, settings.sweep.powers,
                    "Powers per application, 4 when not given; 1:12 and 2,4,6 try several");
  std::vector<std::string> strategies{"auto", "spmv", "levels", "wavefront", "graph"};
  if (with_all) strategies.push_back("all");
  command.add_option("--strategy", settings.strategy, "How to compute powers")
      ->type_name("NAME")
      ->check(CLI::IsMember(strategies))
      ->capture_default_str();
  add_choice(
      command, "--format", settings.sweep.options.format,
      std::array{Format::automatic, Format::csr, Format::sell, Format::packed_sell, Format::ell},
      "How the matrix is stored; chosen when not given");
  command
      .add_option("--slice-height", settings.sweep.options.slice_height,
                  "Rows per slice of the sliced formats; chosen when not given")
      ->type_name("C")
      ->check(CLI::IsMember({4, 8, 16, 32}));
  add_parsed(
      command, "--cache-size",
      [&settings](const std::string& text) { settings.sweep.cache_sizes = parse_sizes(text); },
      "The cache that windows are planned for: on the processor that of all threads together, on a "
      "GPU its L2; as measured when not given; 512k:4M and 1M,2M try several")
      ->type_name("BYTES[k|M|G]");
  command
      .add_option("--cache-share", settings.sweep.options.cache_share,
                  "The share of the cache that windows may fill, a safety factor; 0.7 on "
                  "processors and 1 on GPUs when not given")
      ->type_name("SHARE")
      ->check(CLI::PositiveNumber);
  add_parsed(
      command, "--basis",
      [&settings](const std::string& text) { settings.sweep.options.basis = parse_basis(text); },
      "monomial, scaled=S, chebyshev=LOW:HIGH or newton=S1,S2,… (complex shifts are RE:IM)")
      ->type_name("BASIS");
  command.add_option("--vectors", settings.sweep.options.vectors, "Right-hand sides at a time")
      ->type_name("N")
      ->check(CLI::Range(1, cpu::kMaxVectors))
      ->capture_default_str();
  command
      .add_option("--block", settings.sweep.options.block,
                  "Powers per sweep; chosen when not given")
      ->type_name("B")
      ->check(CLI::Range(1, kMostPowers));
  const std::map<std::string, VectorOrder> orders{{"caller", VectorOrder::caller},
                                                  {"plan", VectorOrder::plan}};
  command
      .add_option_function<std::string>(
          "--order",
          [&settings, orders](const std::string& name) {
            settings.sweep.options.vector_order = orders.at(name);
          },
          "Vectors in the caller's row order, copies in and out included (the default), or in the "
          "plan's, as solvers keep them")
      ->type_name("ORDER")
      ->check(CLI::IsMember(orders));
  add_backend_option(command, settings.backend, backend_help);
}

}  // namespace strata::cli
