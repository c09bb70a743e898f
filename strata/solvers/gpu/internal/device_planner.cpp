#include "strata/solvers/gpu/internal/device_planner.hpp"

#include <array>

#include "strata/base/instantiate.hpp"
#include "strata/device/timing.hpp"
#include "strata/plans/gpu/product_plan.hpp"
#include "strata/solvers/gpu/device_powers.hpp"
#include "strata/solvers/internal/variant.hpp"

namespace strata::gpu::detail {

namespace {

// The time of some of the work in a stream, by events around it.
class DeviceClock {
 public:
  explicit DeviceClock(Stream& stream) : stream_(stream) {}

  template <class Work>
  void run(const Work& work) {
    if (begun_ - settled_ == laps_.size()) settle();
    Lap& lap = laps_[begun_++ % laps_.size()];
    lap.begin.record(stream_);
    work();
    lap.end.record(stream_);
  }
  // Waits for all of it.
  double seconds() {
    while (settled_ < begun_) settle();
    return seconds_;
  }

 private:
  struct Lap {
    Event begin, end;
  };
  void settle() {
    const Lap& lap = laps_[settled_ % laps_.size()];
    seconds_ += seconds_between(lap.begin, lap.end);
    ++settled_;
  }

  Stream& stream_;
  std::array<Lap, 64> laps_;
  std::size_t begun_ = 0, settled_ = 0;
  double seconds_ = 0;
};

// Vectors of the host, by way of device memory in the caller's order.
template <Value V>
class Transfer {
 public:
  explicit Transfer(Stream& stream) : stream_(stream) {}

  template <class Plan>
  void to_plan_order(const Plan& plan, std::span<const V> of_rows, DeviceSpan<V> ordered) {
    const DeviceSpan<V> staged = room_for(std::ssize(of_rows));
    copy(of_rows, staged, stream_);
    plan.to_plan_order(staged, ordered, stream_);
    stream_.synchronize();
  }
  template <class Plan>
  void to_caller_order(const Plan& plan, DeviceSpan<const V> ordered, std::span<V> of_rows) {
    const DeviceSpan<V> staged = room_for(std::ssize(of_rows));
    plan.to_caller_order(ordered, staged, stream_);
    copy(staged, of_rows, stream_);
    stream_.synchronize();
  }

 private:
  DeviceSpan<V> room_for(Offset elements) {
    if (staged_.size() < elements) staged_ = DeviceArray<V>(elements);
    return staged_.subspan(0, elements);
  }

  Stream& stream_;
  DeviceArray<V> staged_;
};

template <Value V>
class DeviceProduct final : public solvers::detail::PlannedProduct<DeviceSpace<V>> {
 public:
  template <Index I>
  DeviceProduct(const Csr<V, I>& matrix, bool autotune, Stream& stream)
      : stream_(stream),
        plan_(gpu::plan_product(matrix, {.vector_order = VectorOrder::plan, .autotune = autotune},
                                stream)),
        workspace_(plan_.make_workspace(stream)),
        transfer_(stream),
        clock_(stream) {}

  Offset rows() const override { return plan_.rows(); }
  Offset vector_rows() const override { return plan_.x_rows(); }
  int vectors() const override { return 1; }
  DeviceSpace<V> make_space(Offset elements) const override {
    return DeviceSpace<V>(elements, stream_);
  }
  void multiply(DeviceSpan<const V> x, DeviceSpan<V> y) override {
    clock_.run([&] { plan_.apply(x, y, workspace_, stream_); });
  }
  void to_plan_order(std::span<const V> of_rows, DeviceSpan<V> ordered) override {
    transfer_.to_plan_order(plan_, of_rows, ordered);
  }
  void to_caller_order(DeviceSpan<const V> ordered, std::span<V> of_rows) override {
    transfer_.to_caller_order(plan_, ordered, of_rows);
  }
  double seconds() override { return clock_.seconds(); }
  Stopwatch stopwatch() const override { return device_stopwatch(stream_); }
  void finish() override { stream_.synchronize(); }
  std::string variant() const override {
    return solvers::detail::variant_of_product(plan_.choice());
  }

