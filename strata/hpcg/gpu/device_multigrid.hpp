// DeviceMultigrid: the preconditioner of HPCG on a GPU, the counterpart of hpcg/multigrid.hpp: a
// launch for every colour of a pass. Nothing waits for the device, and nothing is allocated, so
// that a cycle can be recorded in a graph.
#pragma once

#include <span>
#include <vector>

#include "strata/device/array.hpp"
#include "strata/device/stream.hpp"
#include "strata/hpcg/multigrid.hpp"
#include "strata/kernels/gpu/device_matrix.hpp"

namespace strata::gpu {

class DeviceMultigrid {
 public:
  // `outside` is the order of the vectors of apply; `host` was made with it. Neither is needed
  // afterwards.
  DeviceMultigrid(const hpcg::Multigrid& host, const PaddedOrder<hpcg::Row>& outside,
                  Stream& stream);

  // z = M⁻¹r, in the order of the stream; 0 where the order has no row. One call at a time, also
  // among streams.
  void apply(DeviceSpan<const double> r, DeviceSpan<double> z, Stream& stream);
  // Takes over the finest level of the host's, whose matrix has changed.
  void replace_finest(const hpcg::Multigrid& host, Stream& stream);

  int levels() const { return static_cast<int>(stages_.size()); }
  // The parts of a cycle by themselves, to time them: both smoothings of a level, or that of the
  // coarsest, and what goes between it and the next, on the finest also vectors in and out.
  void smooth_only(int level, Stream& stream);
  void transfer_only(int level, DeviceSpan<const double> r, DeviceSpan<double> z, Stream& stream);

 private:
  struct Stage {
    DevicePackedSell<double> lower;
    DevicePackedSell<double> upper;
    std::vector<RowRange<hpcg::Row>> colours;
    DeviceArray<double> b;  // D⁻¹r
    DeviceArray<double> x;
    DeviceArray<double> scratch;
    DeviceArray<hpcg::Row> fine_row;  // of the next level; and what its residuals are times
    DeviceArray<double> factor;
  };

  void upload(Stage& stage, const hpcg::Multigrid& host, int level, Stream& stream);
  void add(const DevicePackedSell<double>& part, const Stage& stage, std::size_t colour,
           const DeviceArray<double>& previous, DeviceArray<double>& out, Stream& stream) const;
  void smooth_from_zero(Stage& stage, Stream& stream) const;
  void smooth(Stage& stage, Stream& stream) const;
  void enter(DeviceSpan<const double> r, Stream& stream);
  void leave(DeviceSpan<double> z, Stream& stream);
  void restrict_residual(std::size_t level, Stream& stream);
  void prolong(std::size_t level, Stream& stream);
  void cycle(std::size_t level, Stream& stream);

  std::vector<Stage> stages_;
  DeviceArray<hpcg::Row> outside_row_;    // by row of the finest smoother
  DeviceArray<hpcg::Row> inside_row_;     // by row of the outside order
  DeviceArray<double> inverse_diagonal_;  // of the finest level
};

}  // namespace strata::gpu
