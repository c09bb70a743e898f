// What the benchmarks share: the machine they are compared with, rates, and their JSON.
#pragma once

#include <optional>
#include <string>

#include "cli/json.hpp"
#include "cli/terminal.hpp"
#include "strata/bench/timing.hpp"
#include "strata/machine/cached_profile.hpp"
#include "strata/measure/validation.hpp"

namespace strata::cli {

// The facts of this machine, measured now if nobody has yet. Tells the document what benchmarks
// compare with.
const CachedProfile& find_machine(ResultDocument& document, Progress& progress);

// One timed candidate. Flops and bytes are those of one application.
struct Measurement {
  std::string name = {};  // as the table has it
  double flops = 0;
  double bytes = 0;  // that the kernels read and write, wherever they find them
  Timing timing;
  std::optional<Check> check;  // none with --no-validate

  double flops_per_second() const { return flops / timing.median; }
  double bytes_per_second() const { return bytes / timing.median; }
};

// Adds "seconds", "gflops", "gbytes_per_second" and "error".
void add_measurement(Json& result, const Measurement& measurement);

// The lines above a table: the matrix, the processor and its memory, and both.
std::string matrix_text(const MatrixSource& source, const MatrixStatistics& statistics);
std::string processor_text(const MachineProfile& profile, int threads);
std::string heading_text(const MatrixSource& source, const MatrixStatistics& statistics,
                         const MachineProfile& profile, int threads);

// 1.2e10 as "12.0": billions per second, with three digits.
std::string giga_text(double per_second);
// 0.87 as "87 %".
std::string percent_text(double share);

// What the checks of all results say, in a sentence or two, and the failure of the first that did
// not pass.
std::string check_text(const std::vector<Measurement>& measurements);
void require_passed(const std::vector<Measurement>& measurements, const std::string& command);

}  // namespace strata::cli
