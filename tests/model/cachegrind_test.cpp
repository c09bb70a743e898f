// Counted, so repeatable: a wavefront sweep of four powers causes little more than a quarter of the
// misses of repeated products. Claimed of the simulator, and of the reference kernels under
// cachegrind, which at the same time validates the simulator.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <limits>
#include <map>
#include <sstream>
#include <utility>

#include "strata/formats/packed_sell.hpp"
#include "strata/gen/generate.hpp"
#include "strata/model/trace.hpp"
#include "strata/order/levels.hpp"
#include "tests/model/cachegrind_probe.hpp"

namespace strata {
namespace {

using I = std::int32_t;

constexpr int kPower = 4;
constexpr Offset kSliceHeight = 8;
constexpr CacheShape kFirstLevel{.bytes = 32 << 10, .ways = 8};

// A matrix several times as large as the last level, which holds the window of a sweep.
struct Sweep {
  Csr<double, I> matrix;
  Tiling<I> tiling;
  CacheShape last_level;
};

// A tile per group.
Tiling<I> tiled(const Csr<double, I>& matrix, std::span<const I> group_rows) {
  return make_tiling<I>(matrix.pattern(), matrix.row_offsets(),
                        {group_rows, std::numeric_limits<Offset>::max(), 1});
}

// A 27-point stencil whose values are stored as they are, plane by plane.
Sweep stencil() {
  auto matrix = generate<double, I>("stencil27:12x12x144,coefficients=random");
  std::vector<I> planes;
  for (I row = 0; row <= matrix.rows(); row += 144) planes.push_back(row);
  auto tiling = tiled(matrix, planes);
  return {std::move(matrix), std::move(tiling), {.bytes = 512 << 10, .ways = 16}};
}

// An unstructured mesh with three unknowns per point, level by level. Packed SELL has one index for
// the three and is still to be several times as large as the cache.
Sweep mesh() {
  auto matrix = generate<double, I>("mesh:7500,dim=3,nnzr=12,dof=3,aspect=1x1x8,shuffle=1");
  const LevelStructure<I> levels = find_levels(matrix.pattern());
  matrix = reordered(matrix, levels.order);
  auto tiling = tiled(matrix, levels.level_offsets);
  return {std::move(matrix), std::move(tiling), {.bytes = 1 << 20, .ways = 16}};
}

enum class Format { csr, packed_sell };

template <class Visit>
auto in_format(const Sweep& sweep, Format format, Visit&& visit) {
  if (format == Format::csr) return visit(sweep.matrix);
  return visit(PackedSell<double, I>::from_csr(sweep.matrix, {.slice_height = kSliceHeight}));
}

double simulated_misses(const Sweep& sweep, Format format, const Schedule& schedule) {
  return in_format(sweep, format, [&](const auto& matrix) {
    CacheSimulator cache(kFirstLevel, sweep.last_level);
    return static_cast<double>(
        play_sweep(matrix, sweep.tiling, schedule, place_arrays(matrix, kPower), cache).total());
  });
}

std::vector<test::ProbeStep> steps_of(const Tiling<I>& tiling, const Schedule& schedule) {
  std::vector<test::ProbeStep> steps;
  for (const Task& task : schedule.tasks) {
    steps.push_back({tiling.row_offsets[task.begin], tiling.row_offsets[task.end], task.power});
  }
  return steps;
}

class BlockedMisses : public testing::TestWithParam<std::tuple<std::string, Format>> {
 protected:
  Sweep sweep() const { return std::get<0>(GetParam()) == "Stencil" ? stencil() : mesh(); }
  Format format() const { return std::get<1>(GetParam()); }

