#include "strata/measure/gpu/power_contest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "strata/base/checked.hpp"
#include "strata/base/error.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/device/device.hpp"
#include "strata/kernels/gpu/device_matrix.hpp"
#include "strata/measure/gpu/contest.hpp"
#include "strata/measure/gpu/poison.hpp"
#include "strata/measure/internal/planned_powers.hpp"
#include "strata/plans/gpu/power_plan.hpp"

namespace strata::gpu {

namespace {

using internal::ExaminedPowers;
using internal::PowerContender;

// All contenders of a GPU write their powers to the same place.
template <Value V>
class SharedPowers {
 public:
  void reserve(Offset elements) {
    if (elements <= array_.size()) return;
    array_ = {};  // before there is a larger one
    array_ = DeviceArray<V>(elements);
  }
  DeviceSpan<V> first(Offset elements) { return array_.subspan(0, elements); }

 private:
  DeviceArray<V> array_;
};

// The backend of PlannedPowers for GPUs.
template <Value V, Index I>
class GpuPowers {
 public:
  using value_type = V;
  using index_type = I;
  using Plan = PowerPlan<V>;
  using Workspace = typename Plan::Workspace;
  using Vector = DeviceArray<V>;

  GpuPowers(const GpuProfile& profile, VectorOrder order, SharedPowers<V>& powers, Stream& stream)
      : profile_(profile),
        in_plan_order_(order == VectorOrder::plan),
        powers_(powers),
        stream_(stream) {}

  Plan plan(const Csr<V, I>& matrix, PowerOptions options) {
    options.gpu_profile = &profile_;
    return plan_powers(matrix, options, stream_);
  }
  Workspace workspace(const Plan& plan) { return plan.make_workspace(stream_); }
  Vector vector(Offset elements) { return Vector(elements); }

  void load(const Plan& plan, std::span<const V> rows, Vector& x) {
    if (in_plan_order_) {
      const DeviceArray<V> uploaded = to_device(rows, stream_);
      plan.to_plan_order(uploaded.span(), x.span(), stream_);
      stream_.synchronize();
    } else {
      copy(rows, x.span(), stream_);
      stream_.synchronize();
    }
  }

  void reserve(Offset elements) { powers_.reserve(elements); }
  void apply(const Plan& plan, const Vector& x, Workspace& workspace) {
    plan.apply(x.span(), output(plan), workspace, stream_);
  }
  void poison(Offset elements) { poison_on_device(powers_.first(elements), stream_); }

  Array<V> powers(const Plan& plan, Workspace& workspace) {
    stream_.synchronize();
    plan.require_ended(workspace, stream_);
    const DeviceSpan<V> computed = output(plan);
    if (!in_plan_order_) return to_host(computed, stream_);
    const Offset padded = computed.size() / plan.power();
    const Offset each = Offset{plan.rows()} * plan.vectors();
    DeviceArray<V> powers(each * plan.power());
    for (int k = 0; k < plan.power(); ++k) {
      plan.to_caller_order(computed.subspan(k * padded, padded), powers.subspan(k * each, each),
                           stream_);
    }
    return to_host(powers.span(), stream_);
  }

  Array<I> row_order(const Plan& plan) {
    const Permutation<std::int32_t> order = without_padding(plan.order());
    return Array<I>(order.old_of_new().begin(), order.old_of_new().end());
  }

  void describe(const Plan&, PowerResult& result) {
    result.context.backend = name_of(profile_.device.api);
    result.context.device = profile_.device.index;
    result.memory_bandwidth = profile_.memory_bandwidth();
  }

 private:
  DeviceSpan<V> output(const Plan& plan) {
    return powers_.first(Offset{plan.vector_rows()} * plan.vectors() * plan.power());
  }

  const GpuProfile& profile_;
  const bool in_plan_order_;
  SharedPowers<V>& powers_;
  Stream& stream_;
};

// Repeated products of the vendor's library, by the fastest way that it has for the matrix.
template <Value V, Index I>
class LibraryPowers {
 public:
  // `x` is what powers are computed of, and has to stay.
  LibraryPowers(const Csr<V, I>& matrix, const Array<V>& x, const PowerOptions& options,
                const GpuProfile& profile, const ContestOptions& contest, SharedPowers<V>& powers,
                Stream& stream)
      : matrix_(matrix),
        start_(x),
        options_(options),
        profile_(profile),
        contest_(contest),
        powers_(powers),
        stream_(stream) {}

  PowerContender contender(int power, const MakePeers<V, I>& make_peers) {
    PowerContender contender{.result = unprepared(power)};
    try {
      require_steps(power);
      if (!peer_.multiply) choose(make_peers);
    } catch (const Error& error) {
      failure_ = std::current_exception();
      contender.result.refusal = error.what();
      return contender;
    }
    powers_.reserve(checked_multiply<Offset>(x_.size(), power, "the powers"));
    describe(contender.result);
    contender.run = [this, power] { apply(power); };
    contender.vectors = {
        .poison_inputs = [this] { poison_on_device(x_.span(), stream_); },
        .restore_inputs = [this] { load(); },
        .poison_outputs = [this, power] { poison_on_device(output(power), stream_); }};
    contender.examine = [this, power](bool validate) { return examine(power, validate); };
    return contender;
  }

  // Why the last contender was refused.
  std::exception_ptr failure() const { return failure_; }

 private:
  PowerResult unprepared(int power) const {
    PowerResult result;
    result.context.options = options_;
    result.context.options.power = power;
    result.context.options.cache_bytes = 0;
    result.context.options.strategy = PowerStrategy::spmv;
    result.context.precision = precision_of<V>();
    result.context.backend = "vendor";
    result.context.device = profile_.device.index;
    result.choice.format = {Format::csr, 1};
    result.memory_bandwidth = profile_.memory_bandwidth();
    return result;
  }

