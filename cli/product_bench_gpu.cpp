#include "cli/product_bench_gpu.hpp"

#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <utility>

#include "strata/base/error.hpp"
#include "strata/device/device.hpp"
#include "strata/device/timing.hpp"
#include "strata/formats/registry.hpp"
#include "strata/kernels/gpu/device_matrix_of.hpp"
#include "strata/kernels/has_kernel.hpp"
#include "strata/measure/gpu/peers.hpp"
#include "strata/measure/gpu/poison.hpp"
#include "strata/model/balance.hpp"
#include "strata/model/power_model.hpp"

namespace strata::cli {

namespace {

constexpr int kMinRepetitions = 20;

ProductPrediction predict(const gpu::GpuProfile& profile, const Measurement& measured) {
  const auto bytes = static_cast<Offset>(measured.bytes);
  const bool cached = bytes <= profile.l2_bytes();
  const double bandwidth = cached ? profile.read_bandwidth(bytes) : profile.memory_bandwidth();
  const double flops_per_byte = measured.flops / measured.bytes;
  return {.flops_per_second = flops_per_byte * bandwidth,
          .with_latency =
              flops_per_byte * with_latency(profile.hockney.bytes_per_second,
                                            profile.hockney.overhead_seconds, measured.bytes),
          .bound = cached ? "cache" : "dram"};
}

// y = Ax on a GPU, in the order of a stream.
struct GpuProduct {
  Offset bytes = 0;  // of its matrix, without vectors
  std::function<void()> multiply;
};

template <Value V>
std::string kernel_text(const gpu::DeviceCsr<V>& matrix) {
  if (matrix.kernel() == gpu::CsrKernel::parts) return "CSR in equal parts";
  const int threads = matrix.threads_per_row();
  return fmt::format("CSR, {} thread{} per row", threads, threads == 1 ? "" : "s");
}

template <Value V, Index I>
class GpuProductBench {
 public:
  GpuProductBench(const Csr<V, I>& matrix, const gpu::GpuProfile& profile,
                  const MeasuringOptions& measuring, Progress& progress)
      : matrix_(matrix),
        profile_(profile),
        measuring_(measuring),
        progress_(progress),
        start_(random_vector<V>(matrix.cols(), measuring.seed)),
        x_(matrix.cols()),
        y_(matrix.rows()) {
    gpu::copy(std::span<const V>(start_), x_.span(), stream_);
    stream_.synchronize();
  }

  void run(const GpuProductSettings& settings, const std::function<void(const ProductRun&)>& done) {
    std::vector<Contender> contenders;
    for (const FormatSummary& format : settings.formats) {
      if (has_kernel(format.spec, KernelTarget::gpu)) add_kernel(contenders, format);
    }
    if (settings.vendor) {
      const gpu::PeerSource<V, I> source{
          matrix_, [this] { return on_device(); }, stream_,
          [this](const std::string& what) { progress_.start(what); }};
      for (const gpu::DevicePeer<V>& peer : gpu::make_peers(source)) add_peer(contenders, peer);
    }
    measure(contenders);
    for (const Contender& contender : contenders) done(contender.run);
  }

 private:
  using Contender = ProductContender;

  void add_kernel(std::vector<Contender>& contenders, const FormatSummary& format) {
    progress_.start("converting to " + format.label);
    ProductRun run;
    run.backend = gpu::name_of(profile_.device.api);
    run.format = format;
    add(contenders, std::move(run), [&](ProductRun& made) { return kernel_for(made); });
  }

  void add_peer(std::vector<Contender>& contenders, const gpu::DevicePeer<V>& peer) {
    ProductRun run;
    run.backend = "vendor";
    run.format = FormatSummary(FormatSpec(peer.format));
    run.format.label = peer.name;
    add(contenders, std::move(run), [&](ProductRun&) {
      if (peer.refusal) std::rethrow_exception(peer.refusal);
      return GpuProduct{peer.bytes, [this, multiply = peer.multiply] {
                          multiply(V{1}, std::as_const(x_).span(), y_.span());
                        }};
    });
    contenders.back().run.setup_seconds = peer.setup_seconds;
  }

  // `make` returns the product, and may say more about its kernel.
  template <class Make>
  void add(std::vector<Contender>& contenders, ProductRun run, const Make& make) {
    Contender contender{std::move(run), {}};
    FormatSummary& format = contender.run.format;
    const auto begin = std::chrono::steady_clock::now();
    try {
      GpuProduct product = make(contender.run);
      contender.run.format_bytes = product.bytes;
      contender.multiply = std::move(product.multiply);
    } catch (const InvalidArgument& refusal) {
      format.refusal = refusal.what();
    } catch (const Error& error) {
      format.refusal = error.what();
      if (!failure_) failure_ = std::current_exception();
    }
    contender.run.device = profile_.device.index;
    contender.run.memory_bandwidth = profile_.memory_bandwidth();
    contender.run.setup_seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    contenders.push_back(std::move(contender));
  }