  void expect_few(const std::string& name, double plain, double blocked) {
    const double ratio = blocked / plain * kPower;
    RecordProperty(name, std::to_string(ratio));
    EXPECT_LE(ratio, 1.35) << blocked << " misses of the wavefront, " << plain
                           << " of repeated products";
    EXPECT_GE(ratio, 1) << "less than loading everything once";
  }
};

TEST_P(BlockedMisses, AreLittleMoreThanOneLoadInTheSimulator) {
  const Sweep sweep = this->sweep();
  const Offset matrix_bytes =
      in_format(sweep, format(), [](const auto& matrix) { return matrix.footprint().bytes(); });
  EXPECT_GE(matrix_bytes, 8 * sweep.last_level.bytes);
  expect_few("simulated_ratio",
             simulated_misses(sweep, format(), plain_schedule(sweep.tiling, kPower)),
             simulated_misses(sweep, format(), wavefront_schedule(sweep.tiling, kPower)));
}

// Runs the probe under cachegrind, in a folder of its own.
class Cachegrind {
 public:
  Cachegrind(Format format, const CacheShape& last_level)
      : format_(format), last_level_(last_level) {
    std::string name = (std::filesystem::temp_directory_path() / "strata-model-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make a folder");
    folder_ = name;
  }
  ~Cachegrind() { std::filesystem::remove_all(folder_); }
  Cachegrind(const Cachegrind&) = delete;
  Cachegrind& operator=(const Cachegrind&) = delete;

  // Last-level misses of data in one sweep.
  double misses_of(const test::ProbeInput& input) {
    const std::string path = (folder_ / "input").string();
    test::write_probe_input(path, input);
    if (without_sweep_ < 0) without_sweep_ = count(path, 0);
    return count(path, 1) - without_sweep_;
  }

 private:
  double count(const std::string& input, int sweeps) const {
    const std::string out = (folder_ / "counts").string();
    const auto shape = [](const CacheShape& cache) {
      return fmt::format("{},{},{}", cache.bytes, cache.ways, cache.line_bytes);
    };
    const std::string command = fmt::format(
        "'{}' -q --tool=cachegrind --cache-sim=yes --I1={} --D1={} --LL={} "
        "--cachegrind-out-file='{}' --log-file='{}.log' '{}' '{}' {} {} {}",
        STRATA_VALGRIND, shape(kFirstLevel), shape(kFirstLevel), shape(last_level_), out, out,
        STRATA_CACHEGRIND_PROBE, input, format_ == Format::csr ? "csr" : "packed-sell",
        kSliceHeight, sweeps);
    if (std::system(command.c_str()) != 0) throw std::runtime_error("failed: " + command);
    return read_counts(out);
  }

  // The file has a line "events: NAME…" and ends with "summary: COUNT…".
  static double read_counts(const std::string& path) {
    std::ifstream file(path);
    std::vector<std::string> names;
    std::map<std::string, double> counts;
    for (std::string line; std::getline(file, line);) {
      std::istringstream words(line);
      std::string word;
      words >> word;
      if (word == "events:") {
        while (words >> word) names.push_back(word);
      } else if (word == "summary:") {
        for (const std::string& name : names) words >> counts[name];
      }
    }
    return counts.at("DLmr") + counts.at("DLmw");
  }

  Format format_;
  CacheShape last_level_;
  std::filesystem::path folder_;
  double without_sweep_ = -1;
};

TEST_P(BlockedMisses, AreLittleMoreThanOneLoadInCachegrindAsSimulated) {
  if (!std::filesystem::exists(STRATA_VALGRIND)) GTEST_SKIP() << "valgrind is not installed";
  const Sweep sweep = this->sweep();
  Cachegrind cachegrind(format(), sweep.last_level);
  const auto counted = [&](const std::string& name, const Schedule& schedule) {
    const double misses = cachegrind.misses_of({sweep.matrix, steps_of(sweep.tiling, schedule)});
    const double deviation = simulated_misses(sweep, format(), schedule) / misses - 1;
    RecordProperty(name + "_deviation", std::to_string(deviation));
    EXPECT_NEAR(deviation, 0, 0.05) << name;
    return misses;
  };
  const double plain = counted("plain", plain_schedule(sweep.tiling, kPower));
  expect_few("cachegrind_ratio", plain,
             counted("wavefront", wavefront_schedule(sweep.tiling, kPower)));
}

INSTANTIATE_TEST_SUITE_P(Model, BlockedMisses,
                         testing::Combine(testing::Values("Stencil", "Mesh"),
                                          testing::Values(Format::csr, Format::packed_sell)),
                         [](const auto& instance) {
                           return std::get<0>(instance.param) +
                                  (std::get<1>(instance.param) == Format::csr ? "InCsr"
                                                                              : "InPackedSell");
                         });

}  // namespace
}  // namespace strata