  void require_steps(int power) const {
    if (matrix_.rows() != matrix_.cols()) {
      throw InvalidArgument(
          fmt::format("a {} x {} matrix has no powers", matrix_.rows(), matrix_.cols()));
    }
    options_.basis.template require_steps<V>(power);
    bool products_alone = options_.vectors == 1;
    for (int k = 1; k <= power; ++k) {
      const auto step = options_.basis.template step<V>(k);
      products_alone = products_alone && step.shift == V{} && step.beta == V{};
    }
    if (!products_alone) {
      throw Unavailable(
          "the vendor's library is compared for products y = αAx of one vector alone");
    }
  }

  // Makes all that the library has, times them on one product, and keeps the fastest.
  void choose(const MakePeers<V, I>& make_peers) {
    x_ = DeviceArray<V>(std::ssize(start_));
    load();
    powers_.reserve(x_.size());
    const auto csr = std::make_shared<const DeviceCsr<V>>(matrix_, stream_);
    std::vector<DevicePeer<V>> peers = make_peers(
        {.matrix = matrix_, .on_device = [&] { return csr; }, .stream = stream_, .progress = {}});
    if (peers.empty()) {
      throw Unavailable("this build was made without the library of the GPU's vendor");
    }
    const std::exception_ptr refusal = peers.front().refusal;
    std::erase_if(peers, [](const DevicePeer<V>& peer) { return !peer.multiply; });
    if (peers.empty()) std::rethrow_exception(refusal);
    std::vector<Contender> contenders;
    for (const DevicePeer<V>& peer : peers) {
      contenders.push_back({.name = peer.name, .run = [this, &peer] {
                              peer.multiply(V{1}, std::as_const(x_).span(),
                                            powers_.first(x_.size()));
                            }});
    }
    ContestOptions options = on_device(contest_, stream_);
    options.min_seconds = 0.01;
    const std::vector<Measurement> measured = hold_contest(contenders, options);
    const auto fastest = std::ranges::min_element(
        measured, {}, [](const Measurement& each) { return each.timing.median; });
    peer_ = std::move(peers[static_cast<std::size_t>(fastest - measured.begin())]);
  }

  void describe(PowerResult& result) const {
    result.library = peer_.name;
    result.setup_seconds = peer_.setup_seconds;
    PowerCandidate& choice = result.choice;
    choice.format = peer_.format;
    choice.format_bytes = peer_.bytes;
    choice.memory_bytes =
        result.power() * (static_cast<double>(peer_.bytes) + 2 * static_cast<double>(x_.bytes()));
    choice.predicted_seconds = choice.memory_bytes / profile_.memory_bandwidth();
    choice.predicted_overlapped_seconds = choice.predicted_seconds;
    choice.bound = Bound::memory;
  }

  void load() {
    copy(std::span<const V>(start_), x_.span(), stream_);
    stream_.synchronize();
  }
  DeviceSpan<V> output(int power) { return powers_.first(x_.size() * power); }

  void apply(int power) {
    const Offset each = x_.size();
    DeviceSpan<const V> x = std::as_const(x_).span();
    for (int k = 1; k <= power; ++k) {
      const DeviceSpan<V> y = output(power).subspan(each * (k - 1), each);
      peer_.multiply(options_.basis.template step<V>(k).alpha, x, y);
      x = y;
    }
  }

  ExaminedPowers examine(int power, bool validate) {
    PowerOptions options = options_;
    options.power = power;
    return internal::examine_powers<V, I>(matrix_, start_, to_host(output(power), stream_), options,
                                          validate);
  }

  const Csr<V, I>& matrix_;
  const Array<V>& start_;
  const PowerOptions& options_;
  const GpuProfile& profile_;
  const ContestOptions& contest_;
  SharedPowers<V>& powers_;
  Stream& stream_;
  DeviceArray<V> x_;
  DevicePeer<V> peer_;
  std::exception_ptr failure_;
};

}  // namespace

template <Value V, Index I>
void hold_power_contest(const Csr<V, I>& matrix, const PowerSweep& sweep,
                        const PowerField<V, I>& field, const GpuProfile& profile,
                        const ContestOptions& options, const PowerResultsDone& done) {
  use_device(profile.device.index);
  const int vectors = sweep.options.vectors;
  Stream stream;
  SharedPowers<V> powers;
  GpuPowers<V, I> backend(profile, sweep.options.vector_order, powers, stream);
  internal::PlannedPowers<GpuPowers<V, I>> plans(matrix, vectors, options.seed, backend);
  LibraryPowers<V, I> library(matrix, plans.x(), sweep.options, profile, options, powers, stream);
  internal::PowerDevice device{.work = internal::work_on(matrix, vectors, false), .gpu = &profile};
  if (field.plans) {
    device.plan = [&](const PowerOptions& asked) { return plans.plan(asked); };
  }
  if (field.peers) {
    device.library = [&](int power) {
      PowerContender contender = library.contender(power, field.peers);
      if (!contender.run && !field.plans) std::rethrow_exception(library.failure());
      return contender;
    };
  }
  internal::hold_power_contest(device, sweep, on_device(options, stream), done);
}

#define STRATA_INSTANTIATE(V, I)                                                                 \
  template void hold_power_contest(const Csr<V, I>&, const PowerSweep&, const PowerField<V, I>&, \
                                   const GpuProfile&, const ContestOptions&,                     \
                                   const PowerResultsDone&)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::gpu
