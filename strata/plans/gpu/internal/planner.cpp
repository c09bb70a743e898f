// The backend of plans/internal/planning.hpp for a device, and what plans on GPUs are made of by
// it.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "strata/base/checked.hpp"
#include "strata/base/error.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/machine/gpu/device_profile.hpp"
#include "strata/plans/gpu/internal/autotuner.hpp"
#include "strata/plans/gpu/internal/prepared.hpp"
#include "strata/plans/gpu/internal/proposals.hpp"
#include "strata/plans/internal/explanation.hpp"
#include "strata/plans/internal/planning.hpp"

namespace strata::gpu::detail {

namespace {

using I = std::int32_t;

template <Value V>
class GpuPlanner {
 public:
  using Proposal = detail::Proposal<V>;

  GpuPlanner(const Csr<V, I>& matrix, const strata::detail::Reach& reach,
             const PowerOptions& options, const strata::detail::ProductRequest& request,
             Prepared<V>& prepared, Stream& stream)
      : matrix_(matrix),
        proposals_(matrix, reach, options, request, prepared, stream),
        autotuner_(matrix, options, prepared, stream) {}

  PatternView<I> pattern() const { return matrix_.pattern(); }
  ProposalList<V>& proposals() { return proposals_.all(); }
  static strata::detail::Handicaps handicaps() { return kHandicaps; }
  static bool affords_sweeps() { return true; }

  void propose_given_order() { proposals_.propose_given_order(); }
  bool worth_searching() const { return proposals_.worth_searching(); }
  bool promising(const LevelStructure<I>& levels) const { return proposals_.promising(levels); }
  void propose_levels(const LevelStructure<I>& levels) { proposals_.propose_levels(levels); }
  void autotune() {
    const bool decided = proposals_.settled() && proposals_.all().size() == 1;
    if (decided) return;
    autotuner_.time_favourites(proposals_.all());
    autotuner_.time_others(proposals_.all());
  }
  std::ptrdiff_t take(const std::vector<Proposal*>& ranked) { return autotuner_.take(ranked); }
  void finish() { proposals_.finish(); }