  GpuProduct kernel_for(ProductRun& run) {
    if (run.format.spec.format() == Format::csr) {
      const auto stored = on_device();
      run.format.label = kernel_text(*stored);
      if (stored->kernel() == gpu::CsrKernel::rows) {
        run.kernel_parameters.push_back({"threads_per_row", stored->threads_per_row()});
      }
      return product_of(stored);
    }
    return with_format(
        matrix_, run.format.spec, [&]<class Matrix>(const Matrix& host) -> GpuProduct {
          if constexpr (gpu::HasDeviceMatrix<Matrix>) {
            return product_of(std::make_shared<const gpu::DeviceMatrix<Matrix>>(host, stream_));
          } else {
            throw InvalidArgument("GPUs have no kernels for this format");
          }
        });
  }

  template <class Matrix>
  GpuProduct product_of(std::shared_ptr<const Matrix> stored) {
    const auto scratch = std::make_shared<gpu::DeviceArray<V>>(stored->scratch_elements(1));
    return {stored->bytes(), [this, stored, scratch] {
              gpu::step(*stored, {}, {x_.span(), {}, y_.span(), 1, scratch->span()},
                        stored->all_rows(), stream_);
            }};
  }

  std::shared_ptr<const gpu::DeviceCsr<V>> on_device() {
    if (!csr_) csr_ = std::make_shared<const gpu::DeviceCsr<V>>(matrix_, stream_);
    return csr_;
  }

  // Times all that run, in turn, and checks them.
  void measure(std::vector<Contender>& contenders) {
    const std::vector<Contender*> running = running_of(contenders);
    if (running.empty()) {
      if (failure_) std::rethrow_exception(failure_);
      return;
    }
    progress_.start("timing all formats in turn on the GPU");
    const auto timings = time_interleaved(
        products_of(running),
        {.min_seconds = measuring_.min_seconds, .min_repetitions = kMinRepetitions},
        gpu::device_stopwatch(stream_));
    for (std::size_t i = 0; i < running.size(); ++i) finish(*running[i], timings[i]);
    set_speed_ups(running, 0);
  }

  void finish(Contender& contender, const Timing& timing) {
    Measurement& measurement = contender.run.measurement;
    const VectorTraffic vectors{.rows = matrix_.rows(),
                                .cols = matrix_.cols(),
                                .value_bytes = static_cast<double>(sizeof(V)),
                                .write_allocate = false};
    measurement.flops = (is_complex<V> ? 8.0 : 2.0) * static_cast<double>(matrix_.nnz());
    measurement.bytes = static_cast<double>(contender.run.format_bytes) + vectors.bytes();
    measurement.timing = timing;
    contender.run.predicted = predict(profile_, measurement);
    if (!measuring_.validate) return;
    // All write to the same y, and what runs before left the right numbers there and in the memory
    // of its own that it may have.
    gpu::apply_to_poison(x_.span(), stream_, contender.multiply);
    gpu::poison_on_device(y_.span(), stream_);
    contender.multiply();
    measurement.check = check_step(matrix_, {}, start_, {}, gpu::to_host(y_.span(), stream_));
  }

  const Csr<V, I>& matrix_;
  const gpu::GpuProfile& profile_;
  const MeasuringOptions& measuring_;
  Progress& progress_;
  gpu::Stream stream_;
  const Array<V> start_;  // what x_ is whenever products are timed
  gpu::DeviceArray<V> x_;
  gpu::DeviceArray<V> y_;
  std::shared_ptr<const gpu::DeviceCsr<V>> csr_;
  std::exception_ptr failure_;  // the first that was no mere refusal
};

}  // namespace

void run_gpu_product_bench(const AnyMatrix& matrix, const GpuProductSettings& settings,
                           const gpu::GpuProfile& profile, const MeasuringOptions& measuring,
                           Progress& progress, const std::function<void(const ProductRun&)>& done) {
  gpu::use_device(profile.device.index);
  std::visit(
      [&]<Value V, Index I>(const Csr<V, I>& csr) {
        GpuProductBench<V, I>(csr, profile, measuring, progress).run(settings, done);
      },
      matrix);
}

}  // namespace strata::cli
