#include "strata/measure/internal/product_contest.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "strata/base/error.hpp"
#include "strata/model/power_model.hpp"

namespace strata::internal {

namespace {

ProductPrediction predict(const gpu::GpuProfile& profile, const Measurement& measured) {
  const auto bytes = static_cast<Offset>(measured.bytes);
  const bool cached = bytes <= profile.l2_bytes();
  const double bandwidth = cached ? profile.read_bandwidth(bytes) : profile.memory_bandwidth();
  const double flops_per_byte = measured.flops / measured.bytes;
  return {.flops_per_second = flops_per_byte * bandwidth,
          .with_latency =
              flops_per_byte * with_latency(profile.hockney.bytes_per_second,
                                            profile.hockney.overhead_seconds, measured.bytes),
          .bound = cached ? Bound::cache : Bound::memory};
}

}  // namespace

ProductContest::ProductContest(ProductWork work, ContestVectors vectors,
                               std::function<Check()> check, ContestOptions options,
                               DeviceProfile profile)
    : work_(work),
      vectors_(std::move(vectors)),
      check_(std::move(check)),
      options_(std::move(options)),
      profile_(profile) {}

void ProductContest::enter(ProductResult result,
                           const std::function<MadeProduct(ProductResult& result)>& make) {
  Entered entered{std::move(result), {}};
  const auto begin = std::chrono::steady_clock::now();
  try {
    MadeProduct product = make(entered.result);
    entered.result.format_bytes = product.bytes;
    entered.multiply = std::move(product.multiply);
  } catch (const InvalidArgument& refusal) {
    entered.result.refusal = refusal.what();
  } catch (const Error& error) {
    entered.result.refusal = error.what();
    if (!failure_) failure_ = std::current_exception();
  }
  entered.result.setup_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  count(entered);
  entered_.push_back(std::move(entered));
}

ProductDevice ProductContest::device_of(const ProductResult& result) const {
  if (const auto* gpu = std::get_if<const gpu::GpuProfile*>(&profile_)) {
    return product_device(**gpu);
  }
  return product_device(*std::get<const MachineProfile*>(profile_), result.threads);
}

void ProductContest::count(Entered& entered) const {
  ProductResult& result = entered.result;
  const ProductDevice device = device_of(result);
  result.measurement.flops = work_.flops();
  result.measurement.bytes =
      static_cast<double>(result.format_bytes) + device.vectors_of(work_).bytes();
  result.minimum_bytes = work_.minimum_bytes();
  result.predicted_alpha = predicted_alpha_;
  if (entered.multiply && work_.entries > 0) {
    result.roofline = product_roofline(device, work_, result.format, result.format_bytes);
  }
  if (const auto* gpu = std::get_if<const gpu::GpuProfile*>(&profile_)) {
    result.prediction = predict(**gpu, result.measurement);
  }
}

std::vector<ProductResult> ProductContest::hold() {
  const auto runs = [](const Entered& entered) { return static_cast<bool>(entered.multiply); };
  if (failure_ && std::ranges::none_of(entered_, runs)) std::rethrow_exception(failure_);
  std::vector<Contender> contenders;
  for (const Entered& entered : entered_) {
    contenders.push_back({.name = entered.result.label,
                          .flops = entered.result.measurement.flops,
                          .bytes = entered.result.measurement.bytes,
                          .run = entered.multiply,
                          .vectors = vectors_,
                          .check = check_});
  }
  std::vector<Measurement> measurements = hold_contest(contenders, options_);
  for (std::size_t i = 0; i < entered_.size(); ++i) {
    entered_[i].result.measurement = std::move(measurements[i]);
  }
  compare();
  std::vector<ProductResult> results;
  for (Entered& entered : entered_) results.push_back(std::move(entered.result));
  entered_.clear();
  failure_ = nullptr;
  return results;
}

void ProductContest::compare() {
  for (const Entered& entered : entered_) {
    const ProductResult& result = entered.result;
    const double seconds = result.measurement.timing.median;
    if (!entered.multiply) continue;
    if (result.of_peer()) {
      fastest_peer_ = fastest_peer_ == 0 ? seconds : std::min(fastest_peer_, seconds);
    } else if (!csr_ && result.backend != "reference" && result.format.format() == Format::csr) {
      csr_ = {result.setup_seconds, seconds};
    }
  }
  for (Entered& entered : entered_) {
    if (!entered.multiply) continue;
    entered.result.speed_up = fastest_peer_ / entered.result.measurement.timing.median;
    compare_with_csr(entered.result);
    infer_alpha(entered.result);
  }
}

// The reference kernels are there to be right: what their set-up costs is no question.
void ProductContest::compare_with_csr(ProductResult& result) const {
  if (!csr_ || result.backend == "reference") return;
  result.compared_with_csr = true;
  result.break_even =
      break_even_products({result.setup_seconds, result.measurement.timing.median}, *csr_);
}

void ProductContest::infer_alpha(ProductResult& result) const {
  const ProductDevice device = device_of(result);
  const double seconds = result.measurement.timing.median;
  if (work_.entries == 0 || !(seconds > 0) ||
      result.measurement.bytes <= static_cast<double>(device.cached_bytes())) {
    return;
  }
  const Footprint matrix{.value_bytes = result.format_bytes, .entries = work_.entries};
  result.inferred_alpha =
      inferred_alpha(seconds, device.memory_bandwidth(), matrix, device.vectors_of(work_));
}

}  // namespace strata::internal
