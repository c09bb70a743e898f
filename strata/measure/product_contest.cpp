#include "strata/measure/product_contest.hpp"

#include <algorithm>
#include <memory>

#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/formats/registry.hpp"
#include "strata/kernels/cpu/stored_product.hpp"
#include "strata/kernels/reference/spmv.hpp"
#include "strata/measure/internal/product_contest.hpp"
#include "strata/measure/vectors.hpp"
#include "strata/plans/product_plan.hpp"

namespace strata {

namespace {

using internal::MadeProduct;

template <Value V, Index I>
class ProcessorProducts {
 public:
  ProcessorProducts(const Csr<V, I>& matrix, const MachineProfile& profile,
                    const ContestOptions& options)
      : matrix_(matrix),
        profile_(profile),
        start_(random_vector<V>(matrix.cols(), options.seed)),
        x_(start_),
        y_(static_cast<std::size_t>(matrix.rows()), V{}),
        contest_(
            work_of(matrix),
            {.poison_inputs = [this] { poison<V>(x_); },
             .restore_inputs = [this] { std::ranges::copy(start_, x_.begin()); },
             .poison_outputs = [this] { poison<V>(y_); }},
            [this] { return check_step(matrix_, {}, start_, {}, y_); }, options, &profile) {}

  void run(const ProductField<V, I>& field, const ProductDone& done) {
    contest_.set_predicted_alpha(field.alpha);
    if (field.peers) add_peers(field);
    for (const ProductSpec& product : field.products) add_kernel(product);
    if (field.plan) add_plan();
    for (const ProductResult& result : contest_.hold()) done(result);
    for (const ProductSpec& spec : field.reference) {
      add_reference(spec.format);
      for (const ProductResult& result : contest_.hold()) done(result);
    }
  }

 private:
  ProductResult unprepared(std::string backend, int threads) const {
    ProductResult result;
    result.backend = std::move(backend);
    result.precision = precision_of<V>();
    result.threads = threads;
    result.memory_bandwidth = profile_.memory_bandwidth(threads);
    return result;
  }

  void add_peers(const ProductField<V, I>& field) {
    contest_.options().report("converting for other libraries");
    for (const Peer<V>& peer : field.peers(matrix_)) {
      contest_.enter_peer(unprepared("vendor", peer.threads), peer,
                          [this, multiply = peer.multiply] { multiply(V{1}, x_, y_); });
    }
  }

  void add_kernel(const ProductSpec& spec) {
    ProductResult result = unprepared("cpu", thread_count());
    result.format = spec.format;
    result.label = label_of(spec);
    contest_.options().report("converting to " + result.label);
    contest_.enter(std::move(result), [&](ProductResult& entered) {
      const std::shared_ptr<const cpu::StoredProduct<V>> product =
          cpu::store_product(matrix_, spec);
      entered.encodings = product->encodings();
      const auto scratch = std::make_shared<Array<V>>(product->scratch_elements(1));
      return MadeProduct{product->bytes(), [this, product, scratch] {
                           product->run({}, {x_.data(), nullptr, y_.data(), 1}, *scratch);
                         }};
    });
  }

  void add_reference(const FormatSpec& format) {
    ProductResult result = unprepared("reference", 1);
    result.format = format;
    result.label = label_of(format);
    contest_.options().report("converting to " + result.label);
    contest_.enter(std::move(result), [&](ProductResult&) {
      const auto stored = std::make_shared<const AnyFormat<V, I>>(convert(matrix_, format));
      return std::visit(
          [&](const auto& matrix) {
            return MadeProduct{matrix.footprint().bytes(), [this, stored, &matrix] {
                                 reference::spmv(matrix, V{1}, std::span<const V>(x_), V{},
                                                 std::span<V>(y_));
                               }};
          },
          *stored);
    });
  }

  void add_plan() {
    contest_.options().report("planning");
    ProductResult result = unprepared("cpu", thread_count());
    result.label = "plan";
    contest_.enter(std::move(result), [this](ProductResult& planned) {
      const auto plan = std::make_shared<const ProductPlan<V, I>>(make_plan());
      const auto workspace =
          std::make_shared<typename ProductPlan<V, I>::Workspace>(plan->make_workspace());
      planned.format = plan->choice().spec().format;
      if (plan->record().values) planned.encodings = plan->record().values->slices;
      planned.label = "plan: " + label_of(plan->choice().spec());
      planned.threads = plan->threads();
      planned.memory_bandwidth = profile_.memory_bandwidth(plan->threads());
      return MadeProduct{plan->choice().format_bytes,
                         [this, plan, workspace] { plan->apply(x_, y_, *workspace); }};
    });
  }

  ProductPlan<V, I> make_plan() const {
    ProductOptions options;
    options.profile = &profile_;
    return plan_product(matrix_, options);
  }

  const Csr<V, I>& matrix_;
  const MachineProfile& profile_;
  const Array<V> start_;  // what x_ is whenever products are timed
  Array<V> x_;
  Array<V> y_;
  internal::ProductContest contest_;
};

}  // namespace

template <Value V, Index I>
void hold_product_contest(const Csr<V, I>& matrix, const ProductField<V, I>& field,
                          const MachineProfile& profile, const ContestOptions& options,
                          const ProductDone& done) {
  ProcessorProducts<V, I>(matrix, profile, options).run(field, done);
}

#define STRATA_INSTANTIATE(V, I)                                                   \
  template void hold_product_contest(const Csr<V, I>&, const ProductField<V, I>&,  \
                                     const MachineProfile&, const ContestOptions&, \
                                     const ProductDone&)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata
