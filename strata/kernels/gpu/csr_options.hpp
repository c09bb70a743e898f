// The kernels for CSR on a GPU as data: their names, their parameters, and the rules that choose
// among them. Host code that needs no GPU.
//
//   const CsrRows rows{.rows = 1000, .nnz = 7000, .longest = 7};
//   DeviceCsrOptions options{.kernel = csr_kernel_named("csr-reguly").value()};
//   options.reguly = reguly_rule(rows.rows, rows.nnz);
//   options.kernel = ginkgo_choice(rows, GpuVendor::nvidia);   // CsrKernel::classical
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "strata/base/types.hpp"
#include "strata/kernels/gpu/vendor.hpp"

namespace strata::gpu {

// How a product goes through the rows of a CSR matrix.
enum class CsrKernel {
  automatic,  // chosen by automatic_choice
  scalar,     // a thread per row
  classical,  // some threads of a warp per row
  balanced,   // parts with as many entries each, whatever the lengths of the rows
  stream,     // a block reads consecutive rows as one stream and adds them up from shared memory
  reguly,  // classical, in blocks of so many rows: Reguly, Efficient SpMV on cache-based GPUs, 2012
};
inline constexpr std::array kCsrKernels{CsrKernel::scalar, CsrKernel::classical,
                                        CsrKernel::balanced, CsrKernel::stream, CsrKernel::reguly};

// As on the command line: csr-stream. `automatic` is csr.
std::string_view name_of(CsrKernel kernel);
// By name_of; none for other words.
std::optional<CsrKernel> csr_kernel_named(std::string_view name);

// ---- The stream

// A block of `threads` reads at most entries() entries, all of them in flight at once, of at most
// `threads` rows.
struct StreamShape {
  int threads = 128;
  int entries_per_thread = 8;

  constexpr int entries() const { return threads * entries_per_thread; }
  bool operator==(const StreamShape&) const = default;
};
// Those with kernels, the default first.
inline constexpr std::array kStreamShapes{StreamShape{128, 8}, StreamShape{256, 4},
                                          StreamShape{256, 8}, StreamShape{64, 8}};

// Who multiplies an entry that a block has read.
enum class StreamGather {
  automatic,   // by_rows where a part's rows are alike
  by_rows,     // the threads of its row: neighbours load neighbouring elements of x
  by_entries,  // whoever read it: all threads gather as much, whatever the lengths of the rows
};

// ---- Reguly's kernel

// A block of `block_size` threads does repeat·block_size/coop consecutive rows, `coop` threads
// each. A row is added up in one order whatever these are.
struct RegulyParameters {
  int coop = 0;  // a power of two up to kMostCoop; 0: all three by reguly_rule
  int repeat = 1;
  int block_size = 128;  // a multiple of the warp up to most_reguly_threads

  bool operator==(const RegulyParameters&) const = default;
};
// "CSR of Reguly, coop 4, repeat 2, blocks of 128"
std::string label_of(const RegulyParameters& parameters);
inline constexpr int kMostCoop = 32;
inline constexpr int kMostRegulyThreads = 1024;

// What there are kernels for depends on.
struct RegulyTarget {
  int warp = 32;        // of the device
  int value_bytes = 8;  // of the matrix' values
};
// The most threads of a block. A thread holds kMostCoop/coop sums in registers, and a
// multiprocessor has 65536 of these.
constexpr int most_reguly_threads(int coop, int value_bytes) {
  const int bytes = kMostCoop / coop * value_bytes;
  if (bytes <= 64) return kMostRegulyThreads;
  return bytes <= 128 ? kMostRegulyThreads / 2 : kMostRegulyThreads / 4;
}
// Throws InvalidArgument if there is no kernel for the parameters.
void require_valid(const RegulyParameters& parameters, const RegulyTarget& target);
bool is_valid(const RegulyParameters& parameters, const RegulyTarget& target);

// Blocks of a product of so many rows (equation 5 of the paper).
Offset reguly_blocks(Offset rows, const RegulyParameters& parameters);

// The fixed rule (section 5.4): blocks of 128 threads, `coop` the smallest power of two above the
// square root of the mean row length, and as many rows per block as leave 1500 blocks. `warp` is
// that of the device.
RegulyParameters reguly_rule(Offset rows, Offset nnz, int warp = 32);

// What an exhaustive search goes through. `list` is every combination.
struct RegulySweep {
  std::vector<int> coop{1, 2, 4, 8, 16, 32};
  std::vector<int> repeat{1, 2, 4, 8, 16, 32};
  std::vector<int> block_size{32, 64, 96, 128, 192, 256, 384, 512, 768, 1024};

  // Without those that there is no kernel for.
  std::vector<RegulyParameters> list(const RegulyTarget& target = {}) const;
};

// ---- Options and rules

struct DeviceCsrOptions {
  CsrKernel kernel = CsrKernel::automatic;
  int threads_per_row = 0;  // of `classical`: a power of two up to the warp; 0 chooses by the mean
  StreamShape stream = {};
  StreamGather gather = StreamGather::automatic;
  RegulyParameters reguly = {};
};

// What rules know of a matrix.
struct CsrRows {
  Offset rows = 0;
  Offset nnz = 0;
  Offset longest = 0;  // entries of a row
};
CsrRows csr_rows(std::span<const Offset> row_offsets);

// Strata's choice: the stream, or parts of equal size where one row is far longer than the mean and
// there are many entries: on an H200 rmat:22 took 591 µs as a stream and 573 in parts, but
// p2p-Gnutella31 7 and 9, and mult_dcop_01 with a row of 22767 entries 5.6 and 9.9.
CsrKernel automatic_choice(const CsrRows& rows);

// The choice of Ginkgo (Tsai, Cojean and Anzt, Sparse linear algebra on AMD and NVIDIA GPUs, 2020,
// Algorithm 3): balanced for many entries or a long row, classical for all else.
CsrKernel ginkgo_choice(const CsrRows& rows, GpuVendor vendor);

}  // namespace strata::gpu
