#include "cli/power_bench_gpu.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <memory>
#include <utility>

#include "cli/interruption.hpp"
#include "cli/peers_gpu.hpp"
#include "cli/poison_gpu.hpp"
#include "cli/power_contest.hpp"
#include "strata/base/checked.hpp"
#include "strata/base/error.hpp"
#include "strata/device/device.hpp"
#include "strata/device/timing.hpp"
#include "strata/plans/gpu/power_plan.hpp"

namespace strata::cli {

namespace {

constexpr int kMinRepetitions = 20;

// All contenders of a GPU write their powers to the same place.
template <Value V>
class SharedPowers {
 public:
  void reserve(Offset elements) {
    if (elements <= array_.size()) return;
    array_ = {};  // before there is a larger one
    array_ = gpu::DeviceArray<V>(elements);
  }
  gpu::DeviceSpan<V> first(Offset elements) { return array_.subspan(0, elements); }

 private:
  gpu::DeviceArray<V> array_;
};

// Plans on a GPU.
template <Value V, Index I>
class GpuPlans {
 public:
  GpuPlans(const PowerSettings& settings, const gpu::GpuProfile& profile, SharedPowers<V>& powers,
           gpu::Stream& stream)
      : settings_(settings), profile_(profile), powers_(powers), stream_(stream) {}

  Contender<V, I> plan(const Csr<V, I>& matrix, std::span<const V> x, const PowerTask& task) {
    const auto prepared = std::make_shared<Prepared>();
    gpu::PowerPlan<V>& plan = prepared->plan;
    PowerOptions options = settings_.options_for(task.power, task.cache_bytes, task.strategy);
    options.gpu_profile = &profile_;
    plan = gpu::plan_powers(matrix, options, stream_);
    prepared->workspace = plan.make_workspace(stream_);
    prepared->x = gpu::to_device(x, stream_);
    if (in_plan_order()) prepared->x = in_order_of(plan, prepared->x);
    powers_.reserve(checked_multiply<Offset>(prepared->x.size(), task.power, "the powers"));
    return {.run = run_of(plan, task),
            .apply = [this, prepared] { apply(*prepared); },
            .powers = [this, prepared] { return powers_of(*prepared); },
            .order = [prepared] { return rows_of(prepared->plan); }};
  }

 private:
  // A plan with what it takes to run it.
  struct Prepared {
    gpu::PowerPlan<V> plan;
    typename gpu::PowerPlan<V>::Workspace workspace;
    gpu::DeviceArray<V> x;  // in the order that the plan takes
  };

  bool in_plan_order() const { return settings_.plan.vector_order == VectorOrder::plan; }

  gpu::DeviceArray<V> in_order_of(const gpu::PowerPlan<V>& plan, const gpu::DeviceArray<V>& x) {
    gpu::DeviceArray<V> padded_rows(Offset{plan.padded_rows()} * plan.vectors());
    plan.to_plan_order(x.span(), padded_rows.span(), stream_);
    stream_.synchronize();
    return padded_rows;
  }

  PowerRun run_of(const gpu::PowerPlan<V>& plan, const PowerTask& task) const {
    PowerRun run;
    run.backend = gpu::name_of(profile_.device.api);
    run.asked = task.strategy;
    run.power = task.power;
    run.cache_bytes = task.cache_bytes;
    run.choice = plan.choice();
    run.device = profile_.device.index;
    run.levels = plan.levels();
    run.setup_seconds = plan.setup_seconds();
    run.memory_bandwidth = profile_.memory_bandwidth();
    return run;
  }

  gpu::DeviceSpan<V> output(const Prepared& prepared) {
    return powers_.first(prepared.x.size() * prepared.plan.power());
  }
  void apply(Prepared& prepared) {
    prepared.plan.apply(std::as_const(prepared.x).span(), output(prepared), prepared.workspace,
                        stream_);
  }

