#include "strata/distributed/exponential.hpp"

#include <fmt/format.h>

#include <array>

#include "strata/base/error.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/distributed/internal/agreement.hpp"
#include "strata/distributed/internal/planner.hpp"
#include "strata/solvers/internal/exponential_on.hpp"

namespace strata::distributed {

using solvers::ExponentialMethod;
using solvers::ExponentialOptions;
using solvers::ExponentialResult;
using solvers::FieldOfValues;
using solvers::ProcessorSpace;

namespace {

template <Value V, Index I>
class RankMatrix final : public solvers::detail::ExponentialMatrix<ProcessorSpace<V>> {
 public:
  using Space = ProcessorSpace<V>;

  RankMatrix(const Communicator& ranks, DistributedMatrix<V, I> matrix,
             const detail::RankPlans& plans)
      : ranks_(ranks),
        matrix_(std::move(matrix)),
        plans_(plans),
        planner_(detail::rank_planner(ranks, matrix_, plans)),
        mirror_(detail::transposed(ranks, matrix_)) {}

  Offset rows() const override { return matrix_.local.rows(); }
  bool has_last_row() const override { return ranks_.rank() + 1 == ranks_.size(); }
  double largest(double here) const override { return ranks_.max(here); }
  double sum(double here) const override { return ranks_.sum(here); }
  bool hermitian() const override { return detail::is_hermitian(ranks_, matrix_, mirror_); }
  std::complex<double> mean_of_diagonal() const override {
    return ranks_.sum(solvers::detail::sum_of_diagonal(matrix_.local, first_row())) /
           static_cast<double>(matrix_.rows.elements());
  }
  double norm(std::complex<double> shift) const override {
    std::array<double, 2> sums{
        solvers::detail::largest_sum_of_row(matrix_.local, shift, first_row()),
        solvers::detail::largest_sum_of_row(mirror_.local, shift, first_row())};
    ranks_.max(std::span<double>(sums));
    return std::min(sums[0], sums[1]);
  }
  FieldOfValues field_of_values() const override {
    if (matrix_.rows.elements() == 0) return {};
    const FieldOfValues own = solvers::field_of_rows(matrix_.local, mirror_.local, first_row());
    std::array<double, 4> sides{-own.real_low, own.real_high, -own.imaginary_low,
                                own.imaginary_high};
    ranks_.max(std::span<double>(sides));
    return {-sides[0], sides[1], -sides[2], sides[3]};
  }
  const solvers::detail::Planner<Space>& planner() const override { return *planner_; }
  std::unique_ptr<solvers::detail::ExponentialMatrix<Space>> augmented(V time, std::span<const V> b,
                                                                       int k) const override {
    std::vector<Offset> offsets{0};
    for (int part = 0; part < matrix_.rows.parts(); ++part) {
      offsets.push_back(matrix_.rows.end(part));
    }
    offsets.back() += k;
    const Partition rows(std::move(offsets));
    return std::make_unique<RankMatrix>(
        ranks_, DistributedMatrix<V, I>{rows, rows, ranks_.together_make([&] {
                                          return solvers::detail::augmented(matrix_.local, time, b,
                                                                            k, has_last_row());
                                        })},
        plans_);
  }

 private:
  Offset first_row() const { return matrix_.rows.begin(ranks_.rank()); }

  const Communicator& ranks_;
  DistributedMatrix<V, I> matrix_;
  detail::RankPlans plans_;
  std::unique_ptr<solvers::detail::Planner<Space>> planner_;
  DistributedMatrix<V, I> mirror_;  // Aᵀ
};

}  // namespace

template <Value V>
struct MatrixExponential<V>::State {
  using Space = ProcessorSpace<V>;

  template <Index I>
  State(const Communicator& communicator, const DistributedMatrix<V, I>& matrix,
        const ExponentialOptions& asked, const SweepOptions& sweeps)
      : ranks(communicator),
        progress(asked.progress),
        agreement(communicator),
        exponential(rank_matrix(matrix, asked, sweeps), agreed(asked)) {
    if (asked.method == ExponentialMethod::chebyshev && !exponential.hermitian()) {
      detail::throw_not_hermitian<V>("chebyshev");
    }
  }

