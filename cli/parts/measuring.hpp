// What the benchmarks share: the machine profile, the options of a contest, and their text.
#pragma once

#include <optional>
#include <string>

#include "cli/parts/document.hpp"
#include "cli/parts/terminal.hpp"
#include "strata/machine/cached_profile.hpp"
#include "strata/measure/contest.hpp"

namespace strata::cli {

// The profile of this machine, measured now if none is cached. Adds to the document what benchmarks
// compare with.
const CachedProfile& find_machine(ResultDocument& document, Progress& progress);

// The contest as the command holds it: progress is shown, and Ctrl-C ends it.
ContestOptions contest_options(const MeasuringOptions& options, Progress& progress);

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