 private:
  const Csr<V, I>& matrix_;
  Proposals<V> proposals_;
  Autotuner<V> autotuner_;
};

template <Value V>
void find_profile(Prepared<V>& prepared) {
  prepared.device = device_properties(current_device()).name;
  if (prepared.options.gpu_profile == nullptr) {
    const auto& cached = cached_gpu_profile(current_device());
    prepared.profile = cached.profile;
    if (!cached.remark.empty()) prepared.remark(cached.remark);
    return;
  }
  prepared.profile = *prepared.options.gpu_profile;
  if (prepared.profile.device.name != prepared.device) {
    prepared.remark(fmt::format("predicted with the profile of another device, {}",
                                prepared.profile.device.name));
  }
}

template <Value V, Index J>
Csr<V, I> with_short_indices(const Csr<V, J>& matrix) {
  Array<I> columns(matrix.columns().size());
  std::ranges::transform(matrix.columns(), columns.begin(),
                         [](J column) { return static_cast<I>(column); });
  return Csr<V, I>(narrow<I>(matrix.rows(), "the number of rows on a GPU"),
                   narrow<I>(matrix.cols(), "the number of columns on a GPU"),
                   Array<Offset>(matrix.row_offsets().begin(), matrix.row_offsets().end()),
                   std::move(columns), Array<V>(matrix.values().begin(), matrix.values().end()));
}

// Calls body with a matrix of 32-bit indices.
template <Value V, Index J, class Body>
auto with_device_indices(const Csr<V, J>& matrix, const Body& body) {
  if constexpr (std::same_as<J, I>) {
    return body(matrix);
  } else {
    return body(with_short_indices(matrix));
  }
}

}  // namespace

template <Value V>
template <Index J>
void Prepared<V>::assign_values(const Csr<V, J>& matrix, Stream& stream) {
  if (fingerprint_of(matrix.pattern()) != pattern) {
    throw InvalidArgument("new values come with a matrix of another pattern");
  }
  if (std::holds_alternative<SharedProduct<V>>(method)) {
    with_device_indices(matrix, [&](const Csr<V, I>& same) { assign_product(same, stream); });
    return;
  }
  const double started = strata::detail::now();
  MethodOfValues<V> made = with_device_indices(matrix, [&](const Csr<V, I>& same) {
    const PaddedOrder<I>& order = rows->order;
    if (order.is_identity()) return method_like(method, stored, same, stream);
    return method_like(method, stored, reordered(same, order), stream);
  });
  if (made.method.index() != method.index()) {
    remark("new values leave wavefront sweeps no room for a window: products are plain ones now");
  }
  method = std::move(made.method);
  record.take_over(made.values, strata::detail::now() - started);
  record.candidates.front().format_bytes = made.format_bytes;
}

template <Value V>
void Prepared<V>::assign_product(const Csr<V, I>& matrix, Stream& stream) {
  PowerCandidate& choice = record.candidates.front();
  SharedProduct<V> made;
  try {
    made = store_product(matrix, *choice.product, stream);
  } catch (const InvalidMatrix& refusal) {
    // Symmetric CSR is chosen for values that may lose their symmetry. This kernel takes any and
    // needs no scratch memory that workspaces might lack.
    if (asked_for_product) throw;
    ProductSpec csr = csr_product_spec(CsrKernel::classical);
    made = store_product(matrix, csr, stream);
    // Nothing after this can fail.
    remark(fmt::format("new values do not fit {}, products are in CSR since: {}",
                       label_of(*choice.product), refusal.what()));
    choice.format = {Format::csr, 1};
    choice.product = std::move(csr);
    choice.measured_seconds = 0;
  }
  choice.format_bytes = made->bytes();
  method = std::move(made);
}

template <Value V>
std::string Prepared<V>::explain(const std::string& task) const {
  strata::detail::Subject subject;
  subject.task = task;
  subject.power = options.power;
  subject.rows = rows->order.rows();
  subject.entries = nnz;
  subject.vectors = options.vectors;
  subject.device = fmt::format("on {}", device);
  subject.machine = fmt::format(
      "It reads {:.0f} GB/s from memory and {:.0f} GB/s from {} of L2; a signal takes {} from one "
      "multiprocessor to another.",
      profile.memory_bandwidth() * 1e-9, profile.l2_bandwidth() * 1e-9,
      strata::detail::bytes_text(static_cast<double>(profile.l2_bytes())),
      strata::detail::time_text(profile.handoff_seconds));
  return strata::detail::explain(record, subject);
}

template <Value V, Index J>
std::unique_ptr<Prepared<V>> prepare(const Csr<V, J>& matrix, const PowerOptions& options,
                                     Stream& stream,
                                     const strata::detail::ProductRequest& request) {
  const double started = strata::detail::now();
  auto prepared = std::make_unique<Prepared<V>>();
  prepared->options = options;
  prepared->nnz = matrix.nnz();
  const auto known = [&] {
    const strata::detail::PartTimer timer(prepared->record, PlanningPart::Kind::pattern);
    return strata::detail::look_at(matrix.pattern());
  }();
  prepared->pattern = known.fingerprint;
  prepared->set_basis(options.basis);
  with_device_indices(matrix, [&](const Csr<V, I>& same) {
    prepared->cols = same.cols();
    find_profile(*prepared);
    GpuPlanner<V> planner(same, known.reach, options, request, *prepared, stream);
    strata::detail::choose(planner, options, started, prepared->record);
    planner.finish();
  });
  return prepared;
}

#define STRATA_INSTANTIATE_VALUE(V, unused) template struct Prepared<V>
STRATA_FOR_EACH_VALUE(STRATA_INSTANTIATE_VALUE, );
#define STRATA_INSTANTIATE(V, J)                                                                \
  template void Prepared<V>::assign_values(const Csr<V, J>&, Stream&);                          \
  template std::unique_ptr<Prepared<V>> prepare(const Csr<V, J>&, const PowerOptions&, Stream&, \
                                                const strata::detail::ProductRequest&)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::gpu::detail