  template <Index I>
  std::unique_ptr<solvers::detail::ExponentialMatrix<Space>> rank_matrix(
      const DistributedMatrix<V, I>& matrix, const ExponentialOptions& asked,
      const SweepOptions& sweeps) {
    detail::require_square(matrix, "the exponential");
    ranks.require_same(
        "the options of an exponential",
        fmt::format("method {}, tolerance {}, degree {}, depth {}", name_of(asked.method),
                    asked.tolerance, asked.most_degree, sweeps.depth));
    solvers::detail::require_exponential_options(asked);
    detail::require_finite(ranks, matrix, "the exponential");
    return std::make_unique<RankMatrix<V, I>>(
        ranks, matrix,
        detail::RankPlans{
            .threads = asked.threads, .depth = sweeps.depth, .network = sweeps.network});
  }

  // Ranks time for different whiles: none times bare powers.
  ExponentialOptions agreed(ExponentialOptions asked) {
    asked.time_bare = false;
    asked.progress = [this](int step, int steps) {
      return agreement.goes_on([&] { return !progress || progress(step, steps); });
    };
    return asked;
  }

  // Of vectors of the right length.
  template <class Work>
  ExponentialResult run(const std::string& what, std::span<const V> v, std::span<V> result,
                        const Work& work) {
    ranks.require_same("what is asked of an exponential", what);
    ranks.together([&] {
      const auto rows = static_cast<std::size_t>(exponential.rows());
      if (v.size() == rows && result.size() == rows) return;
      throw InvalidArgument(fmt::format("vectors of {} and {} elements for {} rows of a rank",
                                        v.size(), result.size(), rows));
    });
    ExponentialResult outcome = work();
    agreement.finish();
    return outcome;
  }

  const Communicator& ranks;
  std::function<bool(int, int)> progress;
  detail::AgreedProgress agreement;
  solvers::detail::ExponentialOn<Space> exponential;
};

template <Value V>
template <Index I>
MatrixExponential<V>::MatrixExponential(const Communicator& ranks,
                                        const DistributedMatrix<V, I>& matrix,
                                        const ExponentialOptions& options,
                                        const SweepOptions& sweeps)
    : state_(std::make_unique<State>(ranks, matrix, options, sweeps)) {}
template <Value V>
MatrixExponential<V>::~MatrixExponential() = default;
template <Value V>
MatrixExponential<V>::MatrixExponential(MatrixExponential&&) noexcept = default;
template <Value V>
MatrixExponential<V>& MatrixExponential<V>::operator=(MatrixExponential&&) noexcept = default;

template <Value V>
ExponentialResult MatrixExponential<V>::apply(double time, std::span<const V> v,
                                              std::span<V> result) {
  return state_->run(fmt::format("time {}", time), v, result,
                     [&] { return state_->exponential.apply({time, false}, v, result); });
}

template <Value V>
ExponentialResult MatrixExponential<V>::apply_imaginary(double time, std::span<const V> v,
                                                        std::span<V> result) {
  if constexpr (is_complex<V>) {
    return state_->run(fmt::format("imaginary time {}", time), v, result,
                       [&] { return state_->exponential.apply({time, true}, v, result); });
  } else {
    throw InvalidArgument("imaginary time needs complex vectors");
  }
}

template <Value V>
ExponentialResult MatrixExponential<V>::phi(int k, double time, std::span<const V> v,
                                            std::span<V> result) {
  return state_->run(fmt::format("phi {}, time {}", k, time), v, result,
                     [&] { return state_->exponential.phi(k, time, v, result); });
}

template <Value V>
bool MatrixExponential<V>::hermitian() const {
  return state_->exponential.hermitian();
}

template <Value V>
solvers::ChebyshevInterval MatrixExponential<V>::bounds() {
  return state_->exponential.interval();
}

#define STRATA_INSTANTIATE_CLASS(V, unused) template class MatrixExponential<V>
STRATA_FOR_EACH_VALUE(STRATA_INSTANTIATE_CLASS, );
#undef STRATA_INSTANTIATE_CLASS
#define STRATA_INSTANTIATE(V, I)                                                   \
  template MatrixExponential<V>::MatrixExponential(const Communicator&,            \
                                                   const DistributedMatrix<V, I>&, \
                                                   const ExponentialOptions&, const SweepOptions&)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);
#undef STRATA_INSTANTIATE

}  // namespace strata::distributed
