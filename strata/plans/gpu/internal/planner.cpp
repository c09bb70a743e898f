#include "strata/plans/gpu/internal/planner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include "strata/base/checked.hpp"
#include "strata/base/error.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/base/parallel.hpp"
#include "strata/device/event.hpp"
#include "strata/machine/gpu/known.hpp"
#include "strata/model/wave_model.hpp"
#include "strata/order/levels.hpp"
#include "strata/plans/internal/layout.hpp"

namespace strata::gpu::detail {

namespace {

using I = std::int32_t;

constexpr double kAnyFill = std::numeric_limits<double>::infinity();
// Powers per sweep that are tried: a tile is held for all of them, so more cost room.
constexpr int kLargestBlock = 4;
// How many waves are timed, the most promising first.
constexpr std::size_t kTimed = 4;
// Plain products win unless a wave is this much faster.
constexpr double kSimplerWins = 1.02;
// Levels are looked for if waves over the given rows promise less than this.
constexpr double kGoodSpeedUp = 1.2;
// How long a tile waits, fitted to 7- and 27-point stencils on an H200 (model/wave_model.hpp).
constexpr double kLoadSeconds = 5.2e-6;
constexpr double kStepSeconds = 2.0e-6;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

template <Value V>
PackedSell<V, I> packed(const Csr<V, I>& matrix, Offset height) {
  return PackedSell<V, I>::from_csr(matrix, {.slice_height = height, .max_fill = kAnyFill});
}

template <Value V>
Method<V> plain_method(const Csr<V, I>& matrix, const StorageChoice& storage, Stream& stream) {
  switch (storage.format) {
    case PowerFormat::csr: return DeviceCsr<V>(matrix, stream);
    case PowerFormat::sell:
      return DeviceSell<V>(Sell<V, I>::from_csr(matrix, {.slice_height = storage.slice_height,
                                                         .max_fill = kAnyFill}),
                           stream);
    default: return DevicePackedSell<V>(packed(matrix, storage.slice_height), stream);
  }
}

// A matrix in tiles, and which of them need each other.
template <Value V>
struct TiledMatrix {
  PackedSell<V, I> matrix;
  SliceTiles tiles;
  TileInputs inputs;

  TiledMatrix(PackedSell<V, I> stored, Offset tile_bytes)
      : matrix(std::move(stored)),
        tiles(cut_slices(matrix, tile_bytes)),
        inputs(inputs_of(matrix, tiles)) {}
};

template <Value V>
DeviceWave<V> make_wave(const TiledMatrix<V>& tiled, const WaveShape& shape, Stream& stream) {
  const Wave wave(tiled.inputs, shape.workers);
  return DeviceWave<V>(TileStream<V>(tiled.matrix, tiled.tiles, wave), wave, shape, stream);
}

template <Value V>
Offset bytes_of(const Method<V>& method) {
  return std::visit([](const auto& held) { return held.bytes(); }, method);
}

template <Value V>
struct Proposal {
  PowerCandidate candidate;
  std::shared_ptr<const Rows> rows;
  StorageChoice storage;
  Method<V> method;
};

template <Value V>
class Planner {
 public:
  Planner(const Csr<V, I>& matrix, const GpuPowerOptions& options, Stream& stream)
      : matrix_(matrix), options_(options), stream_(stream), started_(now()) {}

  PreparedPowers<V> plan() {
    prepared_.options = options_;
    prepared_.nnz = matrix_.nnz();
    for (int k = 1; k <= options_.power; ++k) {
      prepared_.coefficients.push_back(options_.basis.template step<V>(k));
    }
    find_facts();
    consider_given_rows();
    if (worth_searching()) consider_levels();
    take_best();
    prepared_.setup_seconds = now() - started_;
    return std::move(prepared_);
  }

 private:
  using SharedRows = std::shared_ptr<const Rows>;

  void find_facts() {
    if (options_.facts != nullptr) {
      prepared_.facts = *options_.facts;
    } else {
      const auto& known = known_gpu(current_device());
      prepared_.facts = known.facts;
      prepared_.remark = known.remark;
    }
  }

  bool may_block() const {
    return options_.power > 1 && options_.strategy != PowerStrategy::spmv && matrix_.nnz() > 0 &&
           (options_.format == PowerFormat::automatic ||
            options_.format == PowerFormat::packed_sell);
  }
  bool must_block() const { return may_block() && options_.strategy == PowerStrategy::wavefront; }
  double row_bytes() const { return static_cast<double>(sizeof(V)) * options_.vectors; }

  strata::PowerOptions host_options(Offset slice_height) const {
    strata::PowerOptions host;
    host.format = options_.format;
    host.slice_height = slice_height;
    return host;
  }

  SharedRows make_rows(std::string name, PaddedOrder<I> order) {
    auto rows = std::make_shared<Rows>();
    rows->name = std::move(name);
    rows->on_device = DeviceOrder(order, stream_);
    rows->order = std::move(order);
    return rows;
  }

  void consider_given_rows() {
    const SharedRows given = make_rows("given", PaddedOrder<I>::identity(matrix_.rows()));
    StorageChoice storage =
        strata::detail::choose_storage(matrix_, given->order, host_options(options_.slice_height));
    propose_plain(given, matrix_, storage);
    if (options_.format == PowerFormat::automatic && storage.format != PowerFormat::csr) {
      // Rows of any lengths run at full speed in CSR; padding costs what it costs.
      storage.format = PowerFormat::csr;
      propose_plain(given, matrix_, storage);
    }
    if (may_block()) propose_waves(given, matrix_);
  }

  bool worth_searching() const {
    if (!may_block()) return false;
    double plain = std::numeric_limits<double>::infinity();
    double blocked = std::numeric_limits<double>::infinity();
    for (const Proposal<V>& proposal : proposals_) {
      double& best = proposal.candidate.strategy == PowerStrategy::spmv ? plain : blocked;
      best = std::min(best, proposal.candidate.predicted_seconds);
    }
    return plain / blocked < kGoodSpeedUp;
  }

  void consider_levels() {
    const LevelStructure<I> structure = find_levels(matrix_.pattern(), {});
    prepared_.levels = structure.levels();
    prepared_.largest_level_rows = structure.max_rows();
    if (structure.levels() < 2 * options_.power) return;
    auto layout = strata::detail::choose_layout(
        matrix_, structure, host_options(options_.slice_height), Offset{1} << 20);
    const SharedRows rows = make_rows(layout.name, std::move(layout.groups.order));
    const Csr<V, I> in_order = reordered(matrix_, rows->order);
    propose_plain(rows, in_order, layout.storage);
    propose_waves(rows, in_order);
  }

  void propose_plain(const SharedRows& rows, const Csr<V, I>& in_order,
                     const StorageChoice& storage) {
    Proposal<V> proposal{{}, rows, storage, plain_method(in_order, storage, stream_)};
    PowerCandidate& candidate = proposal.candidate;
    candidate.strategy = PowerStrategy::spmv;
    candidate.order = rows->name;
    candidate.format = storage.name();
    candidate.format_bytes = bytes_of(proposal.method);
    candidate.memory_bytes = (static_cast<double>(candidate.format_bytes) +
                              2 * row_bytes() * static_cast<double>(rows->order.positions())) *
                             options_.power;
    candidate.predicted_seconds = candidate.memory_bytes / prepared_.facts.memory_bandwidth();
    candidate.predicted_overlapped_seconds = candidate.predicted_seconds;
    candidate.bound = std::string("dram");
    proposals_.push_back(std::move(proposal));
  }

  // Heights whose slices are small beside a tile, the tallest: threads then need no shuffles.
  Offset height_for(const Csr<V, I>& in_order, Offset tile_bytes) const {
    if (options_.slice_height > 0) return options_.slice_height;
    const Offset row =
        in_order.nnz() * Offset{sizeof(V) + 2} / std::max<Offset>(in_order.rows(), 1);
    Offset height = 32;
    while (height > 8 && row * height > tile_bytes / 2) height /= 2;
    return height;
  }

  void propose_waves(const SharedRows& rows, const Csr<V, I>& in_order) {
    const DeviceProperties& device = prepared_.facts.device;
    std::optional<TiledMatrix<V>> tiled;
    Offset tiled_bytes = 0;
    for (int block = 2; block <= std::min(options_.power, kLargestBlock); ++block) {
      if (options_.block > 0 && block != std::min(options_.block, options_.power)) continue;
      for (const WaveShape& shape : wave_shapes(device, block, options_.vectors,
                                                height_for(in_order, Offset{1} << 14), sizeof(V))) {
        const Offset height = height_for(in_order, shape.tile_bytes);
        if (!tiled || tiled_bytes != shape.tile_bytes) {
          tiled.emplace(packed(in_order, height), shape.tile_bytes);
          tiled_bytes = shape.tile_bytes;
        }
        propose_wave(rows, *tiled, shape);
      }
    }
  }

