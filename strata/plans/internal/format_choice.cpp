#include "strata/plans/internal/format_choice.hpp"

#include <algorithm>
#include <span>

#include "strata/base/instantiate.hpp"
#include "strata/formats/value_table.hpp"
#include "strata/kernels/cpu/cheap_values.hpp"
#include "strata/model/product_model.hpp"
#include "strata/plans/internal/part_timer.hpp"

namespace strata::detail {

namespace {

// Values are encoded for all rows if that may be faster than to store them in full, by a sample.
constexpr double kMayWin = 1.05;
// Rows are stored in another format than that with the fewest bytes if their kernels make that
// faster by this much, on a sample.
constexpr double kFasterFormat = 0.97;
// What takes so many times the bytes of the best is not timed.
constexpr double kTooManyBytes = 1.6;
// A format for sweeps alone is worth it if they may take this much of the time of plain products.
constexpr double kSweepMayWin = 0.8;

// Of a product, per entry.
struct EntryCosts {
  double matrix_seconds = 0;  // to read it from where it is
  double vector_seconds = 0;
  double kernel_seconds = 0;  // with all data at hand

  // At least, and as reading and computing hinder each other.
  double plain() const { return std::max(matrix_seconds + vector_seconds, kernel_seconds); }
  double likely() const {
    return PredictedTime{kernel_seconds, matrix_seconds + vector_seconds}.seconds();
  }
  // Where the matrix is read once for so many.
  double swept(int power) const {
    return std::max(matrix_seconds / power + vector_seconds, kernel_seconds);
  }
};

template <Value V, Index I>
class FormatChooser {
 public:
  FormatChooser(ProcessorState<V, I>& state, bool swept) : state_(state), swept_(swept) {}

  FormatChoice choose(const SampledFormat& best, const PaddedOrder<I>& order) {
    const bool packed = best.stored.format == Format::packed_sell;
    if (state_.options.values && packed) {
      return {{{Format::packed_sell, best.stored.slice_height, *state_.options.values}}};
    }
    const StoredValues last =
        state_.options.autotune ? StoredValues::all : cpu::cheap_values(cpu::level());
    std::vector<StoredValues> levels;
    for (const StoredValues values :
         {StoredValues::constants, StoredValues::few, StoredValues::all}) {
      if (state_.options.values ? values == *state_.options.values : values <= last) {
        levels.push_back(values);
      }
    }
    const Csr<V, I> sample = sample_of(state_.matrix, order);
    // All values tell what those of a sample do not: how often they repeat.
    if (hardly_repeat(state_.matrix.values())) levels.clear();
    const auto encoded = encoded_storage(sample, best, state_.options, levels);
    if (!state_.options.autotune) {
      return {{encoded.empty() ? best.stored : encoded.back().stored}};
    }
    const std::vector<SampledFormat> full = full_formats(sample, best);
    std::vector<SampledFormat> all = full;
    all.insert(all.end(), encoded.begin(), encoded.end());
    const std::vector<EntryCosts> costs = entry_costs(sample, all);
    remember_csr(all, costs);
    FormatChoice choice{fastest_of(full, costs)};
    choice.for_sweeps_alone = choice.formats.size() > 1 && !must_block(state_.options);
    // Beside a copy of the matrix in another order there is room for one of them.
    const bool one_alone = !order.is_identity();
    if (one_alone) {
      choice.formats.erase(choice.formats.begin(), choice.formats.end() - 1);
      choice.for_sweeps_alone = false;
    }
    if (encoded.empty()) return choice;
    // Encoding all rows takes long: that is worth it for the fastest alone, if it may win.
    const auto first = costs.begin() + std::ssize(full);
    const auto fastest = std::ranges::min_element(first, costs.end(), {}, &EntryCosts::plain);
    if (fastest->plain() < (one_alone ? 1 : kMayWin) * costs.front().likely()) {
      // Two are enough to choose from.
      choice.formats.resize(one_alone ? 0 : 1);
      choice.for_sweeps_alone = false;
      choice.formats.push_back(encoded[static_cast<std::size_t>(fastest - first)].stored);
      const auto least = [&](const EntryCosts& some) {
        return swept_ ? std::min(some.plain(), some.swept(state_.options.power)) : some.plain();
      };
      choice.least_seconds = least(*std::ranges::min_element(costs.begin(), first, {}, least)) *
                             static_cast<double>(state_.matrix.nnz());
    }
    return choice;
  }

