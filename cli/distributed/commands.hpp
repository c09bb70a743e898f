// The commands that know several ranks. Each runs on all of them and throws the same on all.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cli/parts/document.hpp"
#include "cli/parts/options.hpp"
#include "cli/parts/power_settings.hpp"
#include "cli/parts/rank_options.hpp"
#include "cli/parts/solve_backends.hpp"
#include "cli/parts/terminal.hpp"
#include "strata/formats/any_matrix.hpp"
#include "strata/measure/contest.hpp"
#include "strata/solvers/linear_solver.hpp"

namespace strata::cli::distributed {

struct ProductSettings {
  CommonOptions common;
  MeasuringOptions measuring;
  LayoutOptions layout;
  std::string matrix;
  std::vector<std::string> formats;  // none: what plans choose
  bool ours = true;
  bool peers = true;
};
// Returns the text; adds a measurement for each product.
std::string run_spmv(const ProductSettings& settings, std::vector<Measurement>& measured,
                     ResultDocument& document, Progress& progress);

struct PowersOfRanks {
  CommonOptions common;
  MeasuringOptions measuring;
  PowerSettings power;
  LayoutOptions layout;
  std::string matrix;
  int depth = 0;  // of exchanges; 0: chosen
};
std::string run_mpk(const PowersOfRanks& settings, std::vector<Measurement>& measured,
                    ResultDocument& document, Progress& progress);

// What solving a system took on every rank.
struct RankCosts {
  Offset messages = 0;
  Offset bytes = 0;
  Offset reductions = 0;
  double seconds = 0;
};

// A linear system that all ranks have. All functions are collective.
struct SystemOnRanks {
  Precision precision = Precision::double_real;
  std::string name = {};
  Offset rows = 0;
  // From x = 0; the residual is computed from the rows of the ranks, by no plan.
  std::function<BackendSolution(const solvers::LinearSolverOptions&, const solvers::SolveOptions&,
                                int depth, std::vector<RankCosts>& costs)>
      solve = {};
  // The last solution.
  std::function<void(const std::string& path)> write_solution = {};
};
SystemOnRanks load_system(const std::string& matrix, const CommonOptions& common,
                          const LayoutOptions& layout, const std::string& right_hand_side,
                          std::uint64_t seed, ResultDocument& document, Progress& progress);
// "ranks", "messages", "message_bytes", "reductions", "imbalance", "per_rank".
Json json_of(const std::vector<RankCosts>& costs);
// "4 ranks, 6 messages with 1.2 kB and 3 reductions", for a sentence.
std::string text_of(const std::vector<RankCosts>& costs);

// Of the network alone, after rank 0 has told about its machine.
std::string run_network(double seconds, ResultDocument& document, Progress& progress);

}  // namespace strata::cli::distributed
