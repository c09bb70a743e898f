#include "cli/power_contest.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/interruption.hpp"
#include "strata/base/checked.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/measure/vectors.hpp"
#include "strata/model/balance.hpp"

namespace strata::cli {

namespace {

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

}  // namespace

template <Value V, Index I>
PowerContest<V, I>::PowerContest(const Csr<V, I>& matrix, const PowerSettings& settings,
                                 const MeasuringOptions& measuring, Progress& progress)
    : matrix_(matrix), settings_(settings), measuring_(measuring), progress_(progress) {
  const Offset elements =
      checked_multiply<Offset>(matrix.rows(), settings.plan.vectors, "the elements of vectors");
  x_ = random_vector<V>(elements, measuring.seed);
}

template <Value V, Index I>
void PowerContest<V, I>::run(const PowerDevice<V, I>& device, const PowerRunsDone& done) {
  for (const int power : settings_.powers) {
    bool first = true;
    for (const Offset cache_bytes : device.cache_sizes) {
      done(run_one(device, power, cache_bytes, first));
      first = false;
    }
  }
}

// Plain products are timed with every combination, and shown with the first of a power.
template <Value V, Index I>
std::vector<PowerRun> PowerContest<V, I>::run_one(const PowerDevice<V, I>& device, int power,
                                                  Offset cache_bytes, bool with_plain) {
  Contenders contenders;
  if (device.plan) {
    contenders.push_back(plan(device, {power, 0, PowerStrategy::spmv}));
    for (const PowerStrategy strategy : device.strategies) {
      if (strategy == PowerStrategy::spmv) continue;
      contenders.push_back(plan(device, {power, cache_bytes, strategy}));
    }
    add_plain_in_levels(device, contenders);
  }
  if (device.vendor) {
    progress_.start("preparing the vendor's library");
    contenders.push_back(device.vendor(x_, power));
  }
  for (Contender<V, I>& contender : contenders) count(device, contender.run);
  time(device, contenders);
  compare(contenders);
  std::vector<PowerRun> runs;
  for (Contender<V, I>& contender : contenders) {
    if (contender.apply) check(contender);
    const bool is_reference = contender.run.baseline() || contender.run.of_vendor();
    if (with_plain || !is_reference) runs.push_back(std::move(contender.run));
  }
  return runs;
}

template <Value V, Index I>
Contender<V, I> PowerContest<V, I>::plan(const PowerDevice<V, I>& device, const PowerTask& task) {
  progress_.start(fmt::format("planning {} for p = {}", name_of(task.strategy), task.power));
  return device.plan(matrix_, x_, task);
}

// Where a plan reorders, plain products in that order compete as well: ordering alone can make
// products faster or slower.
template <Value V, Index I>
void PowerContest<V, I>::add_plain_in_levels(const PowerDevice<V, I>& device,
                                             Contenders& contenders) {
  const auto reordering = std::ranges::find_if(contenders, [](const Contender<V, I>& contender) {
    return contender.run.choice.order.kind == RowOrder::Kind::levels;
  });
  if (reordering == contenders.end()) return;
  progress_.start("reordering for plain products");
  const int vectors = settings_.plan.vectors;
  const Permutation<I> order = reordering->order();
  Array<V> x(x_.size());
  gather<V, I>(order, x_, x, vectors);
  Contender<V, I> contender =
      device.plan(permuted(matrix_, order), x, {reordering->run.power, 0, PowerStrategy::spmv});
  contender.run.choice.order = reordering->run.choice.order;
  contender.powers = [order, vectors, power = contender.run.power, powers = contender.powers] {
    const Array<V> in_order = powers();
    Array<V> as_given(in_order.size());
    const std::size_t each = in_order.size() / static_cast<std::size_t>(power);
    for (std::size_t begin = 0; begin < in_order.size(); begin += each) {
      scatter<V, I>(order, std::span(in_order).subspan(begin, each),
                    std::span(as_given).subspan(begin, each), vectors);
    }
    return as_given;
  };
  contenders.insert(contenders.begin() + 1, std::move(contender));
}

template <Value V, Index I>
void PowerContest<V, I>::count(const PowerDevice<V, I>& device, PowerRun& run) const {
  const PowerWork work{.rows = matrix_.rows(),
                       .entries = matrix_.nnz(),
                       .value_bytes = sizeof(V),
                       .flops_per_entry = is_complex<V> ? 8.0 : 2.0,
                       .vectors = settings_.plan.vectors,
                       .power = run.power,
                       .write_allocate = device.write_allocate};
  run.measurement.flops = work.flops();
  run.measurement.bytes = run.power * work.product_bytes(run.choice.format_bytes);
  run.minimum_bytes =
      Offset{sizeof(V)} * (matrix_.nnz() + Offset{matrix_.rows()} * work.vectors * (run.power + 1));
  if (device.gpu != nullptr) run.formulas = formulas_of(*device.gpu, run.choice, work);
}

template <Value V, Index I>
void PowerContest<V, I>::time(const PowerDevice<V, I>& device, Contenders& contenders) {
  std::vector<std::function<void()>> runs;
  std::vector<Contender<V, I>*> running;
  for (Contender<V, I>& contender : contenders) {
    if (!contender.apply) continue;
    running.push_back(&contender);
    runs.emplace_back([&contender] {
      check_interruption();
      contender.apply();
    });
  }
  progress_.start(fmt::format("timing p = {}, {} candidate{} in turn", contenders.front().run.power,
                              runs.size(), runs.size() == 1 ? "" : "s"));
  const auto timings = time_interleaved(
      runs, {.min_seconds = measuring_.min_seconds, .min_repetitions = device.min_repetitions},
      device.stopwatch);
  for (std::size_t i = 0; i < running.size(); ++i) {
    running[i]->run.measurement.timing = timings[i];
  }
}

// Speed-up and break-even against the fastest plain products, and those in the given order.
template <Value V, Index I>
void PowerContest<V, I>::compare(Contenders& contenders) {
  double given = 0;
  double plain = 0;
  double vendor = 0;
  for (const Contender<V, I>& contender : contenders) {
    const double seconds = contender.run.measurement.timing.median;
    if (contender.run.of_vendor()) vendor = seconds;
    if (!contender.run.baseline()) continue;
    if (given == 0) given = seconds;
    plain = plain == 0 ? seconds : std::min(plain, seconds);
  }
  for (Contender<V, I>& contender : contenders) {
    if (!contender.apply) continue;
    PowerRun& run = contender.run;
    const double seconds = run.measurement.timing.median;
    run.speed_up = plain / seconds;
    run.over_vendor = vendor / seconds;
    const bool pays = run.asked != PowerStrategy::spmv && seconds < given;
    run.break_even = pays ? run.setup_seconds / (given - seconds) : 0;
  }
}

template <Value V, Index I>
void PowerContest<V, I>::check(Contender<V, I>& contender) {
  const int power = contender.run.power;
  progress_.start(fmt::format("checking {}, p = {}", name_of(contender.run.asked), power));
  const Array<V> powers = contender.powers();
  std::optional<Check>& check = contender.run.measurement.check;
  if (measuring_.validate) {
    check = check_powers(matrix_, x_, powers, settings_.plan.basis, power, settings_.plan.vectors);
  }
  // Wrong results need not be finite either.
  if (!check || check->wrong == 0) contender.run.overflow = find_overflow<V>(powers, power);
}

#define STRATA_INSTANTIATE(V, I) template class PowerContest<V, I>
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::cli
