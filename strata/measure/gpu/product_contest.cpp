#include "strata/measure/gpu/product_contest.hpp"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <utility>

#include "strata/base/error.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/device/device.hpp"
#include "strata/formats/registry.hpp"
#include "strata/kernels/gpu/device_matrix_of.hpp"
#include "strata/measure/gpu/contest.hpp"
#include "strata/measure/gpu/poison.hpp"
#include "strata/measure/internal/product_contest.hpp"
#include "strata/plans/gpu/product_plan.hpp"

namespace strata::gpu {

namespace {

using internal::MadeProduct;

std::string text_of(const RegulyParameters& reguly) {
  return fmt::format("CSR of Reguly, coop {}, repeat {}, blocks of {}", reguly.coop, reguly.repeat,
                     reguly.block_size);
}

template <Value V>
std::string kernel_text(const DeviceCsr<V>& matrix) {
  const int threads = matrix.threads_per_row();
  switch (matrix.kernel()) {
    case CsrKernel::balanced: return "CSR in equal parts";
    case CsrKernel::stream: return "CSR as a stream";
    case CsrKernel::reguly: return text_of(matrix.reguly());
    default: return fmt::format("CSR, {} thread{} per row", threads, threads == 1 ? "" : "s");
  }
}

template <Value V, Index I>
class GpuProducts {
 public:
  GpuProducts(const Csr<V, I>& matrix, const GpuProfile& profile, const ContestOptions& options)
      : matrix_(matrix),
        profile_(profile),
        start_(random_vector<V>(matrix.cols(), options.seed)),
        x_(matrix.cols()),
        y_(matrix.rows()),
        contest_(
            work_of(matrix),
            {.poison_inputs = [this] { poison_on_device(x_.span(), stream_); },
             .restore_inputs = [this] { load(); },
             .poison_outputs = [this] { poison_on_device(y_.span(), stream_); }},
            [this] { return check_step(matrix_, {}, start_, {}, to_host(y_.span(), stream_)); },
            on_device_clock(options), &profile) {
    load();
  }

  void run(const ProductField<V, I>& field, const ProductDone& done) {
    contest_.set_predicted_alpha(field.alpha);
    for (const ProductSpec& spec : field.products) add_kernel(spec);
    for (const CoopKernel& kernel : field.reguly) add_reguly(kernel);
    if (field.plan) add_plan();
    if (field.peers) add_peers(field.peers);
    for (const ProductResult& result : contest_.hold()) done(result);
  }

 private:
  ContestOptions on_device_clock(const ContestOptions& options) {
    return gpu::on_device(options, stream_);
  }
  void load() {
    copy(std::span<const V>(start_), x_.span(), stream_);
    stream_.synchronize();
  }

  ProductResult unprepared() const {
    ProductResult result;
    result.backend = name_of(profile_.device.api);
    result.precision = precision_of<V>();
    result.device = profile_.device.index;
    result.memory_bandwidth = profile_.memory_bandwidth();
    return result;
  }

  void add_kernel(const ProductSpec& spec) {
    ProductResult result = unprepared();
    result.format = spec.format;
    result.label = label_of(spec);
    contest_.options().report("converting to " + result.label);
    contest_.enter(std::move(result), [&](ProductResult& made) {
      return spec.format.format() == Format::csr ? csr_for(spec, made) : kernel_for(made);
    });
  }

  void add_reguly(const CoopKernel& kernel) {
    const RegulyParameters parameters{
        .coop = kernel.coop, .repeat = kernel.repeat, .block_size = kernel.block_size};
    ProductResult result = unprepared();
    result.format = FormatSpec(Format::csr);
    result.label = text_of(parameters);
    contest_.options().report("converting to " + result.label);
    contest_.enter(std::move(result), [&](ProductResult& made) {
      return csr_product(csr_with({.kernel = CsrKernel::reguly, .reguly = parameters}), made);
    });
  }

  void add_plan() {
    contest_.options().report("planning");
    ProductResult result = unprepared();
    result.label = "plan";
    contest_.enter(std::move(result), [this](ProductResult& planned) {
      ProductOptions options;
      options.gpu_profile = &profile_;
      const auto plan =
          std::make_shared<const ProductPlan<V>>(plan_product(matrix_, options, stream_));
      const auto workspace =
          std::make_shared<typename ProductPlan<V>::Workspace>(plan->make_workspace(stream_));
      planned.format = FormatSpec(plan->choice().format);
      if (plan->record().values) planned.encodings = plan->record().values->slices;
      planned.label = "plan: " + label_of(planned.format);
      return MadeProduct{plan->choice().format_bytes, [this, plan, workspace] {
                           plan->apply(std::as_const(x_).span(), y_.span(), *workspace, stream_);
                         }};
    });
  }

