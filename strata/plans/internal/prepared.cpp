#include "strata/plans/internal/prepared.hpp"

#include <fmt/format.h>

#include <utility>

#include "strata/base/error.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/plans/internal/explanation.hpp"

namespace strata::detail {

template <Value V, Index I>
std::unique_ptr<const cpu::StoredProduct<V>> store_own_product(const Csr<V, I>& matrix,
                                                               const ProductSpec& spec) {
  if (spec.format.format() != Format::csr) return cpu::store_product(matrix, spec);
  return cpu::store_product(std::make_shared<const Csr<V, I>>(copied_by_threads(matrix)), spec);
}

template <Value V, Index I>
void Prepared<V, I>::assign_product(const Csr<V, I>& matrix) {
  PowerCandidate& choice = record.candidates.front();
  std::unique_ptr<const cpu::StoredProduct<V>> made;
  try {
    made = store_own_product(matrix, *choice.product);
  } catch (const InvalidMatrix& refusal) {
    // Symmetric CSR is chosen for values that may lose their symmetry. CSR takes any and needs no
    // scratch memory that workspaces might lack.
    if (asked_for_product) throw;
    ProductSpec csr{FormatSpec(Format::csr)};
    made = store_own_product(matrix, csr);
    // Nothing after this can fail.
    record.remarks.push_back(fmt::format("new values do not fit {}, products are in CSR since: {}",
                                         label_of(*choice.product), refusal.what()));
    choice.format = {Format::csr, 1};
    choice.product = std::move(csr);
    choice.measured_seconds = csr_seconds(record);
  }
  arrangement->product = std::move(made);
  choice.format_bytes = arrangement->product->bytes();
}

template <Value V, Index I>
void Prepared<V, I>::assign_values(const Csr<V, I>& matrix) {
  if (fingerprint_of(matrix.pattern()) != pattern) {
    throw InvalidArgument("new values come with a matrix of another pattern");
  }
  if (arrangement->product) {
    assign_product(matrix);
    return;
  }
  const double started = now();
  if (arrangement->order.is_identity()) {
    arrangement->matrix.assign_values(matrix);
  } else {
    arrangement->matrix.assign_values(reordered(matrix, arrangement->order));
  }
  record.take_over(arrangement->matrix.value_storage(), now() - started);
}

template <Value V, Index I>
std::string Prepared<V, I>::explain(const std::string& task) const {
  const Rates& rates = places.rates;
  Subject subject;
  subject.task = task;
  subject.power = options.power;
  subject.rows = arrangement->order.rows();
  subject.entries = pattern.entries;
  subject.vectors = options.vectors;
  subject.device = fmt::format("{} thread{}", threads, threads == 1 ? "" : "s");
  subject.machine = fmt::format(
      "The threads read {:.1f} GB/s from memory, {:.1f} GB/s from a shared cache and {:.1f} GB/s "
      "from private caches, of which windows may fill {} and {}.",
      rates.memory * 1e-9, rates.shared * 1e-9, rates.cache * 1e-9,
      bytes_text(static_cast<double>(places.shared_bytes)),
      bytes_text(static_cast<double>(places.private_bytes)));
  return detail::explain(record, subject);
}

#define STRATA_INSTANTIATE(V, I)                                                               \
  template std::unique_ptr<const cpu::StoredProduct<V>> store_own_product(const Csr<V, I>&,    \
                                                                          const ProductSpec&); \
  template struct Prepared<V, I>
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::detail
