#include "cli/power_bench.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/interruption.hpp"
#include "strata/base/checked.hpp"
#include "strata/base/parallel.hpp"
#include "strata/model/balance.hpp"
#include "strata/order/permutation.hpp"

namespace strata::cli {

namespace {

// A plan with what it takes to run it.
template <Value V, Index I>
struct Contender {
  PowerRun run;
  PowerPlan<V, I> plan;
  typename PowerPlan<V, I>::Workspace workspace;
  Array<V> x;                           // in the order that the plan takes
  std::optional<Permutation<I>> order;  // of a matrix that was reordered before planning
};

// Vectors side by side, to the new order and back.
template <Value V, Index I>
void gather(const Permutation<I>& order, std::span<const V> from, std::span<V> to, int count) {
  parallel_for(order.size(), [&](Offset i) {
    std::copy_n(&from[Offset{order.old_of(static_cast<I>(i))} * count], count, &to[i * count]);
  });
}
template <Value V, Index I>
void scatter(const Permutation<I>& order, std::span<const V> from, std::span<V> to, int count) {
  parallel_for(order.size(), [&](Offset i) {
    std::copy_n(&from[i * count], count, &to[Offset{order.old_of(static_cast<I>(i))} * count]);
  });
}

// The order of a plan without its empty positions. Row numbers go through the plan as vectors, in
// two digits that even single precision holds; empty positions come out as 0.
template <Value V, Index I>
Permutation<I> order_of(const PowerPlan<V, I>& plan) {
  constexpr Offset kDigit = 4096;
  const int count = plan.vectors();
  const auto digits = [&](auto&& digit_of) {
    Array<V> rows(static_cast<std::size_t>(plan.rows()) * count);
    Array<V> positions(static_cast<std::size_t>(plan.positions()) * count);
    parallel_for(plan.rows(), [&](Offset row) {
      for (int v = 0; v < count; ++v) rows[row * count + v] = V(static_cast<float>(digit_of(row)));
    });
    plan.to_plan_order(rows, positions);
    return positions;
  };
  const Array<V> low = digits([](Offset row) { return row % kDigit + 1; });
  const Array<V> high = digits([](Offset row) { return row / kDigit; });
  Array<I> rows;
  rows.reserve(static_cast<std::size_t>(plan.rows()));
  for (Offset position = 0; position < plan.positions(); ++position) {
    const auto digit = static_cast<Offset>(std::real(low[position * count]));
    const auto above = static_cast<Offset>(std::real(high[position * count]));
    if (digit > 0) rows.push_back(static_cast<I>(above * kDigit + digit - 1));
  }
  return Permutation<I>(std::move(rows));
}

template <Value V, Index I>
class PowerBench {
 public:
  PowerBench(const Csr<V, I>& matrix, const PowerSettings& settings,
             const MeasuringOptions& measuring, Progress& progress)
      : matrix_(matrix), settings_(settings), measuring_(measuring), progress_(progress) {
    const Offset elements =
        checked_multiply<Offset>(matrix.rows(), settings.plan.vectors, "the elements of vectors");
    x_ = random_vector<V>(elements, measuring.seed);
  }

  void run(const std::function<void(const std::vector<PowerRun>&)>& done) {
    const std::vector<PowerStrategy> strategies = settings_.strategies();
    for (const int power : settings_.powers) {
      bool first = true;
      for (const Offset cache_bytes : settings_.cache_sizes) {
        done(run_one(power, cache_bytes, strategies, first));
        first = false;
      }
    }
  }

 private:
  using Contenders = std::vector<Contender<V, I>>;

  // Plain products are timed with every combination, and shown with the first of a power.
  std::vector<PowerRun> run_one(int power, Offset cache_bytes,
                                const std::vector<PowerStrategy>& strategies, bool with_plain) {
    Contenders contenders;
    contenders.push_back(plan(power, 0, PowerStrategy::spmv));
    for (const PowerStrategy strategy : strategies) {
      if (strategy == PowerStrategy::spmv) continue;
      contenders.push_back(plan(power, cache_bytes, strategy));
    }
    add_plain_in_levels(contenders);
    time(contenders, power);
    compare(contenders);
    std::vector<PowerRun> runs;
    for (Contender<V, I>& contender : contenders) {
      check(contender);
      const bool is_plain = contender.run.asked == PowerStrategy::spmv;
      if (with_plain || !is_plain) runs.push_back(std::move(contender.run));
    }
    return runs;
  }

  Contender<V, I> plan(int power, Offset cache_bytes, PowerStrategy strategy) {
    progress_.start(fmt::format("planning {} for p = {}", name_of(strategy), power));
    Contender<V, I> contender = contender_of(
        plan_powers(matrix_, settings_.options_for(power, cache_bytes, strategy)), strategy);
    contender.run.cache_bytes = cache_bytes;
    const PowerPlan<V, I>& made = contender.plan;
    if (made.vector_rows() == made.rows() && settings_.plan.vector_order == VectorOrder::caller) {
      contender.x = x_;
      return contender;
    }
    contender.x.resize(vector_elements(made));
    made.to_plan_order(x_, contender.x);
    return contender;
  }

  static std::size_t vector_elements(const PowerPlan<V, I>& plan) {
    return static_cast<std::size_t>(plan.vector_rows()) * plan.vectors();
  }

