#include "strata/report/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>

#include "strata/base/error.hpp"
#include "strata/bench/timing.hpp"

namespace strata::report {

namespace {

constexpr std::size_t kExact = 40;  // samples of both lists, up to which all orders are counted
constexpr int kResamplings = 2000;  // of a bootstrap
constexpr double kOutside = 0.025;  // on either side of an interval

// Ranks from 1 on, ties sharing the mean of theirs, and Σ(t³ − t) over groups of t ties.
struct Ranks {
  std::vector<double> of;
  double ties = 0;
};

Ranks ranks_of(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return values[i]; });
  Ranks ranks{.of = std::vector<double>(values.size())};
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin;
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    const auto equal = static_cast<double>(end - begin);
    const double rank = static_cast<double>(begin + end + 1) / 2;
    for (std::size_t i = begin; i < end; ++i) ranks.of[order[i]] = rank;
    ranks.ties += equal * equal * equal - equal;
    begin = end;
  }
  return ranks;
}

// The share of all orders of n and m samples in which U is at most u.
double exact_share(std::size_t n, std::size_t m, double u) {
  // ways[i][k]: orders of i of the first list and all of the second so far with U = k.
  std::vector<std::vector<double>> ways(n + 1, std::vector<double>(n * m + 1));
  for (std::size_t i = 0; i <= n; ++i) ways[i][0] = 1;
  for (std::size_t j = 1; j <= m; ++j) {
    for (std::size_t i = 1; i <= n; ++i) {
      for (std::size_t k = n * m + 1; k-- > 0;) {
        // The last is one of the first list, before which are j of the second, or of the second.
        ways[i][k] += k >= j ? ways[i - 1][k - j] : 0;
      }
    }
  }
  double below = 0;
  double all = 0;
  for (std::size_t k = 0; k <= n * m; ++k) {
    all += ways[n][k];
    if (static_cast<double>(k) <= u + 1e-9) below += ways[n][k];
  }
  return below / all;
}

double median_of(std::vector<double>& values) {
  return summarise(values).median;
}

// A sample of as many values, with repetitions.
class Resampler {
 public:
  std::vector<double>& draw(std::span<const double> values) {
    std::uniform_int_distribution<std::size_t> any(0, values.size() - 1);
    drawn_.resize(values.size());
    for (double& value : drawn_) value = values[any(random_)];
    return drawn_;
  }

 private:
  std::mt19937_64 random_{20261117};
  std::vector<double> drawn_;
};

Interval interval_of(double middle, std::vector<double> resampled) {
  std::ranges::sort(resampled);
  const auto at = [&](double share) {
    const auto last = static_cast<double>(resampled.size() - 1);
    return resampled[static_cast<std::size_t>(std::lround(share * last))];
  };
  return {at(kOutside), middle, at(1 - kOutside)};
}

}  // namespace

double rank_test(std::span<const double> first, std::span<const double> second) {
  if (first.empty() || second.empty()) return 1;
  std::vector<double> all(first.begin(), first.end());
  all.insert(all.end(), second.begin(), second.end());
  const Ranks ranks = ranks_of(all);
  const auto n = static_cast<double>(first.size());
  const auto m = static_cast<double>(second.size());
  const double sum = std::accumulate(ranks.of.begin(), ranks.of.begin() + std::ssize(first), 0.0);
  const double u = sum - n * (n + 1) / 2;
  const double smaller = std::min(u, n * m - u);
  if (ranks.ties == 0 && all.size() <= kExact) {
    return std::min(1.0, 2 * exact_share(first.size(), second.size(), smaller));
  }
  const double count = n + m;
  const double variance = n * m / 12 * (count + 1 - ranks.ties / (count * (count - 1)));
  if (!(variance > 0)) return 1;  // all are equal
  const double distance = std::max(0.0, n * m / 2 - smaller - 0.5);
  return std::erfc(distance / std::sqrt(2 * variance));
}

std::vector<double> adjusted(std::span<const double> probabilities) {
  std::vector<std::size_t> order(probabilities.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return probabilities[i]; });
  std::vector<double> result(probabilities.size());
  double least = 1;
  for (std::size_t i = order.size(); i-- > 0;) {
    const double share = static_cast<double>(order.size()) / static_cast<double>(i + 1);
    least = std::min(least, probabilities[order[i]] * share);
    result[order[i]] = least;
  }
  return result;
}

Interval ratio_of_medians(std::span<const double> first, std::span<const double> second) {
  if (first.empty() || second.empty()) throw InvalidArgument("no samples to compare");
  Resampler resampler;
  std::vector<double> ratios(kResamplings);
  for (double& ratio : ratios) {
    const double before = median_of(resampler.draw(first));
    ratio = median_of(resampler.draw(second)) / before;
  }
  return interval_of(summarise(second).median / summarise(first).median, std::move(ratios));
}

Interval geometric_mean(std::span<const double> values) {
  if (values.empty()) throw InvalidArgument("no values to average");
  const auto mean_of = [](std::span<const double> some) {
    double sum = 0;
    for (const double value : some) sum += std::log(value);
    return std::exp(sum / static_cast<double>(some.size()));
  };
  Resampler resampler;
  std::vector<double> means(kResamplings);
  for (double& mean : means) mean = mean_of(resampler.draw(values));
  return interval_of(mean_of(values), std::move(means));
}

}  // namespace strata::report
