#include "strata/hpcg/gpu/device_multigrid.hpp"

#include "strata/hpcg/gpu/internal/transfer_launch.hpp"

namespace strata::gpu {

using hpcg::Row;

namespace {

template <class T>
DeviceArray<T> zeros(Offset count, Stream& stream) {
  DeviceArray<T> array(count);
  fill_zero(array.span(), stream);
  return array;
}

}  // namespace

DeviceMultigrid::DeviceMultigrid(const hpcg::Multigrid& host, const PaddedOrder<Row>& outside,
                                 Stream& stream) {
  stages_.resize(host.levels());
  for (int level = 0; level < host.levels(); ++level) {
    Stage& stage = stages_[level];
    const Row rows = host.smoother(level).rows();
    stage.b = zeros<double>(rows, stream);
    stage.x = zeros<double>(rows, stream);
    stage.scratch = zeros<double>(rows, stream);
    if (level + 1 < host.levels()) stage.fine_row = to_device(host.fine_rows(level), stream);
    upload(stage, host, level, stream);
  }
  outside_row_ = to_device(host.outside_rows(), stream);
  std::vector<Row> inside(outside.padded_rows(), PaddedOrder<Row>::kEmpty);
  for (std::size_t row = 0; row < host.outside_rows().size(); ++row) {
    if (const Row position = host.outside_rows()[row]; position >= 0) {
      inside[position] = static_cast<Row>(row);
    }
  }
  inside_row_ = to_device(std::span<const Row>(inside), stream);
  stream.synchronize();
}

// The matrices, and the diagonals between it and the next one.
void DeviceMultigrid::upload(Stage& stage, const hpcg::Multigrid& host, int level, Stream& stream) {
  const hpcg::ColouredSmoother& smoother = host.smoother(level);
  stage.lower = DevicePackedSell<double>(smoother.lower(), stream);
  stage.upper = DevicePackedSell<double>(smoother.upper(), stream);
  stage.colours.clear();
  for (int colour = 0; colour < smoother.colours(); ++colour) {
    stage.colours.push_back(smoother.rows_of(colour));
  }
  if (level + 1 < host.levels()) {
    const std::span<const Row> fine = host.fine_rows(level);
    std::vector<double> factor(fine.size(), 0.0);
    for (std::size_t i = 0; i < fine.size(); ++i) {
      if (fine[i] < 0) continue;
      factor[i] = smoother.diagonal()[fine[i]] / host.smoother(level + 1).diagonal()[i];
    }
    stage.factor = to_device(std::span<const double>(factor), stream);
  }
  if (level == 0) {
    std::vector<double> inverse;
    for (const double value : smoother.diagonal()) inverse.push_back(1 / value);
    inverse_diagonal_ = to_device(std::span<const double>(inverse), stream);
  }
}

void DeviceMultigrid::replace_finest(const hpcg::Multigrid& host, Stream& stream) {
  upload(stages_[0], host, 0, stream);
  stream.synchronize();
}

// As on processors, slices of a colour load from other colours alone: what is written here is read
// by nobody meanwhile.
void DeviceMultigrid::add(const DevicePackedSell<double>& part, const Stage& stage,
                          std::size_t colour, const DeviceArray<double>& previous,
                          DeviceArray<double>& out, Stream& stream) const {
  step(part, {.alpha = 1.0, .beta = 1.0}, {stage.x.span(), previous.span(), out.span(), 1},
       stage.colours[colour], stream);
}

void DeviceMultigrid::smooth_from_zero(Stage& stage, Stream& stream) const {
  for (std::size_t colour = 0; colour < stage.colours.size(); ++colour) {
    add(stage.lower, stage, colour, stage.b, stage.x, stream);
  }
  for (std::size_t colour = stage.colours.size() - 1; colour-- > 0;) {
    add(stage.upper, stage, colour, stage.x, stage.x, stream);
  }
}

void DeviceMultigrid::smooth(Stage& stage, Stream& stream) const {
  for (std::size_t colour = 0; colour < stage.colours.size(); ++colour) {
    add(stage.lower, stage, colour, stage.b, stage.scratch, stream);
    add(stage.upper, stage, colour, stage.scratch, stage.x, stream);
  }
  for (std::size_t colour = stage.colours.size() - 1; colour-- > 0;) {
    add(stage.upper, stage, colour, stage.scratch, stage.x, stream);
  }
}

void DeviceMultigrid::enter(DeviceSpan<const double> r, Stream& stream) {
  Stage& finest = stages_[0];
  detail::launch_gather({.from = r.data(),
                         .source = outside_row_.data(),
                         .factor = inverse_diagonal_.data(),
                         .target = finest.b.data(),
                         .count = finest.b.size()},
                        stream);
}

void DeviceMultigrid::leave(DeviceSpan<double> z, Stream& stream) {
  detail::launch_gather({.from = stages_[0].x.data(),
                         .source = inside_row_.data(),
                         .target = z.data(),
                         .count = z.size()},
                        stream);
}

// The points of the coarser grid are the last colour, of which U has nothing.
void DeviceMultigrid::restrict_residual(std::size_t level, Stream& stream) {
  Stage& fine = stages_[level];
  Stage& coarse = stages_[level + 1];
  add(fine.lower, fine, hpcg::kCoarseColour, fine.b, fine.scratch, stream);
  detail::launch_gather({.from = fine.scratch.data(),
                         .minus = fine.x.data(),
                         .source = fine.fine_row.data(),
                         .factor = fine.factor.data(),
                         .target = coarse.b.data(),
                         .count = coarse.b.size()},
                        stream);
}

void DeviceMultigrid::prolong(std::size_t level, Stream& stream) {
  Stage& fine = stages_[level];
  const Stage& coarse = stages_[level + 1];
  detail::launch_add_at({.from = coarse.x.data(),
                         .place = fine.fine_row.data(),
                         .target = fine.x.data(),
                         .count = coarse.x.size()},
                        stream);
}

void DeviceMultigrid::cycle(std::size_t level, Stream& stream) {
  smooth_from_zero(stages_[level], stream);
  if (level + 1 == stages_.size()) return;
  restrict_residual(level, stream);
  cycle(level + 1, stream);
  prolong(level, stream);
  smooth(stages_[level], stream);
}

void DeviceMultigrid::apply(DeviceSpan<const double> r, DeviceSpan<double> z, Stream& stream) {
  enter(r, stream);
  cycle(0, stream);
  leave(z, stream);
}

void DeviceMultigrid::smooth_only(int level, Stream& stream) {
  Stage& stage = stages_[level];
  smooth_from_zero(stage, stream);
  if (level + 1 < levels()) smooth(stage, stream);
}

void DeviceMultigrid::transfer_only(int level, DeviceSpan<const double> r, DeviceSpan<double> z,
                                    Stream& stream) {
  if (level == 0) {
    enter(r, stream);
    leave(z, stream);
  }
  if (level + 1 < levels()) {
    restrict_residual(level, stream);
    prolong(level, stream);
  }
}

}  // namespace strata::gpu
