#include "strata/measure/product_contest.hpp"

#include <algorithm>
#include <memory>

#include "strata/base/error.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/formats/registry.hpp"
#include "strata/kernels/cpu/parts.hpp"
#include "strata/kernels/has_kernel.hpp"
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
            [this] { return check_step(matrix_, {}, start_, {}, y_); }, options) {}

  void run(const ProductField<V, I>& field, const ProductDone& done) {
    if (field.peers) add_peers(field);
    if (field.kernels) {
      for (const FormatSpec& format : field.formats) {
        if (has_kernel(format, KernelTarget::processor)) add_kernel(format);
      }
    }
    if (field.plan) add_plan();
    for (const ProductResult& result : contest_.hold()) done(result);
    if (!field.reference) return;
    for (const FormatSpec& format : field.formats) {
      add_reference(format);
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

  void add_kernel(const FormatSpec& format) {
    add("cpu", format, thread_count(), [this](const auto& stored) {
      using Matrix = typename std::decay_t<decltype(stored)>::element_type;
      std::function<void()> multiply;
      if constexpr (cpu::HasStep<Matrix>) {
        multiply = [this, stored] {
          run_on_threads(thread_count(), [&](int thread, int team) {
            cpu::step(*stored, {}, {x_.data(), nullptr, y_.data(), 1},
                      cpu::balanced_rows(*stored, thread, team));
          });
        };
      }
      return multiply;
    });
  }

  void add_reference(const FormatSpec& format) {
    add("reference", format, 1, [this](const auto& stored) {
      return std::function<void()>([this, stored] {
        reference::spmv(*stored, V{1}, std::span<const V>(x_), V{}, std::span<V>(y_));
      });
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
      planned.format = FormatSpec(plan->choice().format);
      if (plan->record().values) planned.encodings = plan->record().values->slices;
      planned.label = "plan: " + label_of(planned.format);
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

  // `product` turns a shared pointer to the stored matrix into what is timed.
  template <class Product>
  void add(std::string backend, const FormatSpec& format, int threads, const Product& product) {
    ProductResult result = unprepared(std::move(backend), threads);
    result.format = format;
    result.label = label_of(format);
    contest_.options().report("converting to " + result.label);
    contest_.enter(std::move(result), [&](ProductResult& entered) {
      MadeProduct made;
      with_format(matrix_, format, [&]<class M>(M&& stored) {
        using Matrix = std::remove_cvref_t<M>;
        made.bytes = stored.footprint().bytes();
        if constexpr (std::same_as<Matrix, PackedSell<V, I>>) {
          entered.encodings = slice_encodings(stored);
        }
        if constexpr (std::is_lvalue_reference_v<M>) {
          // The matrix itself, which is not ours to delete.
          made.multiply = product(std::shared_ptr<const Matrix>(&stored, [](const Matrix*) {}));
        } else {
          made.multiply = product(std::make_shared<const Matrix>(std::move(stored)));
        }
      });
      return made;
    });
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