  Array<V> powers_of(Prepared& prepared) {
    // The timed runs left right numbers in the workspace, and others in the output. x stays where
    // it is: a graph that was recorded with it is launched again.
    apply_to_poison(prepared.x.span(), stream_, [&] { apply(prepared); });
    poison_on_device(output(prepared), stream_);
    apply(prepared);
    stream_.synchronize();
    const gpu::PowerPlan<V>& plan = prepared.plan;
    plan.require_ended(prepared.workspace, stream_);
    if (!in_plan_order()) return gpu::to_host(output(prepared), stream_);
    const Offset each = Offset{plan.rows()} * plan.vectors();
    gpu::DeviceArray<V> powers(each * plan.power());
    for (int k = 0; k < plan.power(); ++k) {
      plan.to_caller_order(output(prepared).subspan(k * prepared.x.size(), prepared.x.size()),
                           powers.subspan(k * each, each), stream_);
    }
    return gpu::to_host(powers.span(), stream_);
  }

  static Permutation<I> rows_of(const gpu::PowerPlan<V>& plan) {
    const Permutation<std::int32_t> order = without_padding(plan.order());
    return Permutation<I>(Array<I>(order.old_of_new().begin(), order.old_of_new().end()));
  }

  const PowerSettings& settings_;
  const gpu::GpuProfile& profile_;
  SharedPowers<V>& powers_;
  gpu::Stream& stream_;
};

// Repeated products of the vendor's library, by the fastest way that it has for the matrix.
template <Value V, Index I>
class GpuVendor {
 public:
  GpuVendor(const Csr<V, I>& matrix, const PowerSettings& settings, const gpu::GpuProfile& profile,
            SharedPowers<V>& powers, gpu::Stream& stream)
      : matrix_(matrix), settings_(settings), profile_(profile), powers_(powers), stream_(stream) {}

  Contender<V, I> contender(std::span<const V> x, int power) {
    Contender<V, I> contender;
    PowerRun& run = contender.run;
    run.backend = "vendor";
    run.asked = PowerStrategy::spmv;
    run.power = power;
    run.choice.format = {Format::csr, 1};
    run.device = profile_.device.index;
    run.memory_bandwidth = profile_.memory_bandwidth();
    try {
      require_steps(power);
      if (!product_.multiply) choose(x);
    } catch (const Error& error) {
      failure_ = std::current_exception();
      run.refusal = error.what();
      return contender;
    }
    powers_.reserve(checked_multiply<Offset>(x_.size(), power, "the powers"));
    describe(run);
    contender.apply = [this, power] { apply(power); };
    contender.powers = [this, power] {
      const gpu::DeviceSpan<V> powers = powers_.first(x_.size() * power);
      apply_to_poison(x_.span(), stream_, [&] { apply(power); });
      poison_on_device(powers, stream_);
      apply(power);
      return gpu::to_host(powers, stream_);
    };
    return contender;
  }

  // Why the last contender was refused.
  std::exception_ptr failure() const { return failure_; }

 private:
  void require_steps(int power) const {
    if (matrix_.rows() != matrix_.cols()) {
      throw InvalidArgument(
          fmt::format("a {} x {} matrix has no powers", matrix_.rows(), matrix_.cols()));
    }
    const PowerOptions& plan = settings_.plan;
    plan.basis.template require_steps<V>(power);
    bool products_alone = plan.vectors == 1;
    for (int k = 1; k <= power; ++k) {
      const auto step = plan.basis.template step<V>(k);
      products_alone = products_alone && step.shift == V{} && step.beta == V{};
    }
    if (!products_alone) {
      throw Unavailable(
          "the vendor's library is compared for products y = αAx of one vector alone");
    }
  }

  // Makes all that the library has, times them on one product, and keeps the fastest.
  void choose(std::span<const V> x) {
    x_ = gpu::to_device(x, stream_);
    powers_.reserve(x_.size());
    on_device();
    std::vector<Way> ways;
    std::exception_ptr refusal;
    for (const GpuPeer& peer : make_gpu_peers<V, I>(operands_)) {
      try {
        ways.push_back(make(peer));
      } catch (const Error&) {
        if (!refusal) refusal = std::current_exception();
      }
    }
    if (ways.empty() && refusal) std::rethrow_exception(refusal);
    if (ways.empty()) throw Unavailable("this build has no library of the GPU's vendor");
    operands_.x = std::as_const(x_).span();
    operands_.y = powers_.first(x_.size());
    std::vector<std::function<void()>> runs;
    for (const Way& way : ways) {
      runs.emplace_back([&way] {
        check_interruption();
        way.product.multiply();
      });
    }
    const auto timings =
        time_interleaved(runs, {.min_seconds = 0.01, .min_repetitions = kMinRepetitions},
                         gpu::device_stopwatch(stream_));
    const auto fastest = std::ranges::min_element(timings, {}, &Timing::median) - timings.begin();
    Way& best = ways[static_cast<std::size_t>(fastest)];
    product_ = std::move(best.product);
    format_ = std::move(best.format);
    setup_seconds_ = best.setup_seconds;
    csr_.reset();
  }

  // One of the library's ways to multiply.
  struct Way {
    FormatSummary format;
    GpuProduct product;
    double setup_seconds = 0;
  };

  static Way make(const GpuPeer& peer) {
    const auto begin = std::chrono::steady_clock::now();
    GpuProduct product = peer.make();
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    return {peer.format, std::move(product), seconds.count()};
  }

  void describe(PowerRun& run) const {
    run.library = format_.label;
    run.setup_seconds = setup_seconds_;
    PowerCandidate& choice = run.choice;
    choice.format = {format_.spec.format(), format_.spec.parameter("slice_height").value_or(1)};
    choice.format_bytes = product_.bytes;
    choice.memory_bytes =
        run.power * (static_cast<double>(product_.bytes) + 2 * static_cast<double>(x_.bytes()));
    choice.predicted_seconds = choice.memory_bytes / profile_.memory_bandwidth();
    choice.predicted_overlapped_seconds = choice.predicted_seconds;
    choice.bound = Bound::memory;
  }

  void apply(int power) {
    const Offset each = x_.size();
    operands_.x = std::as_const(x_).span();
    for (int k = 1; k <= power; ++k) {
      operands_.alpha = settings_.plan.basis.template step<V>(k).alpha;
      operands_.y = powers_.first(each * k).subspan(each * (k - 1), each);
      product_.multiply();
      operands_.x = operands_.y;
    }
  }

  std::shared_ptr<const gpu::DeviceCsr<V>> on_device() {
    if (!csr_) csr_ = std::make_shared<const gpu::DeviceCsr<V>>(matrix_, stream_);
    return csr_;
  }

  const Csr<V, I>& matrix_;
  const PowerSettings& settings_;
  const gpu::GpuProfile& profile_;
  SharedPowers<V>& powers_;
  gpu::Stream& stream_;
  gpu::DeviceArray<V> x_;
  std::shared_ptr<const gpu::DeviceCsr<V>> csr_;
  GpuOperands<V, I> operands_{matrix_, [this] { return on_device(); }, {}, {}, stream_};
  FormatSummary format_;
  GpuProduct product_;
  double setup_seconds_ = 0;
  std::exception_ptr failure_;
};

template <Value V, Index I>
void run_on(const Csr<V, I>& matrix, const PowerSettings& settings, const GpuPowerContest& contest,
            const gpu::GpuProfile& profile, const MeasuringOptions& measuring, Progress& progress,
            const PowerRunsDone& done) {
  gpu::Stream stream;
  SharedPowers<V> powers;
  GpuPlans<V, I> plans(settings, profile, powers, stream);
  GpuVendor<V, I> vendor(matrix, settings, profile, powers, stream);
  PowerDevice<V, I> device{.strategies = settings.gpu_strategies(),
                           .cache_sizes = settings.cache_sizes,
                           .write_allocate = false,
                           .min_repetitions = kMinRepetitions,
                           .stopwatch = gpu::device_stopwatch(stream),
                           .gpu = &profile};
  if (contest.plans) {
    device.plan = [&](const Csr<V, I>& own, std::span<const V> x, const PowerTask& task) {
      return plans.plan(own, x, task);
    };
  }
  if (contest.vendor) {
    device.vendor = [&](std::span<const V> x, int power) {
      Contender<V, I> contender = vendor.contender(x, power);
      if (!contender.apply && !contest.plans) std::rethrow_exception(vendor.failure());
      return contender;
    };
  }
  PowerContest<V, I>(matrix, settings, measuring, progress).run(device, done);
}

}  // namespace

void run_gpu_power_bench(const AnyMatrix& matrix, const PowerSettings& settings,
                         const GpuPowerContest& contest, const gpu::GpuProfile& profile,
                         const MeasuringOptions& measuring, Progress& progress,
                         const PowerRunsDone& done) {
  gpu::use_device(profile.device.index);
  std::visit(
      [&](const auto& csr) { run_on(csr, settings, contest, profile, measuring, progress, done); },
      matrix);
}

}  // namespace strata::cli