  void propose_wave(const SharedRows& rows, const TiledMatrix<V>& tiled, const WaveShape& shape) {
    Proposal<V> proposal{{}, rows, {PowerFormat::packed_sell, tiled.matrix.slice_height()}, {}};
    try {
      proposal.method = make_wave(tiled, shape, stream_);
    } catch (const InvalidArgument&) {
      return;  // this window is smaller than the reach of the powers
    }
    const auto& wave = std::get<DeviceWave<V>>(proposal.method);
    PowerCandidate& candidate = proposal.candidate;
    candidate.strategy = PowerStrategy::wavefront;
    candidate.order = rows->name;
    candidate.format = fmt::format("{}, {}", proposal.storage.name(), name_of(shape.home));
    candidate.block = shape.power;
    candidate.format_bytes = wave.bytes();
    candidate.window_bytes = wave.window_tiles() * shape.tile_bytes;
    predict(candidate, wave, tiled);
    proposals_.push_back(std::move(proposal));
  }

  void predict(PowerCandidate& candidate, const DeviceWave<V>& wave, const TiledMatrix<V>& tiled) {
    const GpuFacts& facts = prepared_.facts;
    const WaveRates rates{facts.memory_bandwidth(), facts.l2_bandwidth(), kLoadSeconds,
                          kStepSeconds, facts.handoff_seconds};
    const auto rows = static_cast<double>(tiled.matrix.rows());
    WaveCosts costs;
    costs.matrix_bytes = static_cast<double>(wave.bytes());
    costs.vector_bytes = row_bytes() * rows;
    // A row of x per line that a slice touches, as far as the nearest cache does not have it.
    costs.gather_bytes = row_bytes() * std::min(static_cast<double>(matrix_.nnz()), 10 * rows);
    costs.in_l2 = wave.shape().home == WindowHome::l2;
    costs.tiles = tiled.tiles.tiles();
    costs.workers = wave.shape().workers;
    costs.held_tiles = static_cast<double>(wave.window_tiles());
    for (int first = 0; first < options_.power; first += wave.shape().power) {
      costs.power = std::min(wave.shape().power, options_.power - first);
      costs.reach = costs.in_l2 ? 0 : static_cast<double>(wave.reach());
      const WavePrediction prediction = predict_wave(costs, rates);
      candidate.predicted_seconds += prediction.seconds;
      candidate.bound = prediction.bound;
      candidate.memory_bytes += costs.matrix_bytes + costs.vector_bytes * (costs.power + 1);
    }
    candidate.predicted_overlapped_seconds = candidate.memory_bytes / rates.memory;
  }

  // ‖A‖∞, so that no power of a trial overflows.
  double largest_row_sum() const {
    return parallel_reduce(
        matrix_.rows(), 0.0,
        [&](Offset begin, Offset end) {
          double most = 0;
          for (Offset row = begin; row < end; ++row) {
            double sum = 0;
            for (Offset k = matrix_.row_offsets()[row]; k < matrix_.row_offsets()[row + 1]; ++k) {
              sum += std::abs(matrix_.values()[k]);
            }
            if (sum > most) most = sum;
          }
          return most;
        },
        [](double a, double b) { return std::max(a, b); });
  }