  Contender<V, I> contender_of(PowerPlan<V, I> plan, PowerStrategy asked) const {
    Contender<V, I> contender;
    PowerRun& run = contender.run;
    run.asked = asked;
    run.power = plan.power();
    run.choice = plan.choice();
    run.threads = plan.threads();
    run.levels = plan.levels();
    run.setup_seconds = plan.setup_seconds();
    const double entries = static_cast<double>(matrix_.nnz()) * plan.vectors();
    run.measurement.flops = (is_complex<V> ? 8.0 : 2.0) * entries * plan.power();
    const VectorTraffic vectors{.rows = plan.rows(),
                                .cols = plan.rows(),
                                .value_bytes = static_cast<double>(sizeof(V)) * plan.vectors()};
    run.measurement.bytes =
        plan.power() * (static_cast<double>(run.choice.format_bytes) + vectors.bytes());
    run.minimum_bytes = Offset{sizeof(V)} *
                        (matrix_.nnz() + Offset{plan.rows()} * plan.vectors() * (plan.power() + 1));
    contender.workspace = plan.make_workspace();
    contender.plan = std::move(plan);
    return contender;
  }

  // Where a plan reorders, plain products in that order compete as well: ordering alone can make
  // products faster or slower.
  void add_plain_in_levels(Contenders& contenders) {
    const auto reordering = std::ranges::find_if(contenders, [](const Contender<V, I>& contender) {
      return contender.run.choice.order != "given";
    });
    if (reordering == contenders.end()) return;
    progress_.start("reordering for plain products");
    const std::string order_name = reordering->run.choice.order;
    Permutation<I> order = order_of(reordering->plan);
    const auto options = settings_.options_for(reordering->run.power, 0, PowerStrategy::spmv);
    Contender<V, I> contender =
        contender_of(plan_powers(permuted(matrix_, order), options), PowerStrategy::spmv);
    contender.run.choice.order = order_name;
    contender.x.resize(x_.size());
    gather<V, I>(order, x_, contender.x, settings_.plan.vectors);
    contender.order = std::move(order);
    contenders.insert(contenders.begin() + 1, std::move(contender));
  }

  // All write to the same place: they see the same pages.
  void apply(Contender<V, I>& contender) {
    contender.plan.apply(contender.x, output(contender), contender.workspace);
  }
  std::span<V> output(const Contender<V, I>& contender) {
    return std::span(powers_).first(contender.x.size() *
                                    static_cast<std::size_t>(contender.run.power));
  }

  void time(Contenders& contenders, int power) {
    std::size_t largest = 0;
    for (const auto& contender : contenders) largest = std::max(largest, contender.x.size());
    powers_.resize(std::max(powers_.size(), largest * static_cast<std::size_t>(power)));
    std::vector<std::function<void()>> runs;
    for (auto& contender : contenders) {
      runs.emplace_back([this, &contender] {
        check_interruption();
        apply(contender);
      });
    }
    progress_.start(fmt::format("timing p = {}, {} candidates in turn", power, runs.size()));
    const auto timings = time_interleaved(runs, {.min_seconds = measuring_.min_seconds});
    for (std::size_t i = 0; i < runs.size(); ++i) {
      contenders[i].run.measurement.timing = timings[i];
    }
  }

  // Speed-up and break-even against the fastest plain products, and those in the given order.
  void compare(Contenders& contenders) const {
    const double given = contenders.front().run.measurement.timing.median;
    double plain = given;
    for (const auto& contender : contenders) {
      if (contender.run.asked != PowerStrategy::spmv) continue;
      plain = std::min(plain, contender.run.measurement.timing.median);
    }
    for (auto& contender : contenders) {
      const double seconds = contender.run.measurement.timing.median;
      contender.run.speed_up = plain / seconds;
      const bool pays = contender.run.asked != PowerStrategy::spmv && seconds < given;
      contender.run.break_even = pays ? contender.run.setup_seconds / (given - seconds) : 0;
    }
  }

  void check(Contender<V, I>& contender) {
    const int power = contender.run.power;
    progress_.start(fmt::format("checking {}, p = {}", name_of(contender.run.asked), power));
    apply(contender);
    contender.run.overflow = find_overflow<V>(output(contender), power);
    if (!measuring_.validate) return;
    if (!reference_) {
      reference_.emplace(matrix_, std::span<const V>(x_), settings_.plan.basis,
                         *std::ranges::max_element(settings_.powers), settings_.plan.vectors);
    }
    const bool reordered = contender.order || settings_.plan.vector_order == VectorOrder::plan;
    contender.run.measurement.check = reordered
                                          ? reference_->check(in_caller_order(contender), power)
                                          : reference_->check(output(contender), power);
  }

  Array<V> in_caller_order(const Contender<V, I>& contender) {
    const std::size_t from = contender.x.size();
    const std::size_t to = x_.size();
    const auto count = static_cast<std::size_t>(contender.run.power);
    Array<V> powers(to * count);
    for (std::size_t k = 0; k < count; ++k) {
      const std::span<const V> source = output(contender).subspan(k * from, from);
      const std::span<V> target = std::span(powers).subspan(k * to, to);
      if (contender.order) {
        scatter<V, I>(*contender.order, source, target, settings_.plan.vectors);
      } else {
        contender.plan.to_caller_order(source, target);
      }
    }
    return powers;
  }

  const Csr<V, I>& matrix_;
  const PowerSettings& settings_;
  const MeasuringOptions& measuring_;
  Progress& progress_;
  Array<V> x_;
  Array<V> powers_;  // of whichever contender runs
  std::optional<ReferencePowers<V>> reference_;
};

}  // namespace

void run_power_bench(const AnyMatrix& matrix, const PowerSettings& settings,
                     const MeasuringOptions& measuring, Progress& progress,
                     const std::function<void(const std::vector<PowerRun>&)>& done) {
  std::visit(
      [&]<Value V, Index I>(const Csr<V, I>& csr) {
        PowerBench<V, I>(csr, settings, measuring, progress).run(done);
      },
      matrix);
}

}  // namespace strata::cli
