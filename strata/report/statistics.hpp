// Whether two lists of samples differ by more than chance, and by how much.
//
//   const double p = rank_test(before, after);          // of Mann and Whitney
//   const Interval ratio = ratio_of_medians(before, after);
//   ratio.low > 1;                                      // slower, in 19 of 20 such cases
#pragma once

#include <span>
#include <vector>

namespace strata::report {

// The probability that lists from one distribution differ as much, on both sides: H. Mann and D.
// Whitney, On a test of whether one of two random variables is stochastically larger than the
// other, Ann. Math. Stat. 18, 1947. Exact for few samples without ties, otherwise by the normal
// approximation with corrections for ties and continuity. 1 if a list is empty.
double rank_test(std::span<const double> first, std::span<const double> second);

// Adjusts the probabilities of many tests, so that of those below 0.05 one in twenty is expected to
// be chance: Y. Benjamini and Y. Hochberg, Controlling the false discovery rate, J. R. Stat. Soc. B
// 57, 1995.
std::vector<double> adjusted(std::span<const double> probabilities);

struct Interval {
  double low = 0;
  double middle = 0;
  double high = 0;
};

// median(second)/median(first) with its 95 % interval by the bootstrap (B. Efron, Ann. Stat. 7,
// 1979). The same samples give the same interval. Throws InvalidArgument for an empty list.
Interval ratio_of_medians(std::span<const double> first, std::span<const double> second);

// The geometric mean with the interval of drawing as many values again.
Interval geometric_mean(std::span<const double> values);

}  // namespace strata::report