  void add_peers(const MakePeers<V, I>& make_peers) {
    const PeerSource<V, I> source{.matrix = matrix_,
                                  .on_device = [this] { return csr_on_device(); },
                                  .stream = stream_,
                                  .progress = contest_.options().progress};
    for (const DevicePeer<V>& peer : make_peers(source)) {
      contest_.enter_peer(unprepared(), peer, [this, multiply = peer.multiply] {
        multiply(V{1}, std::as_const(x_).span(), y_.span());
      });
    }
  }

  MadeProduct csr_for(const ProductSpec& spec, ProductResult& result) {
    if (spec.kernel.empty()) return csr_product(csr_on_device(), result);
    const std::optional<CsrKernel> kernel = csr_kernel_named(name_of(spec));
    if (!kernel) throw Unavailable("GPUs have no kernel for the product " + name_of(spec));
    return csr_product(csr_with({.kernel = *kernel}), result);
  }

  MadeProduct csr_product(const std::shared_ptr<const DeviceCsr<V>>& stored,
                          ProductResult& result) {
    result.label = kernel_text(*stored);
    if (stored->kernel() == CsrKernel::classical) {
      result.kernel_parameters.push_back({"threads_per_row", stored->threads_per_row()});
    } else if (stored->kernel() == CsrKernel::reguly) {
      const RegulyParameters& reguly = stored->reguly();
      result.kernel_parameters = {
          {"coop", reguly.coop}, {"repeat", reguly.repeat}, {"block_size", reguly.block_size}};
    }
    MadeProduct made = product_of(stored);
    made.bytes = stored->product_bytes();
    return made;
  }

  std::shared_ptr<const DeviceCsr<V>> csr_with(const DeviceCsrOptions& options) {
    return std::make_shared<const DeviceCsr<V>>(matrix_, stream_, options);
  }

  MadeProduct kernel_for(ProductResult& result) {
    return with_format(
        matrix_, result.format, [&]<class Matrix>(const Matrix& host) -> MadeProduct {
          if constexpr (std::same_as<Matrix, PackedSell<V, I>>) {
            result.encodings = slice_encodings(host);
          }
          if constexpr (HasDeviceMatrix<Matrix>) {
            // What a product reads, which is less than what lies on the device.
            MadeProduct made =
                product_of(std::make_shared<const DeviceMatrix<Matrix>>(host, stream_));
            made.bytes = host.footprint().bytes();
            return made;
          } else {
            throw InvalidArgument("GPUs have no kernels for this format");
          }
        });
  }

  template <class Matrix>
  MadeProduct product_of(std::shared_ptr<const Matrix> stored) {
    const auto scratch = std::make_shared<DeviceScratch<V>>(stored->scratch_elements(1));
    return {stored->bytes(), [this, stored, scratch] {
              step(*stored, {}, {x_.span(), {}, y_.span(), 1, scratch->span()}, stored->all_rows(),
                   stream_);
            }};
  }

  std::shared_ptr<const DeviceCsr<V>> csr_on_device() {
    if (!csr_) csr_ = std::make_shared<const DeviceCsr<V>>(matrix_, stream_);
    return csr_;
  }

  const Csr<V, I>& matrix_;
  const GpuProfile& profile_;
  Stream stream_;
  const Array<V> start_;  // what x_ is whenever products are timed
  DeviceArray<V> x_;
  DeviceArray<V> y_;
  std::shared_ptr<const DeviceCsr<V>> csr_;
  internal::ProductContest contest_;
};

}  // namespace

template <Value V, Index I>
void hold_product_contest(const Csr<V, I>& matrix, const ProductField<V, I>& field,
                          const GpuProfile& profile, const ContestOptions& options,
                          const ProductDone& done) {
  use_device(profile.device.index);
  GpuProducts<V, I>(matrix, profile, options).run(field, done);
}

#define STRATA_INSTANTIATE(V, I)                                                  \
  template void hold_product_contest(const Csr<V, I>&, const ProductField<V, I>&, \
                                     const GpuProfile&, const ContestOptions&, const ProductDone&)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::gpu
