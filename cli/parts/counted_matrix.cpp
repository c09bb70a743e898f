#include "cli/parts/counted_matrix.hpp"

#include <fmt/format.h>

#include <chrono>

#include "cli/parts/exit_status.hpp"
#include "strata/base/error.hpp"
#include "strata/measure/matrix_analysis.hpp"

namespace strata::cli {

namespace {

void require_countable_bytes(const MatrixSource& source, const AnyMatrix& matrix) {
  try {
    static_cast<void>(work_of(matrix).minimum_bytes());
  } catch (const OverflowError& error) {
    throw Failure(ExitStatus::input, fmt::format("{}: {}", source.argument, error.what()));
  }
}

}  // namespace

CountedMatrix load_and_count(const MatrixSource& source, const CommonOptions& options,
                             ResultDocument& document, Progress& progress) {
  document.describe_matrix(describe(source));
  const auto begin = std::chrono::steady_clock::now();
  CountedMatrix counted{load_matrix(source, options, progress), {}};
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  counted.load_seconds = seconds.count();
  require_countable_bytes(source, counted.matrix);
  progress.start("counting");
  counted.statistics = statistics_of(counted.matrix);
  document.describe_matrix(describe(source, counted.statistics));
  return counted;
}

}  // namespace strata::cli
