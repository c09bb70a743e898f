#include "cli/power_bench.hpp"

#include <algorithm>
#include <memory>

#include "cli/power_contest.hpp"
#include "strata/measure/vectors.hpp"

namespace strata::cli {

namespace {

// Plans on the processor. All write their powers to the same place: they see the same pages.
template <Value V, Index I>
class Processor {
 public:
  Processor(const PowerSettings& settings, const MachineProfile& profile)
      : settings_(settings), profile_(profile) {}

  Contender<V, I> plan(const Csr<V, I>& matrix, std::span<const V> x, const PowerTask& task) {
    const auto prepared = std::make_shared<Prepared>();
    PowerPlan<V, I>& plan = prepared->plan;
    plan = plan_powers(matrix, settings_.options_for(task.power, task.cache_bytes, task.strategy));
    prepared->workspace = plan.make_workspace();
    prepared->x = as_taken(plan, x);
    powers_.resize(std::max(powers_.size(), prepared->x.size() * plan.power()));
    return {.run = run_of(plan, task),
            .apply = [this, prepared] { apply(*prepared, prepared->x); },
            .powers = [this, prepared] { return powers_of(*prepared); },
            .order = [prepared] { return without_padding(prepared->plan.order()); }};
  }

 private:
  // A plan with what it takes to run it.
  struct Prepared {
    PowerPlan<V, I> plan;
    typename PowerPlan<V, I>::Workspace workspace;
    Array<V> x;  // in the order that the plan takes
  };

  bool in_plan_order() const { return settings_.plan.vector_order == VectorOrder::plan; }

  PowerRun run_of(const PowerPlan<V, I>& plan, const PowerTask& task) const {
    PowerRun run;
    run.asked = task.strategy;
    run.power = plan.power();
    run.cache_bytes = task.cache_bytes;
    run.choice = plan.choice();
    run.threads = plan.threads();
    run.levels = plan.levels();
    run.setup_seconds = plan.setup_seconds();
    run.memory_bandwidth = profile_.memory_bandwidth(plan.threads());
    return run;
  }

  // A vector of rows in the order that the plan takes.
  Array<V> as_taken(const PowerPlan<V, I>& plan, std::span<const V> rows) const {
    if (!in_plan_order()) return Array<V>(rows.begin(), rows.end());
    Array<V> padded_rows(static_cast<std::size_t>(plan.vector_rows()) * plan.vectors());
    plan.to_plan_order(rows, padded_rows);
    return padded_rows;
  }

  std::span<V> output(const Prepared& prepared) {
    return std::span(powers_).first(prepared.x.size() * prepared.plan.power());
  }
  void apply(Prepared& prepared, const Array<V>& x) {
    prepared.plan.apply(x, output(prepared), prepared.workspace);
  }

  Array<V> powers_of(Prepared& prepared) {
    const PowerPlan<V, I>& plan = prepared.plan;
    const std::size_t each = static_cast<std::size_t>(plan.rows()) * plan.vectors();
    // The timed runs left right numbers in the workspace, and others in the output: powers of
    // poison replace the former.
    Array<V> poisoned(each);
    poison<V>(poisoned);
    apply(prepared, as_taken(plan, poisoned));
    poison<V>(output(prepared));
    apply(prepared, prepared.x);
    const std::span<const V> from = output(prepared);
    if (!in_plan_order()) return Array<V>(from.begin(), from.end());
    Array<V> powers(each * plan.power());
    for (std::size_t k = 0; k < static_cast<std::size_t>(plan.power()); ++k) {
      plan.to_caller_order(from.subspan(k * prepared.x.size(), prepared.x.size()),
                           std::span(powers).subspan(k * each, each));
    }
    return powers;
  }

  const PowerSettings& settings_;
  const MachineProfile& profile_;
  Array<V> powers_;  // of whichever contender runs
};

}  // namespace

void run_power_bench(const AnyMatrix& matrix, const PowerSettings& settings,
                     const MachineProfile& profile, const MeasuringOptions& measuring,
                     Progress& progress, const PowerRunsDone& done) {
  std::visit(
      [&]<Value V, Index I>(const Csr<V, I>& csr) {
        Processor<V, I> processor(settings, profile);
        PowerContest<V, I>(csr, settings, measuring, progress)
            .run({.plan = [&](const Csr<V, I>& own, std::span<const V> x,
                              const PowerTask& task) { return processor.plan(own, x, task); },
                  .strategies = settings.cpu_strategies(),
                  .cache_sizes = settings.cache_sizes},
                 done);
      },
      matrix);
}

}  // namespace strata::cli