 private:
  // The best by its bytes first, then what may be faster than that.
  std::vector<SampledFormat> full_formats(const Csr<V, I>& sample,
                                          const SampledFormat& best) const {
    std::vector<SampledFormat> formats{best};
    if (state_.options.format != Format::automatic || state_.options.slice_height != 0 ||
        state_.options.values) {
      return formats;
    }
    for (const SampledFormat& other : full_storage(sample)) {
      const bool may_win = other.bytes_per_entry <= kTooManyBytes * best.bytes_per_entry;
      if (may_win && other.stored != best.stored) formats.push_back(other);
    }
    return formats;
  }

  void remember_csr(const std::vector<SampledFormat>& formats,
                    const std::vector<EntryCosts>& costs) {
    const auto csr = std::ranges::find(
        formats, Format::csr, [](const SampledFormat& some) { return some.stored.format; });
    if (csr == formats.end() || state_.csr_kernel_seconds > 0) return;
    state_.csr_kernel_seconds =
        costs[csr - formats.begin()].kernel_seconds * static_cast<double>(state_.matrix.nnz());
  }

  // For plain products and, if that is another one, for sweeps: the first format, unless those
  // after it are faster.
  std::vector<StoredFormat> fastest_of(std::span<const SampledFormat> formats,
                                       std::span<const EntryCosts> costs) const {
    std::size_t plain = 0;
    std::size_t swept = 0;
    const int power = state_.options.power;
    for (std::size_t i = 1; i < formats.size(); ++i) {
      if (costs[i].plain() < kFasterFormat * costs[plain].plain()) plain = i;
      if (costs[i].swept(power) < kFasterFormat * costs[swept].swept(power)) swept = i;
    }
    if (!swept_ || swept == plain) return {formats[plain].stored};
    // To convert the rows once more takes as long as many products.
    const bool may_win = costs[swept].swept(power) < kSweepMayWin * costs[plain].likely();
    if (!may_win && !must_block(state_.options)) return {formats[plain].stored};
    return {formats[plain].stored, formats[swept].stored};
  }

  // Kernels are timed in turn, round by round: who is disturbed in one is not in all.
  std::vector<EntryCosts> entry_costs(const Csr<V, I>& sample,
                                      const std::vector<SampledFormat>& formats) {
    constexpr int kRounds = 2;
    if (formats.size() < 2 || state_.matrix.nnz() == 0) {
      return std::vector<EntryCosts>(formats.size());
    }
    // With full values, a part of the sample is all that kernels are timed on.
    const Csr<V, I> part =
        middle_of(sample, Trials<V, I>::kProbeBytes / Offset{sizeof(V) + sizeof(I)});
    const auto rows_for = [&](const SampledFormat& format) -> const Csr<V, I>& {
      const bool encoded =
          format.stored.format == Format::packed_sell && format.stored.values != StoredValues::full;
      return encoded ? sample : part;
    };
    const auto entries = static_cast<double>(state_.matrix.nnz());
    const auto row_vectors = static_cast<double>(3 * state_.matrix.rows() * state_.row_bytes());
    std::vector<StoredMatrix<V, I>> stored;
    std::vector<EntryCosts> costs;
    for (const SampledFormat& format : formats) {
      const double bytes =
          format.bytes_per_entry * entries + static_cast<double>(state_.vector_bytes());
      const double rate = state_.rate_of(bytes);
      stored.emplace_back(rows_for(format), format.stored);
      costs.push_back({.matrix_seconds = format.bytes_per_entry / rate,
                       .vector_seconds = row_vectors / entries / rate});
    }
    for (int round = 0; round < kRounds; ++round) {
      for (std::size_t i = 0; i < formats.size(); ++i) {
        const std::span<const Offset> offsets = rows_for(formats[i]).row_offsets();
        const auto entries_of = [&](RowRange<I> rows) {
          return offsets[rows.end] - offsets[rows.begin];
        };
        const double seconds = state_.trials.entry_seconds(stored[i], sample.cols(), entries_of) /
                               state_.prepared.threads;
        double& kernel = costs[i].kernel_seconds;
        kernel = round == 0 ? seconds : std::min(kernel, seconds);
      }
    }
    return costs;
  }

  ProcessorState<V, I>& state_;
  bool swept_;
};

}  // namespace

template <Value V, Index I>
FormatChoice choose_formats(ProcessorState<V, I>& state, const SampledFormat& best,
                            const PaddedOrder<I>& order, bool swept) {
  const PartTimer timer(state.prepared.record, PlanningPart::Kind::formats);
  return FormatChooser<V, I>(state, swept).choose(best, order);
}

#define STRATA_INSTANTIATE(V, I)                                                    \
  template FormatChoice choose_formats(ProcessorState<V, I>&, const SampledFormat&, \
                                       const PaddedOrder<I>&, bool)
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::detail
