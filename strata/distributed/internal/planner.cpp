#include "strata/distributed/internal/planner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <complex>
#include <limits>

#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/distributed/powers.hpp"
#include "strata/distributed/product.hpp"
#include "strata/solvers/block_jacobi.hpp"
#include "strata/solvers/diagonal.hpp"

namespace strata::distributed::detail {

using solvers::ClockedScope;
using solvers::Operator;
using solvers::ProcessorSpace;
using solvers::SpectrumBounds;
using solvers::detail::PlannedPowers;
using solvers::detail::PlannedProduct;

namespace {

// What both kinds of plans say of their vectors.
template <Value V>
class RankVectors {
 public:
  RankVectors(const Communicator& ranks, const Partition& rows, std::shared_ptr<Stop> stop)
      : ranks_(&ranks), rows_(rows), stop_(std::move(stop)) {}

  Offset rows() const { return rows_.size(ranks_->rank()); }
  Offset first_row() const { return rows_.begin(ranks_->rank()); }
  int ranks() const { return ranks_->size(); }

  ProcessorSpace<V> make_space(Offset elements, int vectors, int threads) const {
    return {elements,
            threads,
            {rows_.elements() * vectors,
             [ranks = ranks_, stop = stop_, message = std::vector<V>()](std::span<V> sums) mutable {
               message.assign(sums.begin(), sums.end());
               message.push_back(V(stop->wanted ? 1 : 0));
               ranks->sum(std::span<V>(message));
               if (std::real(message.back()) > 0) stop->agreed = true;
               std::copy_n(message.begin(), sums.size(), sums.begin());
             }}};
  }
  static void copy(std::span<const V> from, std::span<V> to, int threads) {
    const ThreadCountScope scope(threads);
    parallel_chunks(std::ssize(from), [&](Offset begin, Offset end) {
      std::copy(from.begin() + begin, from.begin() + end, to.begin() + begin);
    });
  }

 private:
  const Communicator* ranks_;
  Partition rows_;
  std::shared_ptr<Stop> stop_;
};

template <Value V>
class RankProduct final : public PlannedProduct<ProcessorSpace<V>> {
 public:
  using Space = ProcessorSpace<V>;

  RankProduct(DistributedProduct<V> product, RankVectors<V> vectors)
      : product_(std::move(product)),
        workspace_(product_.make_workspace()),
        vectors_(std::move(vectors)) {}

  Offset rows() const override { return vectors_.rows(); }
  Offset first_row() const override { return vectors_.first_row(); }
  Offset vector_rows() const override { return vectors_.rows(); }
  int vectors() const override { return 1; }
  Space make_space(Offset elements) const override {
    return vectors_.make_space(elements, 1, threads());
  }
  void multiply(std::span<const V> x, std::span<V> y) override {
    const ClockedScope clock(seconds_);
    product_.apply(x, y, workspace_);
  }
  void to_plan_order(std::span<const V> of_rows, std::span<V> ordered) override {
    vectors_.copy(of_rows, ordered, threads());
  }
  void to_caller_order(std::span<const V> ordered, std::span<V> of_rows) override {
    vectors_.copy(ordered, of_rows, threads());
  }
  double seconds() override { return seconds_; }
  Stopwatch stopwatch() const override { return host_stopwatch(); }
  void finish() override {}
  std::string variant() const override {
    return fmt::format("by rows on {} ranks", vectors_.ranks());
  }
  std::string explain() const override { return product_.explain(); }
  int threads() const override { return product_.threads(); }

  DistributedProduct<V>& product() { return product_; }

 private:
  DistributedProduct<V> product_;
  typename DistributedProduct<V>::Workspace workspace_;
  RankVectors<V> vectors_;
  double seconds_ = 0;
};

template <Value V>
class RankPowers final : public PlannedPowers<ProcessorSpace<V>> {
 public:
  using Space = ProcessorSpace<V>;

  RankPowers(DistributedPowers<V> powers, RankVectors<V> vectors)
      : powers_(std::move(powers)),
        workspace_(powers_.make_workspace()),
        vectors_(std::move(vectors)) {}

  Offset rows() const override { return vectors_.rows(); }
  Offset first_row() const override { return vectors_.first_row(); }
  Offset vector_rows() const override { return vectors_.rows(); }
  int vectors() const override { return powers_.vectors(); }
  Space make_space(Offset elements) const override {
    return vectors_.make_space(elements, vectors(), threads());
  }
  int power() const override { return powers_.power(); }
  void set_basis(const Basis& basis) override { powers_.set_basis(basis); }
  void multiply(std::span<const V> x, std::span<V> y) override {
    const ClockedScope clock(multiplied_);
    powers_.multiply(x, y, workspace_);
  }
  void apply_first(int count, std::span<const V> x, std::span<V> powers) override {
    const ClockedScope clock(swept_.seconds);
    powers_.apply_first(count, x, powers, workspace_);
    swept_.products += Offset{count} * vectors();
  }
  void apply_sum(std::span<const V> x, std::span<const V> coefficients, std::span<V> sum) override {
    const ClockedScope clock(swept_.seconds);
    powers_.apply_sum(x, coefficients, sum, workspace_);
    swept_.products += Offset{power()} * vectors();
  }
  void apply_last(std::span<const V> x, std::span<V> last) override {
    powers_.apply_last(x, last, workspace_);
  }
  void to_plan_order(std::span<const V> of_rows, std::span<V> ordered) override {
    vectors_.copy(of_rows, ordered, threads());
  }
  void to_caller_order(std::span<const V> ordered, std::span<V> of_rows) override {
    vectors_.copy(ordered, of_rows, threads());
  }
  double seconds() override { return swept_.seconds + multiplied_; }
  typename PlannedPowers<Space>::Swept swept() override { return swept_; }
  Stopwatch stopwatch() const override { return host_stopwatch(); }
  void finish() override {}
  std::string variant() const override {
    return fmt::format("powers with halos of depth {} on {} ranks", powers_.depth(),
                       vectors_.ranks());
  }
  std::string explain() const override { return powers_.explain(); }
  int threads() const override { return powers_.threads(); }