 private:
  Stream& stream_;
  ProductPlan<V> plan_;
  typename ProductPlan<V>::Workspace workspace_;
  Transfer<V> transfer_;
  DeviceClock clock_;
};

template <Value V>
class PlannedDevicePowers final : public solvers::detail::PlannedPowers<DeviceSpace<V>> {
 public:
  template <Index I>
  PlannedDevicePowers(const Csr<V, I>& matrix, const PowerOptions& options, Stream& stream)
      : stream_(stream),
        powers_(matrix, options, stream),
        transfer_(stream),
        sweeps_(stream),
        multiplied_(stream) {}

  Offset rows() const override { return plan().rows(); }
  Offset vector_rows() const override { return plan().vector_rows(); }
  int vectors() const override { return plan().vectors(); }
  DeviceSpace<V> make_space(Offset elements) const override {
    return DeviceSpace<V>(elements, stream_);
  }
  int power() const override { return powers_.power(); }
  void set_basis(const Basis& basis) override { powers_.set_basis(basis); }
  void multiply(DeviceSpan<const V> x, DeviceSpan<V> y) override {
    multiplied_.run([&] { powers_.multiply(x, y); });
  }
  void apply_first(int count, DeviceSpan<const V> x, DeviceSpan<V> powers) override {
    sweeps_.run([&] { powers_.apply_first(count, x, powers); });
    products_ += Offset{count} * vectors();
  }
  void apply_sum(DeviceSpan<const V> x, std::span<const V> coefficients,
                 DeviceSpan<V> sum) override {
    sweeps_.run([&] { powers_.apply_sum(x, coefficients, sum); });
    products_ += Offset{power()} * vectors();
  }
  void apply_last(DeviceSpan<const V> x, DeviceSpan<V> last) override {
    powers_.apply_last(x, last);
  }
  void to_plan_order(std::span<const V> of_rows, DeviceSpan<V> ordered) override {
    transfer_.to_plan_order(plan(), of_rows, ordered);
  }
  void to_caller_order(DeviceSpan<const V> ordered, std::span<V> of_rows) override {
    transfer_.to_caller_order(plan(), ordered, of_rows);
  }
  double seconds() override { return sweeps_.seconds() + multiplied_.seconds(); }
  typename solvers::detail::PlannedPowers<DeviceSpace<V>>::Swept swept() override {
    return {sweeps_.seconds(), products_};
  }
  Stopwatch stopwatch() const override { return device_stopwatch(stream_); }
  void finish() override { powers_.require_ended(); }
  std::string variant() const override {
    return solvers::detail::variant_of_powers(plan().choice());
  }

 private:
  const PowerPlan<V>& plan() const { return powers_.plan(); }

  Stream& stream_;
  DevicePowers<V> powers_;
  Transfer<V> transfer_;
  DeviceClock sweeps_, multiplied_;
  Offset products_ = 0;
};

template <Value V, Index I>
class DevicePlanner final : public solvers::detail::Planner<DeviceSpace<V>> {
 public:
  using Space = DeviceSpace<V>;

  DevicePlanner(const Csr<V, I>& matrix, Stream& stream) : matrix_(matrix), stream_(stream) {}

  Offset rows() const override { return matrix_.rows(); }
  solvers::SpectrumBounds gershgorin() const override {
    return solvers::gershgorin_bounds(matrix_);
  }
  int most_columns() const override { return Space::kMostColumns; }
  std::unique_ptr<solvers::detail::PlannedProduct<Space>> plan_product(
      bool autotune) const override {
    return std::make_unique<DeviceProduct<V>>(matrix_, autotune, stream_);
  }
  std::unique_ptr<solvers::detail::PlannedPowers<Space>> plan_powers(int power, int vectors,
                                                                     bool autotune) const override {
    return std::make_unique<PlannedDevicePowers<V>>(
        matrix_, PowerOptions{.power = power, .vectors = vectors, .autotune = autotune}, stream_);
  }

 private:
  const Csr<V, I>& matrix_;
  Stream& stream_;
};

}  // namespace

template <Value V, Index I>
std::unique_ptr<solvers::detail::Planner<DeviceSpace<V>>> device_planner(const Csr<V, I>& matrix,
                                                                         Stream& stream) {
  return std::make_unique<DevicePlanner<V, I>>(matrix, stream);
}

#define STRATA_INSTANTIATE(V, I)                                                     \
  template std::unique_ptr<solvers::detail::Planner<DeviceSpace<V>>> device_planner( \
      const Csr<V, I>&, Stream&)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::gpu::detail
