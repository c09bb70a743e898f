#include "strata/execute/gpu/level_powers.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "strata/base/error.hpp"
#include "strata/base/instantiate.hpp"

namespace strata::gpu {

namespace {

template <Value V>
bool same_steps(std::span<const StepCoefficients<V>> a, std::span<const StepCoefficients<V>> b) {
  return std::ranges::equal(a, b, [](const auto& one, const auto& other) {
    return one.alpha == other.alpha && one.shift == other.shift && one.beta == other.beta;
  });
}

}  // namespace

template <Value V>
LevelPowers<V>::LevelPowers(std::shared_ptr<const StoredMatrix<V>> matrix,
                            const Tiling<std::int32_t>& tiling, const LevelPowersShape& shape)
    : shape_(shape), matrix_(std::move(matrix)), identity_(std::make_shared<const char>()) {
  if (shape.power < 1 || shape.block < 1) {
    throw InvalidArgument(
        fmt::format("{} powers in blocks of {} cannot be computed", shape.power, shape.block));
  }
  for (int done = 0; done < shape.power; done += shape.block) {
    const int power = std::min(shape.block, shape.power - done);
    if (!sweeps_.empty() && sweeps_.back().power() == power) {
      sweeps_.push_back(sweeps_.back());
    } else {
      sweeps_.emplace_back(tiling, wavefront_schedule(tiling, power));
    }
  }
}

template <Value V>
LevelPowers<V> LevelPowers<V>::with_matrix(std::shared_ptr<const StoredMatrix<V>> matrix) const {
  LevelPowers other = *this;
  other.matrix_ = std::move(matrix);
  other.identity_ = std::make_shared<const char>();
  return other;
}

template <Value V>
Offset LevelPowers<V>::launches() const {
  Offset launches = 0;
  for (const LevelSweep<V>& sweep : sweeps_) launches += std::ssize(sweep.launches());
  return launches;
}

template <Value V>
Offset LevelPowers<V>::scratch_elements() const {
  if (!matrix_) throw InvalidArgument("these powers were never made, or moved from");
  return std::visit([&](const auto& matrix) { return matrix.scratch_elements(shape_.vectors); },
                    *matrix_);
}

template <Value V>
typename LevelPowers<V>::Workspace LevelPowers<V>::make_workspace() const {
  Workspace workspace;
  workspace.scratch = DeviceScratch<V>(scratch_elements());
  return workspace;
}

template <Value V>
void LevelPowers<V>::run(std::span<V* const> vectors, std::span<const StepCoefficients<V>> steps,
                         Workspace& workspace, Stream& stream) const {
  if (steps.empty() || std::ssize(steps) > shape_.power || vectors.size() != steps.size() + 1) {
    throw InvalidArgument(fmt::format("{} powers were given {} steps and {} vectors", shape_.power,
                                      steps.size(), vectors.size()));
  }
  if (workspace.scratch.size() != scratch_elements()) {
    throw InvalidArgument("the workspace was made for another matrix");
  }
  if (std::ssize(steps) < shape_.power) {
    for (std::size_t k = 0; k < steps.size(); ++k) {
      run_one(steps[k], k > 0 ? vectors[k - 1] : nullptr, vectors[k], vectors[k + 1], workspace,
              stream);
    }
    return;
  }
  if (!shape_.in_graph || launches() == 0 || is_captured(stream)) {
    launch(vectors, steps, workspace.scratch.span(), stream);
    return;
  }
  const bool recorded = workspace.graph && workspace.recorded_by == identity_ &&
                        std::ranges::equal(workspace.vectors, vectors) &&
                        same_steps<V>(workspace.steps, steps);
  if (!recorded) {
    // A graph that still runs ends before the runtime gives its memory back.
    workspace.graph =
        Graph::capture(stream, [&] { launch(vectors, steps, workspace.scratch.span(), stream); });
    workspace.recorded_by = identity_;
    workspace.vectors.assign(vectors.begin(), vectors.end());
    workspace.steps.assign(steps.begin(), steps.end());
  }
  workspace.graph->launch(stream);
}

template <Value V>
void LevelPowers<V>::run_one(const StepCoefficients<V>& coefficients, const V* before, const V* x,
                             V* out, Workspace& workspace, Stream& stream) const {
  if (workspace.scratch.size() != scratch_elements()) {
    throw InvalidArgument("the workspace was made for another matrix");
  }
  std::visit(
      [&](const auto& matrix) {
        const Offset elements = Offset{matrix.rows()} * shape_.vectors;
        step(matrix, coefficients,
             {{x, elements},
              {before, before != nullptr ? elements : 0},
              {out, elements},
              shape_.vectors,
              workspace.scratch.span()},
             matrix.all_rows(), stream);
      },
      *matrix_);
}

template <Value V>
void LevelPowers<V>::launch(std::span<V* const> vectors, std::span<const StepCoefficients<V>> steps,
                            ScratchSpan<V> scratch, Stream& stream) const {
  std::visit(
      [&](const auto& matrix) {
        const Offset elements = Offset{matrix.rows()} * shape_.vectors;
        std::size_t first = 0;
        for (const LevelSweep<V>& sweep : sweeps_) {
          const auto power = static_cast<std::size_t>(sweep.power());
          SweepVectors<V> of_sweep;
          of_sweep.count = shape_.vectors;
          of_sweep.scratch = scratch;
          if (first > 0) of_sweep.before = {vectors[first - 1], elements};
          of_sweep.x = {vectors[first], elements};
          for (std::size_t k = 1; k <= power; ++k) {
            of_sweep.powers.push_back({vectors[first + k], elements});
          }
          sweep.run(matrix, of_sweep, steps.subspan(first, power), stream);
          first += power;
        }
      },
      *matrix_);
}

#define STRATA_INSTANTIATE(V, unused) template class LevelPowers<V>
STRATA_FOR_EACH_VALUE(STRATA_INSTANTIATE, );

}  // namespace strata::gpu