  DistributedPowers<V>& powers() { return powers_; }

 private:
  DistributedPowers<V> powers_;
  typename DistributedPowers<V>::Workspace workspace_;
  RankVectors<V> vectors_;
  typename PlannedPowers<Space>::Swept swept_;
  double multiplied_ = 0;
};

template <Value V, Index I>
class RankPlanner final : public solvers::detail::SystemPlanner<ProcessorSpace<V>> {
 public:
  using Space = ProcessorSpace<V>;

  RankPlanner(const Communicator& ranks, const DistributedMatrix<V, I>& matrix,
              const RankPlans& plans)
      : ranks_(ranks), matrix_(matrix), plans_(plans) {}

  Offset rows() const override { return matrix_.rows.elements(); }
  SpectrumBounds gershgorin() const override {
    if (rows() == 0) return {};
    std::array<double, 2> bounds{-std::numeric_limits<double>::infinity(),
                                 -std::numeric_limits<double>::infinity()};
    if (matrix_.local.rows() > 0) {
      const SpectrumBounds own = solvers::gershgorin_bounds(matrix_.local, first_row());
      bounds = {-own.low, own.high};
    }
    ranks_.max(std::span<double>(bounds));
    return {.low = -bounds[0], .high = bounds[1], .smallest = -bounds[0], .largest = bounds[1]};
  }
  int most_columns() const override { return std::numeric_limits<int>::max(); }
  std::unique_ptr<PlannedProduct<Space>> plan_product(bool autotune) const override {
    return product({.autotune = autotune, .threads = plans_.threads});
  }
  std::unique_ptr<PlannedPowers<Space>> plan_powers(int power, int vectors,
                                                    bool autotune) const override {
    return powers(
        {.power = power, .vectors = vectors, .autotune = autotune, .threads = plans_.threads});
  }

  std::unique_ptr<PlannedProduct<Space>> product(const ProductOptions& options) const override {
    DistributedOptions distributed{.layout = Layout::rows, .product = options};
    distributed.product.vector_order = VectorOrder::caller;
    return std::make_unique<RankProduct<V>>(DistributedProduct<V>(ranks_, matrix_, distributed),
                                            vectors());
  }
  std::unique_ptr<PlannedPowers<Space>> powers(const PowerOptions& options) const override {
    DistributedPowerOptions distributed{
        .power = options, .depth = plans_.depth, .network = plans_.network};
    distributed.power.vector_order = VectorOrder::caller;
    return std::make_unique<RankPowers<V>>(DistributedPowers<V>(ranks_, matrix_, distributed),
                                           vectors());
  }
  void update(PlannedProduct<Space>& plan) const override {
    if (auto* const product = dynamic_cast<RankProduct<V>*>(&plan)) {
      product->product().update_values(matrix_);
    } else {
      dynamic_cast<RankPowers<V>&>(plan).powers().update_values(matrix_);
    }
  }
  std::vector<V> inverse_diagonal() const override {
    return ranks_.together_make(
        [&] { return solvers::inverse_diagonal(matrix_.local, first_row()); });
  }
  Operator<Space> block_jacobi(int block_rows, PlannedProduct<Space>& plan) const override {
    using Blocks = solvers::BlockJacobi<V, I>;
    const int threads = plan.threads();
    const auto blocks = ranks_.together_make([&] {
      const ThreadCountScope scope(threads);
      return std::make_shared<const Blocks>(matrix_.local, block_rows, first_row());
    });
    return [blocks, threads](std::span<const V> x, std::span<V> y) {
      const ThreadCountScope scope(threads);
      blocks->apply(x, y);
    };
  }

 private:
  Offset first_row() const { return matrix_.rows.begin(ranks_.rank()); }
  RankVectors<V> vectors() const { return {ranks_, matrix_.rows, plans_.stop}; }

  const Communicator& ranks_;
  const DistributedMatrix<V, I>& matrix_;
  RankPlans plans_;
};

}  // namespace

template <Value V, Index I>
std::unique_ptr<solvers::detail::SystemPlanner<ProcessorSpace<V>>> rank_planner(
    const Communicator& ranks, const DistributedMatrix<V, I>& matrix, const RankPlans& plans) {
  return std::make_unique<RankPlanner<V, I>>(ranks, matrix, plans);
}

#define STRATA_INSTANTIATE(V, I)                                                            \
  template std::unique_ptr<solvers::detail::SystemPlanner<ProcessorSpace<V>>> rank_planner( \
      const Communicator&, const DistributedMatrix<V, I>&, const RankPlans&)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);
#undef STRATA_INSTANTIATE

}  // namespace strata::distributed::detail
