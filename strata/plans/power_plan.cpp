#include "strata/plans/power_plan.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "strata/base/checked.hpp"
#include "strata/base/error.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/kernels/cpu/arithmetic.hpp"
#include "strata/plans/internal/power_planner.hpp"

namespace strata {

template <Value V, Index I>
struct PowerPlan<V, I>::Workspace::State {
  Identity plan;
  std::vector<Array<V>> vectors;
  std::unique_ptr<ProgressCounter[]> counters;
  int threads = 0;

  std::span<ProgressCounter> team() const {
    return {counters.get(), static_cast<std::size_t>(threads)};
  }
};

template <Value V, Index I>
PowerPlan<V, I>::Workspace::Workspace() = default;
template <Value V, Index I>
PowerPlan<V, I>::Workspace::~Workspace() = default;
template <Value V, Index I>
PowerPlan<V, I>::Workspace::Workspace(Workspace&&) noexcept = default;
template <Value V, Index I>
typename PowerPlan<V, I>::Workspace& PowerPlan<V, I>::Workspace::operator=(Workspace&&) noexcept =
    default;

template <Value V, Index I>
Offset PowerPlan<V, I>::Workspace::bytes() const {
  if (!state_) return 0;
  Offset bytes = state_->threads * Offset{sizeof(ProgressCounter)};
  for (const Array<V>& vector : state_->vectors) {
    bytes += static_cast<Offset>(vector.size()) * Offset{sizeof(V)};
  }
  return bytes;
}

template <Value V, Index I>
PowerPlan<V, I>::PowerPlan() = default;
template <Value V, Index I>
PowerPlan<V, I>::~PowerPlan() = default;
template <Value V, Index I>
PowerPlan<V, I>::PowerPlan(PowerPlan&&) noexcept = default;
template <Value V, Index I>
PowerPlan<V, I>& PowerPlan<V, I>::operator=(PowerPlan&&) noexcept = default;

namespace {

void require_elements(std::string_view what, std::size_t elements, Offset rows, int vectors) {
  const Offset expected = checked_multiply<Offset>(rows, vectors, "the elements of vectors");
  if (elements == static_cast<std::size_t>(expected)) return;
  throw InvalidArgument(fmt::format("{} has {} elements; {} rows and {} vectors make {}", what,
                                    elements, rows, vectors, expected));
}

template <Value V>
void require_apart(std::span<const V> x, std::span<V> out) {
  const std::less<const V*> before;
  const bool apart = x.empty() || out.empty() || !before(x.data(), out.data() + out.size()) ||
                     !before(out.data(), x.data() + x.size());
  if (!apart) throw InvalidArgument("x overlaps the vectors that its powers are written to");
}

template <Value V, Index I>
void require_options(const Csr<V, I>& matrix, const PowerOptions& options) {
  if (matrix.rows() != matrix.cols()) {
    throw InvalidArgument(
        fmt::format("a {} x {} matrix has no powers", matrix.rows(), matrix.cols()));
  }
  if (options.power < 1) {
    throw InvalidArgument(fmt::format("power {} is not positive", options.power));
  }
  if (options.vectors < 1 || options.vectors > cpu::kMaxVectors) {
    throw InvalidArgument(fmt::format("a plan is for 1 to {} vectors at a time, not {}",
                                      cpu::kMaxVectors, options.vectors));
  }
  if (options.threads < 0 || options.block < 0 || options.cache_bytes < 0 ||
      options.slice_height < 0) {
    throw InvalidArgument("threads, block, cache and slice height cannot be negative");
  }
  if (options.threads > kMaxThreads) {
    throw InvalidArgument(
        fmt::format("a plan is for {} threads at most, not {}", kMaxThreads, options.threads));
  }
  checked_multiply<Offset>(
      checked_multiply<Offset>(matrix.rows(), options.vectors, "the elements of vectors"),
      checked_add<Offset>(options.power, 1, "the number of vectors") * Offset{sizeof(V)},
      "the bytes of all powers");
  if (options.strategy == PowerStrategy::graph) {
    throw Unavailable("the strategy graph is not here: it runs on GPUs");
  }
  if (options.format == PowerFormat::ell) {
    throw Unavailable("powers in the format ell are not here: they run on GPUs");
  }
  options.basis.template require_steps<V>(options.power);
}

}  // namespace

template <Value V, Index I>
const detail::PreparedPowers<V, I>& PowerPlan<V, I>::prepared() const {
  if (!prepared_) throw InvalidArgument("the plan is empty: it was moved from or never made");
  return *prepared_;
}

template <Value V, Index I>
I PowerPlan<V, I>::rows() const {
  return prepared().arrangement->order.rows();
}
template <Value V, Index I>
I PowerPlan<V, I>::padded_rows() const {
  return prepared().arrangement->order.padded_rows();
}
template <Value V, Index I>
int PowerPlan<V, I>::power() const {
  return prepared().options.power;
}
template <Value V, Index I>
int PowerPlan<V, I>::vectors() const {
  return prepared().options.vectors;
}
template <Value V, Index I>
I PowerPlan<V, I>::vector_rows() const {
  return prepared().options.vector_order == VectorOrder::plan ? padded_rows() : rows();
}

template <Value V, Index I>
typename PowerPlan<V, I>::Workspace PowerPlan<V, I>::workspace_with(int vectors) const {
  Workspace workspace;
  workspace.state_ = std::make_unique<typename Workspace::State>();
  workspace.state_->plan = prepared().identity;
  workspace.state_->threads = prepared().threads;
  workspace.state_->counters = std::make_unique<ProgressCounter[]>(prepared().threads);
  const auto elements = static_cast<std::size_t>(padded_rows()) * this->vectors();
  for (int k = 0; k < vectors; ++k) workspace.state_->vectors.emplace_back(elements);
  return workspace;
}

template <Value V, Index I>
typename PowerPlan<V, I>::Workspace PowerPlan<V, I>::make_workspace() const {
  return workspace_with(prepared().direct() ? 0 : power() + 1);
}

template <Value V, Index I>
typename PowerPlan<V, I>::Workspace PowerPlan<V, I>::make_workspace_for_last() const {
  return workspace_with(prepared().direct() ? 1 : 3);
}

template <Value V, Index I>
typename PowerPlan<V, I>::Workspace::State& PowerPlan<V, I>::state_of(Workspace& workspace,
                                                                      int vectors) const {
  if (!workspace.state_) {
    throw InvalidArgument("the workspace is empty: it was moved from or no plan made it");
  }
  if (workspace.state_->plan != prepared().identity) {
    throw InvalidArgument("the workspace was made for another plan");
  }
  if (workspace.state_->vectors.size() < static_cast<std::size_t>(vectors)) {
    throw InvalidArgument("the workspace was made for another function of the plan");
  }
  return *workspace.state_;
}

template <Value V, Index I>
void PowerPlan<V, I>::apply(std::span<const V> x, std::span<V> powers, Workspace& workspace) const {
  require_elements("x", x.size(), vector_rows(), vectors());
  require_elements("the block of powers", powers.size(), Offset{vector_rows()} * power(),
                   vectors());
  require_apart(x, powers);
  const ThreadCountScope team(prepared().threads);
  const auto each = x.size();
  if (prepared().direct()) {
    auto& state = state_of(workspace, 0);
    prepared().run(state.team(), [&](int k) {
      return k == 0 ? const_cast<V*>(x.data()) : powers.data() + (k - 1) * each;
    });
    return;
  }
  auto& state = state_of(workspace, power() + 1);
  prepared().arrangement->order.template gather<V>(x, state.vectors[0], vectors());
  prepared().run(state.team(), [&](int k) { return state.vectors[k].data(); });
  for (int k = 1; k <= power(); ++k) {
    prepared().arrangement->order.template scatter<V>(
        state.vectors[k], powers.subspan((k - 1) * each, each), vectors());
  }
}

template <Value V, Index I>
void PowerPlan<V, I>::apply_last(std::span<const V> x, std::span<V> last,
                                 Workspace& workspace) const {
  require_elements("x", x.size(), vector_rows(), vectors());
  require_elements("the last power", last.size(), vector_rows(), vectors());
  require_apart(x, last);
  const ThreadCountScope team(prepared().threads);
  const bool direct = prepared().direct();
  auto& state = state_of(workspace, direct ? 1 : 3);
  // Powers alternate between two vectors so that the last one is where it belongs.
  V* start = direct ? const_cast<V*>(x.data()) : state.vectors[1].data();
  V* result = direct ? last.data() : state.vectors[2].data();
  V* other = state.vectors[0].data();
  if (!direct) prepared().arrangement->order.template gather<V>(x, state.vectors[1], vectors());
  prepared().run(state.team(), [&](int k) {
    if (k == 0) return start;
    return (power() - k) % 2 == 0 ? result : other;
  });
  if (!direct) prepared().arrangement->order.template scatter<V>(state.vectors[2], last, vectors());
}

template <Value V, Index I>
void PowerPlan<V, I>::to_plan_order(std::span<const V> of_rows, std::span<V> padded) const {
  const ThreadCountScope team(prepared().threads);
  prepared().arrangement->order.gather(of_rows, padded, vectors());
}

template <Value V, Index I>
void PowerPlan<V, I>::to_caller_order(std::span<const V> padded, std::span<V> of_rows) const {
  const ThreadCountScope team(prepared().threads);
  prepared().arrangement->order.scatter(padded, of_rows, vectors());
}

template <Value V, Index I>
void PowerPlan<V, I>::update_values(const Csr<V, I>& matrix) {
  const ThreadCountScope team(prepared().threads);
  detail::Arrangement<V, I>& arrangement = *prepared().arrangement;
  if (fingerprint_of(matrix.pattern()) != prepared().pattern) {
    throw InvalidArgument("new values come with a matrix of another pattern");
  }
  if (arrangement.order.is_identity()) {
    arrangement.matrix.assign_values(matrix);
  } else {
    arrangement.matrix.assign_values(reordered(matrix, arrangement.order));
  }
}

template <Value V, Index I>
const PowerCandidate& PowerPlan<V, I>::choice() const {
  return prepared().candidates.front();
}
template <Value V, Index I>
const std::vector<PowerCandidate>& PowerPlan<V, I>::candidates() const {
  return prepared().candidates;
}
template <Value V, Index I>
Offset PowerPlan<V, I>::levels() const {
  return prepared().levels;
}
template <Value V, Index I>
double PowerPlan<V, I>::setup_seconds() const {
  return prepared().setup_seconds;
}
template <Value V, Index I>
int PowerPlan<V, I>::threads() const {
  return prepared().threads;
}

template <Value V, Index I>
double PowerPlan<V, I>::break_even() const {
  const double saved = prepared().plain_seconds - choice().seconds();
  return saved > 0 ? prepared().setup_seconds / saved : 0;
}

template <Value V, Index I>
PowerPlan<V, I> plan_powers(const Csr<V, I>& matrix, const PowerOptions& options) {
  require_options(matrix, options);
  PowerPlan<V, I> plan;
  plan.prepared_ =
      std::make_unique<detail::PreparedPowers<V, I>>(detail::prepare_powers<V, I>(matrix, options));
  return plan;
}

template <Value V>
std::optional<Overflow> find_overflow(std::span<const V> powers, int power) {
  if (power < 1 || powers.size() % static_cast<std::size_t>(power) != 0) {
    throw InvalidArgument(fmt::format("{} elements are not {} vectors", powers.size(), power));
  }
  const auto each = static_cast<Offset>(powers.size()) / power;
  const auto count = static_cast<Offset>(powers.size());
  const Offset first = parallel_reduce(
      count, count,
      [&](Offset begin, Offset end) {
        const auto found = std::find_if(powers.begin() + begin, powers.begin() + end,
                                        [](V value) { return !cpu::is_finite(value); });
        return found == powers.begin() + end ? count : static_cast<Offset>(found - powers.begin());
      },
      [](Offset a, Offset b) { return std::min(a, b); });
  if (first == count) return std::nullopt;
  return Overflow{static_cast<int>(first / each) + 1, first % each};
}

#define STRATA_INSTANTIATE(V, I)  \
  template class PowerPlan<V, I>; \
  template PowerPlan<V, I> plan_powers(const Csr<V, I>&, const PowerOptions&)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);
#define STRATA_INSTANTIATE_VALUE(V, I) \
  template std::optional<Overflow> find_overflow(std::span<const V>, int)
STRATA_FOR_EACH_VALUE(STRATA_INSTANTIATE_VALUE, );

}  // namespace strata