  void time(Proposal<V>& proposal, V scale) {
    constexpr int kRuns = 5;
    const Offset elements = Offset{proposal.rows->order.positions()} * options_.vectors;
    if (elements == 0) return;
    std::vector<DeviceArray<V>> y;
    const std::vector<V> ones(static_cast<std::size_t>(elements), V(1));
    for (int k = 0; k <= options_.power; ++k) {
      y.push_back(k == 0 ? to_device(std::span<const V>(ones), stream_) : DeviceArray<V>(elements));
    }
    const std::vector<StepCoefficients<V>> steps(options_.power, {scale, V{}, V{}});
    typename DeviceWave<V>::Workspace workspace;
    if (const auto* wave = std::get_if<DeviceWave<V>>(&proposal.method)) {
      workspace = wave->make_workspace(stream_);
    }
    const auto run = [&] {
      run_powers<V>(
          proposal.method, steps, elements, options_.vectors, [&](int k) { return y[k].data(); },
          &workspace, stream_);
    };
    run();
    std::vector<double> seconds;
    for (int r = 0; r < kRuns; ++r) {
      Event before;
      Event after;
      before.record(stream_);
      run();
      after.record(stream_);
      seconds.push_back(seconds_between(before, after));
    }
    std::ranges::sort(seconds);
    proposal.candidate.measured_seconds = seconds[kRuns / 2];
    if (const auto* wave = std::get_if<DeviceWave<V>>(&proposal.method)) {
      wave->require_ended(workspace, stream_);
    }
  }

  void take_best() {
    if (must_block() && std::ranges::any_of(proposals_, [](const Proposal<V>& proposal) {
          return proposal.candidate.strategy == PowerStrategy::wavefront;
        })) {
      std::erase_if(proposals_, [&](const Proposal<V>& proposal) {
        return proposal.candidate.strategy == PowerStrategy::spmv && proposal.rows->name != "given";
      });
    }
    const auto faster = [](const Proposal<V>& a, const Proposal<V>& b) {
      return a.candidate.seconds() < b.candidate.seconds();
    };
    std::ranges::stable_sort(proposals_, faster);
    if (options_.confirm) {
      const double sum = largest_row_sum();
      const V scale = V(static_cast<decltype(std::abs(V{}))>(sum > 0 ? 1 / sum : 1));
      std::size_t waves = 0;
      for (Proposal<V>& proposal : proposals_) {
        const bool plain = proposal.candidate.strategy == PowerStrategy::spmv;
        if (plain || waves++ < kTimed) time(proposal, scale);
      }
      // What was not timed is no choice.
      std::ranges::stable_sort(proposals_, [&](const Proposal<V>& a, const Proposal<V>& b) {
        return ranking(a.candidate) < ranking(b.candidate);
      });
    }
    for (const Proposal<V>& proposal : proposals_) {
      prepared_.candidates.push_back(proposal.candidate);
      if (proposal.rows->name == "given" && proposal.candidate.strategy == PowerStrategy::spmv &&
          (prepared_.plain_seconds == 0 ||
           proposal.candidate.seconds() < prepared_.plain_seconds)) {
        prepared_.plain_seconds = proposal.candidate.seconds();
      }
    }
    Proposal<V>& best = proposals_.front();
    prepared_.rows = best.rows;
    prepared_.storage = best.storage;
    prepared_.method = std::move(best.method);
  }

  double ranking(const PowerCandidate& candidate) const {
    if (candidate.measured_seconds == 0) return std::numeric_limits<double>::max();
    const bool plain = candidate.strategy == PowerStrategy::spmv;
    if (plain && must_block()) return candidate.measured_seconds * 1e9;
    return candidate.measured_seconds * (plain ? 1 : kSimplerWins);
  }

  const Csr<V, I>& matrix_;
  const GpuPowerOptions& options_;
  Stream& stream_;
  double started_;
  PreparedPowers<V> prepared_;
  std::vector<Proposal<V>> proposals_;
};

}  // namespace

template <Value V>
PreparedPowers<V> prepare_powers(const Csr<V, I>& matrix, const GpuPowerOptions& options,
                                 Stream& stream) {
  return Planner<V>(matrix, options, stream).plan();
}

template <Value V>
Method<V> method_like(const Method<V>& method, const StorageChoice& storage,
                      const Csr<V, I>& in_order, Stream& stream) {
  if (const auto* wave = std::get_if<DeviceWave<V>>(&method)) {
    return make_wave(
        TiledMatrix<V>(packed(in_order, storage.slice_height), wave->shape().tile_bytes),
        wave->shape(), stream);
  }
  return plain_method(in_order, storage, stream);
}

#define STRATA_INSTANTIATE(V, unused)                                                           \
  template PreparedPowers<V> prepare_powers(const Csr<V, I>&, const GpuPowerOptions&, Stream&); \
  template Method<V> method_like(const Method<V>&, const StorageChoice&, const Csr<V, I>&, Stream&)
STRATA_FOR_EACH_VALUE(STRATA_INSTANTIATE, );

}  // namespace strata::gpu::detail
