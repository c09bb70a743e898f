#include "cli/distributed/measuring.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <numeric>

#include "cli/parts/interruption.hpp"
#include "strata/base/checked.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/distributed/network.hpp"
#include "strata/kernels/reference/spmv.hpp"
#include "strata/machine/cached_profile.hpp"
#include "strata/measure/vectors.hpp"

namespace strata::cli::distributed {

namespace {
// Of rows that are checked at a time, about.
constexpr Offset kPieceEntries = Offset{1} << 22;
}  // namespace

void on_first_rank(const std::function<void()>& action) {
  std::exception_ptr failure;
  if (world().rank() == 0) {
    try {
      action();
    } catch (const Interrupted&) {
      throw;
    } catch (...) {
      failure = std::current_exception();
    }
  }
  strata::distributed::meet(world());
  world().together([&] {
    if (failure) std::rethrow_exception(failure);
  });
}

void use_threads(const CommonOptions& options) {
  if (options.threads == 0) set_thread_count(world().threads_per_rank());
}

const CachedProfile& find_machine_of_ranks(ResultDocument& document, Progress& progress) {
  std::string text;
  on_first_rank([&] { text = to_json(find_machine(document, progress).profile); });
  text = world().broadcast(text, 0);
  if (world().rank() != 0) set_machine_profile(profile_from_json(text, "the profile of rank 0"));
  return cached_machine_profile();
}

ContestOptions rank_contest_options(const MeasuringOptions& options, Progress& progress) {
  ContestOptions contest = contest_options(options, progress);
  const Stopwatch& here = host_stopwatch();
  contest.stopwatch = {.seconds_of =
                           [&here](const std::function<void()>& run, int times) {
                             world().barrier();
                             return world().max(here.seconds_of(run, times));
                           },
                       // Long enough for ranks that leave the barrier one after another.
                       .shortest_sample = std::max(here.shortest_sample, 1e-3)};
  return contest;
}

std::vector<double> seconds_by_rank(const std::function<void()>& run, int times) {
  std::vector<double> samples;
  for (int i = 0; i < times; ++i) {
    world().barrier();
    samples.push_back(host_stopwatch().seconds_of(run, 1));
  }
  return world().gather_all(summarise(samples).median);
}

double imbalance_of(const std::vector<double>& seconds) {
  const double sum = std::accumulate(seconds.begin(), seconds.end(), 0.0);
  return sum > 0 ? *std::ranges::max_element(seconds) * static_cast<double>(seconds.size()) / sum
                 : 1;
}

Offset sum_of(const std::vector<RankShare>& shares, Offset RankShare::* of) {
  Offset sum = 0;
  for (const RankShare& share : shares) sum += share.*of;
  return sum;
}

Json json_of(const std::vector<RankShare>& shares, const std::vector<double>& seconds) {
  const auto most = [&](Offset RankShare::* of) {
    Offset largest = 0;
    for (const RankShare& share : shares) largest = std::max(largest, share.*of);
    return largest;
  };
  Json per_rank = Json::array();
  for (std::size_t rank = 0; rank < shares.size(); ++rank) {
    const RankShare& share = shares[rank];
    Json line{{"rank", rank},
              {"rows", share.rows},
              {"entries", share.entries},
              {"interior_rows", share.interior_rows},
              {"cut_entries", share.cut_entries},
              {"ghosts", share.ghosts},
              {"partners", share.partners},
              {"messages", share.messages},
              {"message_bytes", share.bytes}};
    if (rank < seconds.size()) line["seconds"] = seconds[rank];
    per_rank.push_back(std::move(line));
  }
  const auto entries = static_cast<double>(sum_of(shares, &RankShare::entries));
  const auto cut = static_cast<double>(sum_of(shares, &RankShare::cut_entries));
  return {{"ranks", shares.size()},
          {"messages", sum_of(shares, &RankShare::messages)},
          {"message_bytes", sum_of(shares, &RankShare::bytes)},
          {"most_messages", most(&RankShare::messages)},
          {"most_message_bytes", most(&RankShare::bytes)},
          {"edge_cut_share", entries > 0 ? cut / entries : 0.0},
          {"imbalance",
           {{"rows", imbalance(shares, &RankShare::rows)},
            {"entries", imbalance(shares, &RankShare::entries)},
            {"seconds", imbalance_of(seconds)}}},
          {"per_rank", per_rank}};
}

std::string ranks_text(int threads) {
  const int nodes = (world().size() + world().ranks_on_node() - 1) / world().ranks_on_node();
  return fmt::format("{} ranks of {} thread{} on {}\n\n", world().size(), threads,
                     threads == 1 ? "" : "s",
                     nodes == 1 ? "one node" : fmt::format("{} nodes", nodes));
}

template <Value V, Index I>
LocalRows<V, I>::LocalRows(const DistributedMatrix<V, I>& matrix) : matrix_(matrix) {
  for (const I column : matrix.local.columns()) {
    if (!is_own(column)) ghosts_.push_back(column);
  }
  std::ranges::sort(ghosts_);
  const auto rest = std::ranges::unique(ghosts_);
  ghosts_.erase(rest.begin(), rest.end());
  below_ = std::ranges::lower_bound(ghosts_, matrix.cols.begin(world().rank())) - ghosts_.begin();
}

// Numbers keep the order of the columns, so that rows are added up as in the whole matrix.
template <Value V, Index I>
template <class Use>
void LocalRows<V, I>::for_each_piece(const Use& use) const {
  const auto offsets = matrix_.local.row_offsets();
  const Offset first = matrix_.cols.begin(world().rank());
  const Offset own = matrix_.cols.size(world().rank());
  const I cols = narrow<I>(own + std::ssize(ghosts_), "the columns of a rank");
  const Offset rows = matrix_.local.rows();
  for (Offset begin = 0; begin < rows;) {
    const Offset full = offsets[begin] + kPieceEntries;
    const Offset end =
        std::max<Offset>(std::ranges::upper_bound(offsets, full) - offsets.begin() - 1, begin + 1);
    const auto entries = static_cast<std::size_t>(offsets[end] - offsets[begin]);
    const auto columns =
        matrix_.local.columns().subspan(static_cast<std::size_t>(offsets[begin]), entries);
    Array<Offset> row_offsets(static_cast<std::size_t>(end - begin) + 1);
    for (Offset row = begin; row <= end; ++row) {
      row_offsets[row - begin] = offsets[row] - offsets[begin];
    }
    Array<I> numbers(columns.size());
    parallel_for(std::ssize(columns), [&](Offset k) {
      if (is_own(columns[k])) {
        numbers[k] = static_cast<I>(columns[k] - first + below_);
        return;
      }
      const Offset ghost = std::ranges::lower_bound(ghosts_, Offset{columns[k]}) - ghosts_.begin();
      numbers[k] = static_cast<I>(ghost < below_ ? ghost : ghost + own);
    });
    use(begin, Csr<V, I>::borrow(static_cast<I>(end - begin), cols, row_offsets, numbers,
                                 matrix_.local.values().subspan(
                                     static_cast<std::size_t>(offsets[begin]), entries)));
    begin = end;
  }
}

template <Value V, Index I>
std::vector<V> LocalRows<V, I>::gathered(std::span<const V> x) const {
  const auto ranks = static_cast<std::size_t>(world().size());
  std::vector<std::vector<Offset>> asked(ranks);
  for (const Offset column : ghosts_) {
    asked[static_cast<std::size_t>(matrix_.cols.owner(column))].push_back(column);
  }
  const auto wanted = world().exchange(asked);
  const Offset begin = matrix_.cols.begin(world().rank());
  std::vector<std::vector<V>> answers(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    for (const Offset column : wanted[rank]) {
      answers[rank].push_back(x[static_cast<std::size_t>(column - begin)]);
    }
  }
  // Owners are in the order of columns.
  std::vector<V> all;
  all.reserve(ghosts_.size() + x.size());
  const auto parts = world().exchange(answers);
  for (int rank = 0; rank < world().size(); ++rank) {
    if (rank == world().rank()) all.insert(all.end(), x.begin(), x.end());
    const auto& part = parts[static_cast<std::size_t>(rank)];
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

template <Value V, Index I>
Check LocalRows<V, I>::check(const cpu::StepCoefficients<V>& coefficients, std::span<const V> x,
                             std::span<const V> previous, std::span<const V> out) const {
  const std::vector<V> needed = gathered(x);
  std::vector<Check> pieces;
  world().together([&] {
    for_each_piece([&](Offset begin, const Csr<V, I>& rows) {
      const auto part_of = [&](std::span<const V> vector) {
        return vector.empty() ? vector
                              : vector.subspan(static_cast<std::size_t>(begin),
                                               static_cast<std::size_t>(rows.rows()));
      };
      Check& piece = pieces.emplace_back(
          check_step(rows, coefficients, needed, part_of(previous), part_of(out)));
      piece.row += matrix_.rows.begin(world().rank()) + begin;
    });
  });
  return merged(world().gather_all(merged(pieces)));
}

template <Value V, Index I>
void LocalRows<V, I>::multiply(V alpha, std::span<const V> x, V beta, std::span<V> y) const {
  const std::vector<V> needed = gathered(x);
  for_each_piece([&](Offset begin, const Csr<V, I>& rows) {
    reference::spmv(
        rows, alpha, needed, beta,
        y.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(rows.rows())));
  });
}

Check merged(const std::vector<Check>& checks) {
  Check all;
  bool found = false;
  Offset elements = 0, judged = 0, wrong = 0;
  double largest = 0;
  for (const Check& check : checks) {
    elements += check.elements;
    judged += check.judged;
    wrong += check.wrong;
    largest = std::max(largest, check.largest_tolerance);
    if (check.judged == 0 || (found && check.share <= all.share)) continue;
    all = check;
    found = true;
  }
  all.elements = elements;
  all.judged = judged;
  all.wrong = wrong;
  all.largest_tolerance = largest;
  all.passed = wrong == 0 && (judged > 0 || elements == 0);
  all.compared = judged == elements ? 1 : 0;
  return all;
}

#define STRATA_INSTANTIATE(V, I) template class LocalRows<V, I>
STRATA_FOR_EACH_VALUE_AND_INDEX(STRATA_INSTANTIATE);

}  // namespace strata::cli::distributed
