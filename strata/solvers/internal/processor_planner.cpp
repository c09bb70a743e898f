#include "strata/solvers/internal/processor_planner.hpp"

#include <limits>

#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/plans/product_plan.hpp"
#include "strata/solvers/block_jacobi.hpp"
#include "strata/solvers/diagonal.hpp"
#include "strata/solvers/internal/variant.hpp"
#include "strata/solvers/processor_powers.hpp"

namespace strata::solvers::detail {

namespace {

template <Value V, Index I>
class ProcessorProduct final : public PlannedProduct<ProcessorSpace<V>> {
 public:
  ProcessorProduct(const Csr<V, I>& matrix, ProductOptions options)
      : plan_(strata::plan_product(matrix, in_plan_order(std::move(options)))),
        workspace_(plan_.make_workspace()) {}

  Offset rows() const override { return plan_.rows(); }
  Offset vector_rows() const override { return plan_.x_rows(); }
  int vectors() const override { return 1; }
  ProcessorSpace<V> make_space(Offset elements) const override {
    return ProcessorSpace<V>(elements, plan_.threads());
  }
  void multiply(std::span<const V> x, std::span<V> y) override {
    const ClockedScope clock(seconds_);
    plan_.apply(x, y, workspace_);
  }
  void to_plan_order(std::span<const V> of_rows, std::span<V> ordered) override {
    plan_.to_plan_order(of_rows, ordered);
  }
  void to_caller_order(std::span<const V> ordered, std::span<V> of_rows) override {
    plan_.to_caller_order(ordered, of_rows);
  }
  double seconds() override { return seconds_; }
  Stopwatch stopwatch() const override { return host_stopwatch(); }
  void finish() override {}
  std::string variant() const override { return variant_of_product(plan_.choice()); }
  std::string explain() const override { return plan_.explain(); }
  int threads() const override { return plan_.threads(); }
  const PaddedOrder<I>& order() const { return plan_.order(); }
  void update_values(const Csr<V, I>& matrix) { plan_.update_values(matrix); }

 private:
  static ProductOptions in_plan_order(ProductOptions options) {
    options.vector_order = VectorOrder::plan;
    return options;
  }

  ProductPlan<V, I> plan_;
  typename ProductPlan<V, I>::Workspace workspace_;
  double seconds_ = 0;
};

template <Value V, Index I>
class PlannedProcessorPowers final : public PlannedPowers<ProcessorSpace<V>> {
 public:
  PlannedProcessorPowers(const Csr<V, I>& matrix, const PowerOptions& options)
      : powers_(matrix, options) {}

  Offset rows() const override { return plan().rows(); }
  Offset vector_rows() const override { return plan().vector_rows(); }
  int vectors() const override { return plan().vectors(); }
  ProcessorSpace<V> make_space(Offset elements) const override {
    return ProcessorSpace<V>(elements, plan().threads());
  }
  int power() const override { return powers_.power(); }
  void set_basis(const Basis& basis) override { powers_.set_basis(basis); }
  void multiply(std::span<const V> x, std::span<V> y) override {
    const ClockedScope clock(multiplied_);
    powers_.multiply(x, y);
  }
  void apply_first(int count, std::span<const V> x, std::span<V> powers) override {
    powers_.apply_first(count, x, powers);
    products_ += Offset{count} * vectors();
  }
  void apply_sum(std::span<const V> x, std::span<const V> coefficients, std::span<V> sum) override {
    powers_.apply_sum(x, coefficients, sum);
    products_ += Offset{power()} * vectors();
  }
  void apply_last(std::span<const V> x, std::span<V> last) override { powers_.apply_last(x, last); }
  void to_plan_order(std::span<const V> of_rows, std::span<V> ordered) override {
    plan().to_plan_order(of_rows, ordered);
  }
  void to_caller_order(std::span<const V> ordered, std::span<V> of_rows) override {
    plan().to_caller_order(ordered, of_rows);
  }
  double seconds() override { return powers_.seconds() + multiplied_; }
  typename PlannedPowers<ProcessorSpace<V>>::Swept swept() override {
    return {powers_.seconds(), products_};
  }
  Stopwatch stopwatch() const override { return host_stopwatch(); }
  void finish() override {}
  std::string variant() const override { return variant_of_powers(plan().choice()); }
  std::string explain() const override { return plan().explain(); }
  int threads() const override { return plan().threads(); }
  const PaddedOrder<I>& order() const { return plan().order(); }
  void update_values(const Csr<V, I>& matrix) { powers_.update_values(matrix); }

