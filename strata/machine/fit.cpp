#include "strata/machine/fit.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "strata/base/error.hpp"

namespace strata {

namespace {

// Points [begin, end) of a curve.
struct Piece {
  std::size_t begin = 0;
  std::size_t end = 0;
};

// Other work only ever lowers a bandwidth, and a smaller working set is never the slower one: a
// point counts for at least what the larger ones reach.
std::vector<double> without_dips(std::span<const BandwidthPoint> curve) {
  std::vector<double> rates(curve.size());
  double best = 0;
  for (std::size_t i = curve.size(); i-- > 0;) {
    best = std::max(best, curve[i].bytes_per_second);
    rates[i] = best;
  }
  return rates;
}

// Sum of squared distances from the mean of the logarithms, of any piece, from running sums.
class Scatter {
 public:
  explicit Scatter(const std::vector<double>& rates) {
    for (const double rate : rates) {
      const double value = std::log(rate / rates.back());
      sums_.push_back(sums_.back() + value);
      squares_.push_back(squares_.back() + value * value);
    }
  }
  double of(Piece piece) const {
    const double sum = sums_[piece.end] - sums_[piece.begin];
    const double count = static_cast<double>(piece.end - piece.begin);
    return squares_[piece.end] - squares_[piece.begin] - sum * sum / count;
  }

 private:
  std::vector<double> sums_{0};
  std::vector<double> squares_{0};
};

// The pieces of two or more points each that are flattest in all, where every further piece costs
// as much as scatter of kPiece. Two levels of four points come apart when they differ by 25 %;
// noise of 10 % stays together.
std::vector<Piece> flat_pieces(const std::vector<double>& rates) {
  constexpr double kPiece = 0.08;
  const Scatter scatter(rates);
  const std::size_t count = rates.size();
  if (count < 2) return {{0, count}};
  std::vector<double> cost(count + 1, std::numeric_limits<double>::infinity());
  std::vector<std::size_t> begin_of(count + 1, 0);
  cost[0] = 0;
  for (std::size_t end = 2; end <= count; ++end) {
    for (std::size_t begin = 0; begin + 2 <= end; ++begin) {
      const double with_piece = cost[begin] + scatter.of({begin, end}) + kPiece;
      if (with_piece < cost[end]) {
        cost[end] = with_piece;
        begin_of[end] = begin;
      }
    }
  }
  std::vector<Piece> pieces;
  for (std::size_t end = count; end > 0; end = begin_of[end])
    pieces.push_back({begin_of[end], end});
  std::ranges::reverse(pieces);
  return pieces;
}

// The median, for the rates of a piece fall from first to last; the upper one of two.
double level_of(Piece piece, const std::vector<double>& rates) {
  return rates[piece.begin + (piece.end - piece.begin - 1) / 2];
}

// Short and steep: the way down from one plateau to the next, no plateau itself.
bool is_slope(Piece piece, std::span<const BandwidthPoint> curve,
              const std::vector<double>& rates) {
  const bool is_short = curve[piece.end - 1].bytes < 3 * curve[piece.begin].bytes;
  return is_short && rates[piece.begin] > 1.25 * rates[piece.end - 1];
}

// Joins neighbours whose levels differ by less than 20 %, the most similar ones first.
void join_similar(std::vector<Piece>& pieces, const std::vector<double>& rates) {
  constexpr double kSimilar = 1.2;
  while (pieces.size() > 1) {
    std::size_t closest = 0;
    double smallest_ratio = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i + 1 < pieces.size(); ++i) {
      const double ratio = level_of(pieces[i], rates) / level_of(pieces[i + 1], rates);
      if (ratio < smallest_ratio) {
        smallest_ratio = ratio;
        closest = i;
      }
    }
    if (smallest_ratio >= kSimilar) return;
    pieces[closest].end = pieces[closest + 1].end;
    pieces.erase(pieces.begin() + static_cast<std::ptrdiff_t>(closest) + 1);
  }
}

// The plateau ends, somewhere down the slope behind it, where a third of its bandwidth is lost.
// `behind` is where the next one begins.
Plateau plateau_of(Piece piece, std::size_t behind, std::span<const BandwidthPoint> curve,
                   const std::vector<double>& rates) {
  const double level = level_of(piece, rates);
  std::size_t last = behind - 1;
  while (last > piece.begin && 3 * rates[last] < 2 * level) --last;
  return {.threads = curve.front().threads, .bytes = curve[last].bytes, .bytes_per_second = level};
}

}  // namespace

std::vector<Plateau> find_plateaus(std::span<const BandwidthPoint> curve) {
  if (curve.empty()) throw InvalidArgument("plateaus need at least one measured bandwidth");
  const std::vector<double> rates = without_dips(curve);
  std::vector<Piece> pieces = flat_pieces(rates);
  const Piece memory = pieces.back();
  std::erase_if(pieces, [&](Piece piece) {
    return piece.begin != memory.begin && is_slope(piece, curve, rates);
  });
  join_similar(pieces, rates);
  std::vector<Plateau> plateaus;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const std::size_t behind = i + 1 < pieces.size() ? pieces[i + 1].begin : curve.size();
    plateaus.push_back(plateau_of(pieces[i], behind, curve, rates));
  }
  plateaus.back().bytes = curve.back().bytes;
  return plateaus;
}

HockneyFit fit_hockney(std::span<const TimedRead> reads) {
  // Minimises Σ ((T + s·Q − t) / t)² over the overhead T and the seconds per byte s.
  double weights = 0, bytes = 0, bytes_squared = 0, times = 0, bytes_times = 0;
  for (const TimedRead& read : reads) {
    if (read.bytes <= 0 || read.seconds <= 0) throw InvalidArgument("a read without bytes or time");
    const double weight = 1 / (read.seconds * read.seconds);
    const auto size = static_cast<double>(read.bytes);
    weights += weight;
    bytes += weight * size;
    bytes_squared += weight * size * size;
    times += weight * read.seconds;
    bytes_times += weight * size * read.seconds;
  }
  if (std::ranges::all_of(
          reads, [&](const TimedRead& read) { return read.bytes == reads.front().bytes; })) {
    throw InvalidArgument("a latency–bandwidth fit needs reads of different sizes");
  }
  const double determinant = weights * bytes_squared - bytes * bytes;
  double overhead = (times * bytes_squared - bytes * bytes_times) / determinant;
  double seconds_per_byte = (weights * bytes_times - bytes * times) / determinant;
  // Wild times, or a determinant lost in rounding: they determine no latency.
  if (!(overhead >= 0 && seconds_per_byte > 0)) {
    overhead = 0;
    seconds_per_byte = bytes_times / bytes_squared;
  }
  double squares = 0;
  for (const TimedRead& read : reads) {
    const double fitted = overhead + seconds_per_byte * static_cast<double>(read.bytes);
    squares += std::pow(fitted / read.seconds - 1, 2);
  }
  return {.overhead_seconds = overhead,
          .bytes_per_second = 1 / seconds_per_byte,
          .relative_error = std::sqrt(squares / static_cast<double>(reads.size())),
          .samples = {reads.begin(), reads.end()}};
}

}  // namespace strata
