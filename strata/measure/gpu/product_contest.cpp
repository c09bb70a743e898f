#include "strata/measure/gpu/product_contest.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "strata/base/instantiate.hpp"
#include "strata/device/device.hpp"
#include "strata/kernels/gpu/stored_product.hpp"
#include "strata/measure/gpu/contest.hpp"
#include "strata/measure/gpu/poison.hpp"
#include "strata/measure/internal/product_contest.hpp"
#include "strata/plans/gpu/product_plan.hpp"

namespace strata::gpu {

namespace {

using internal::MadeProduct;

// Of a list whose words name some products twice: csr takes one of the kernels that have names.
template <Value V, Index I>
std::vector<ProductSpec> each_once(const std::vector<ProductSpec>& specs, const Csr<V, I>& matrix) {
  const CsrRows rows = csr_rows(matrix.row_offsets());
  std::vector<ProductSpec> seen;
  std::vector<ProductSpec> once;
  for (const ProductSpec& spec : specs) {
    ProductSpec named = with_named_kernel(spec, rows);
    if (std::ranges::find(seen, named) != seen.end()) continue;
    seen.push_back(std::move(named));
    once.push_back(spec);
  }
  return once;
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
    for (const ProductSpec& spec : each_once(field.products, matrix_)) add_kernel(spec);
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
    add(spec.format, label_of(spec), [&] {
      // The one of CSR that the peers read as well.
      const bool shared = spec == ProductSpec{FormatSpec(Format::csr)};
      return shared ? product_of<V>(csr_on_device()) : store_product(matrix_, spec, stream_);
    });
  }

  void add_reguly(const CoopKernel& kernel) {
    const RegulyParameters parameters{
        .coop = kernel.coop, .repeat = kernel.repeat, .block_size = kernel.block_size};
    add(FormatSpec(Format::csr), label_of(parameters), [&] {
      return store_csr_product(matrix_, {.kernel = CsrKernel::reguly, .reguly = parameters},
                               stream_);
    });
  }

  // `label`: until `store()` has made the product, which knows more.
  template <class Store>
  void add(const FormatSpec& format, std::string label, const Store& store) {
    ProductResult result = unprepared();
    result.format = format;
    result.label = std::move(label);
    contest_.options().report("converting to " + result.label);
    contest_.enter(std::move(result), [&](ProductResult& made) {
      const std::shared_ptr<const StoredProduct<V>> product = store();
      made.label = product->label();
      made.kernel_parameters = product->kernel_parameters();
      made.encodings = product->encodings();
      const auto scratch = std::make_shared<DeviceScratch<V>>(product->scratch_elements(1));
      return MadeProduct{product->bytes(), [this, product, scratch] {
                           product->run({}, {x_.span(), {}, y_.span(), 1, scratch->span()},
                                        stream_);
                         }};
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
      planned.format = plan->choice().spec().format;
      if (plan->record().values) planned.encodings = plan->record().values->slices;
      planned.label = "plan: " + label_of(plan->choice().spec());
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