 private:
  const PowerPlan<V, I>& plan() const { return powers_.plan(); }

  ProcessorPowers<V, I> powers_;
  double multiplied_ = 0;
  Offset products_ = 0;
};

template <Value V, Index I>
class ProcessorPlanner final : public SystemPlanner<ProcessorSpace<V>> {
 public:
  using Space = ProcessorSpace<V>;

  ProcessorPlanner(const Csr<V, I>& matrix, int threads) : matrix_(matrix), threads_(threads) {}

  Offset rows() const override { return matrix_.rows(); }
  SpectrumBounds gershgorin() const override { return gershgorin_bounds(matrix_); }
  int most_columns() const override { return std::numeric_limits<int>::max(); }
  std::unique_ptr<PlannedProduct<Space>> plan_product(bool autotune) const override {
    return product({.autotune = autotune, .threads = threads_});
  }
  std::unique_ptr<PlannedPowers<Space>> plan_powers(int power, int vectors,
                                                    bool autotune) const override {
    return powers({.power = power, .vectors = vectors, .autotune = autotune, .threads = threads_});
  }

  std::unique_ptr<PlannedProduct<Space>> product(const ProductOptions& options) const override {
    return std::make_unique<Product>(matrix_, options);
  }
  std::unique_ptr<PlannedPowers<Space>> powers(const PowerOptions& options) const override {
    return std::make_unique<SweptPowers>(matrix_, options);
  }
  void update(PlannedProduct<Space>& plan) const override {
    of_plan(plan, [&](auto& mine) { mine.update_values(matrix_); });
  }
  std::vector<V> inverse_diagonal() const override { return solvers::inverse_diagonal(matrix_); }
  Operator<Space> block_jacobi(int block_rows, PlannedProduct<Space>& plan) const override {
    const ThreadCountScope scope(plan.threads());
    std::shared_ptr<const BlockJacobi<V, I>> blocks;
    of_plan(plan, [&](auto& mine) {
      blocks = std::make_shared<BlockJacobi<V, I>>(matrix_, block_rows, mine.order());
    });
    return [blocks, threads = plan.threads()](std::span<const V> x, std::span<V> y) {
      const ThreadCountScope of_plan_threads(threads);
      blocks->apply(x, y);
    };
  }

 private:
  using Product = ProcessorProduct<V, I>;
  using SweptPowers = PlannedProcessorPowers<V, I>;

  template <class Work>
  static void of_plan(PlannedProduct<Space>& plan, const Work& work) {
    if (auto* const powers = dynamic_cast<SweptPowers*>(&plan)) {
      work(*powers);
    } else {
      work(dynamic_cast<Product&>(plan));
    }
  }

  const Csr<V, I>& matrix_;
  int threads_ = 0;
};

}  // namespace

template <Value V, Index I>
std::unique_ptr<SystemPlanner<ProcessorSpace<V>>> processor_planner(const Csr<V, I>& matrix,
                                                                    int threads) {
  return std::make_unique<ProcessorPlanner<V, I>>(matrix, threads);
}

#define STRATA_INSTANTIATE(V, I)                                                                 \
  template std::unique_ptr<SystemPlanner<ProcessorSpace<V>>> processor_planner(const Csr<V, I>&, \
                                                                               int)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);
#undef STRATA_INSTANTIATE

}  // namespace strata::solvers::detail
