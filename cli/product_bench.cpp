#include "cli/product_bench.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "cli/parts/interruption.hpp"
#include "strata/base/error.hpp"
#include "strata/base/parallel.hpp"
#include "strata/formats/registry.hpp"
#include "strata/kernels/cpu/parts.hpp"
#include "strata/kernels/has_kernel.hpp"
#include "strata/kernels/reference/spmv.hpp"
#include "strata/measure/peers.hpp"
#include "strata/measure/vectors.hpp"
#include "strata/model/balance.hpp"

namespace strata::cli {

namespace {

template <Value V, Index I>
class ProductBench {
 public:
  ProductBench(const Csr<V, I>& matrix, const MeasuringOptions& measuring, Progress& progress)
      : matrix_(matrix),
        measuring_(measuring),
        progress_(progress),
        start_(random_vector<V>(matrix.cols(), measuring.seed)),
        x_(start_),
        y_(static_cast<std::size_t>(matrix.rows()), V{}) {}

  void run(const ProductSettings& settings, const std::function<void(const ProductRun&)>& done) {
    std::vector<Contender> contenders;
    if (settings.vendor) add_peers(contenders);
    if (settings.cpu) {
      for (const FormatSummary& format : settings.formats) {
        if (has_kernel(format.spec, KernelTarget::processor)) add_kernel(contenders, format);
      }
    }
    const double fastest_peer = measure(contenders, 0);
    for (const Contender& contender : contenders) done(contender.run);
    contenders.clear();
    if (!settings.reference) return;
    for (const FormatSummary& format : settings.formats) {
      add_reference(contenders, format);
      measure(contenders, fastest_peer);
      done(contenders.front().run);
      contenders.clear();
    }
  }

 private:
  using Contender = ProductContender;

  void add_peers(std::vector<Contender>& contenders) {
    progress_.start("converting for other libraries");
    for (Peer<V>& peer : make_peers(matrix_)) {
      Contender contender;
      contender.run.backend = "vendor";
      contender.run.format.label = peer.name;
      contender.run.variant = peer.name;
      contender.run.threads = peer.threads;
      contender.run.setup_seconds = peer.setup_seconds;
      contender.run.format_bytes = peer.bytes;
      contender.multiply = [this, multiply = std::move(peer.multiply)] { multiply(V{1}, x_, y_); };
      contenders.push_back(std::move(contender));
    }
  }

  void add_kernel(std::vector<Contender>& contenders, const FormatSummary& format) {
    add(contenders, "cpu", format, thread_count(), [this](const auto& stored) {
      using Matrix = typename std::decay_t<decltype(stored)>::element_type;
      std::function<void()> multiply;
      if constexpr (cpu::HasStep<Matrix>) {
        multiply = [this, stored] {
          run_on_threads(thread_count(), [&](int thread, int team) {
            cpu::step(*stored, {}, {x_.data(), nullptr, y_.data(), 1},
                      cpu::balanced_rows(*stored, thread, team));
          });
        };
      }
      return multiply;
    });
  }

  void add_reference(std::vector<Contender>& contenders, const FormatSummary& format) {
    add(contenders, "reference", format, 1, [this](const auto& stored) {
      return std::function<void()>([this, stored] {
        reference::spmv(*stored, V{1}, std::span<const V>(x_), V{}, std::span<V>(y_));
      });
    });
  }

