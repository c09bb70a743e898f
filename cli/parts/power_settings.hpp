// The options of the commands about powers: what to compute, and how. Lists and ranges are tried
// in full: every power with every cache size.
#pragma once

#include <string>
#include <vector>

#include "cli/parts/backends.hpp"
#include "cli/parts/options.hpp"
#include "strata/measure/power_contest.hpp"

namespace strata::cli {

struct PowerSettings {
  PowerSweep sweep;  // without the strategies, which the backend decides about
  std::string strategy = "auto";
  std::string backend = "cpu";
  bool best_power = false;  // -p best: plans choose p
  Offset products = 0;      // for so many; 0: kUsualProducts

  static constexpr Offset kUsualProducts = 100;

  // Throws InvalidArgument unless -p, --products and --cache-size go together.
  void require_choice() const;
  // The strategies to try: one, or for "all" each of them, the plan's choice last. Throws
  // Unavailable for what runs elsewhere only.
  std::vector<PowerStrategy> cpu_strategies() const;
  std::vector<PowerStrategy> gpu_strategies() const;
  PowerSweep sweep_of(std::vector<PowerStrategy> strategies) const;
  // With -p best for as many products as were asked for, whatever the power.
  PowerOptions options_for(int power, Offset cache_bytes, PowerStrategy strategy) const;
  // The same settings for one power.
  PowerSettings with_power(int power) const;
};

// -p
void add_powers_option(CommandOptions& command, std::vector<int>& powers, const std::string& help);
// All of them; `with_all`: the strategy may be "all".
void add_power_options(CommandOptions& command, PowerSettings& settings, bool with_all,
                       const std::string& backend_help);

// "1,2,5:8" is 1, 2, 5, 6, 7, 8.
std::vector<int> parse_powers(const std::string& text);
// "512k", "1M,2M" or "512k:4M", which doubles from one to the other. Units are powers of 1024.
std::vector<Offset> parse_sizes(const std::string& text);
// "monomial", "scaled=S", "chebyshev=LOW:HIGH" or "newton=S1,S2,…"; complex shifts are "RE:IM".
Basis parse_basis(const std::string& text);

}  // namespace strata::cli