  // `product` turns a shared pointer to the stored matrix into what is timed.
  template <class Product>
  void add(std::vector<Contender>& contenders, std::string backend, const FormatSummary& format,
           int threads, const Product& product) {
    progress_.start("converting to " + format.label);
    Contender contender;
    ProductRun& run = contender.run;
    run.backend = std::move(backend);
    run.format = format;
    run.threads = threads;
    const auto begin = std::chrono::steady_clock::now();
    try {
      with_format(matrix_, format.spec, [&]<class M>(M&& stored) {
        using Matrix = std::remove_cvref_t<M>;
        run.format_bytes = stored.footprint().bytes();
        if constexpr (std::is_lvalue_reference_v<M>) {
          // The matrix itself, which is not ours to delete.
          contender.multiply =
              product(std::shared_ptr<const Matrix>(&stored, [](const Matrix*) {}));
        } else {
          contender.multiply = product(std::make_shared<const Matrix>(std::move(stored)));
        }
      });
    } catch (const InvalidArgument& refusal) {
      run.format.refusal = refusal.what();
    }
    run.setup_seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    contenders.push_back(std::move(contender));
  }

  // Times all that run, in turn, and checks them. Returns the seconds of the fastest peer, which
  // are known already unless `fastest_peer` is 0.
  double measure(std::vector<Contender>& contenders, double fastest_peer) {
    const std::vector<Contender*> running = running_of(contenders);
    if (running.empty()) return fastest_peer;
    progress_.start("timing " + (running.size() == 1 ? running.front()->run.format.label
                                                     : std::string("all formats in turn")));
    const auto timings =
        time_interleaved(products_of(running), {.min_seconds = measuring_.min_seconds});
    for (std::size_t i = 0; i < running.size(); ++i) finish(*running[i], timings[i]);
    return set_speed_ups(running, fastest_peer);
  }

  void finish(Contender& contender, const Timing& timing) {
    Measurement& measurement = contender.run.measurement;
    const VectorTraffic vectors{.rows = matrix_.rows(),
                                .cols = matrix_.cols(),
                                .value_bytes = static_cast<double>(sizeof(V))};
    measurement.flops = (is_complex<V> ? 8.0 : 2.0) * static_cast<double>(matrix_.nnz());
    measurement.bytes = static_cast<double>(contender.run.format_bytes) + vectors.bytes();
    measurement.timing = timing;
    if (!measuring_.validate) return;
    // All write to the same y, and what runs before left the right numbers there; a product of
    // poison destroys those that a library may keep.
    poison<V>(x_);
    contender.multiply();
    std::ranges::copy(start_, x_.begin());
    poison<V>(y_);
    contender.multiply();
    measurement.check = check_step(matrix_, {}, start_, {}, y_);
  }

  const Csr<V, I>& matrix_;
  const MeasuringOptions& measuring_;
  Progress& progress_;
  const Array<V> start_;  // what x_ is whenever products are timed
  Array<V> x_;
  Array<V> y_;
};

}  // namespace

std::vector<ProductContender*> running_of(std::vector<ProductContender>& contenders) {
  std::vector<ProductContender*> running;
  for (ProductContender& contender : contenders) {
    if (contender.multiply) running.push_back(&contender);
  }
  return running;
}

std::vector<std::function<void()>> products_of(std::span<ProductContender* const> running) {
  std::vector<std::function<void()>> products;
  for (ProductContender* contender : running) {
    products.emplace_back([contender] {
      check_interruption();
      contender->multiply();
    });
  }
  return products;
}

double set_speed_ups(std::span<ProductContender* const> running, double fastest_peer) {
  for (const ProductContender* contender : running) {
    const double seconds = contender->run.measurement.timing.median;
    if (contender->run.backend != "vendor") continue;
    fastest_peer = fastest_peer == 0 ? seconds : std::min(fastest_peer, seconds);
  }
  for (ProductContender* contender : running) {
    contender->run.speed_up = fastest_peer / contender->run.measurement.timing.median;
  }
  return fastest_peer;
}

void run_product_bench(const AnyMatrix& matrix, const ProductSettings& settings,
                       const MeasuringOptions& measuring, Progress& progress,
                       const std::function<void(const ProductRun&)>& done) {
  std::visit(
      [&]<Value V, Index I>(const Csr<V, I>& csr) {
        ProductBench<V, I>(csr, measuring, progress).run(settings, done);
      },
      matrix);
}

}  // namespace strata::cli
