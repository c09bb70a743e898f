#include "strata/solvers/gpu/device_space.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "strata/base/checked.hpp"
#include "strata/base/error.hpp"
#include "strata/base/instantiate.hpp"
#include "strata/solvers/gpu/internal/space_kernels.hpp"

namespace strata::gpu {

using solvers::Assignment;
using solvers::DotTask;
using solvers::Operation;
using solvers::Scalar;
using solvers::ScalarStep;
using solvers::Term;

namespace {

constexpr int kFirstScalars = 128;

using detail::device_pointer;

template <Value V, class View>
auto block_view(const solvers::Block<View>& block, Offset rows) {
  using T = std::conditional_t<std::is_same_v<View, DeviceSpan<const V>>, const DeviceValue<V>,
                               DeviceValue<V>>;
  return BlockView<T>{device_pointer<V>(block.data.data()), block.interleaved ? block.columns : 1,
                      block.interleaved ? 1 : rows, block.columns};
}

bool has_right(Operation operation) {
  return operation != Operation::copy && operation != Operation::square_root;
}

}  // namespace

// A program in as few passes as have room for its vectors.
template <Value V>
class DeviceSpace<V>::Lowering {
 public:
  using T = DeviceValue<V>;

  explicit Lowering(DeviceSpace& space) : space_(space) {}

  std::vector<ProgramPass<T>> passes_of(const Program& program) {
    for (const Assignment<V>& assignment : program.assignments()) add(assignment);
    for (const DotTask<V>& dot : program.dots()) add(dot);
    for (const ScalarStep& step : program.steps()) add(step);
    finish();
    return std::move(passes_);
  }

 private:
  // The vectors of a pass; those that are read before they are written are loaded.
  struct Vectors {
    std::vector<const V*> all;
    std::vector<bool> loaded;
    std::vector<bool> stored;

    std::size_t number(const V* vector) {
      const auto found = std::ranges::find(all, vector);
      if (found != all.end()) return static_cast<std::size_t>(found - all.begin());
      all.push_back(vector);
      loaded.push_back(false);
      stored.push_back(false);
      return all.size() - 1;
    }
    std::uint32_t read(const V* vector) {
      const std::size_t k = number(vector);
      if (!stored[k]) loaded[k] = true;
      return 1U << k;
    }
    std::uint32_t written(const V* vector) {
      const std::size_t k = number(vector);
      stored[k] = true;
      return 1U << k;
    }
  };

  void make_room(std::span<const V* const> vectors) {
    std::vector<const V*> all = vectors_.all;
    for (const V* vector : vectors) {
      if (vector != nullptr && std::ranges::find(all, vector) == all.end()) all.push_back(vector);
    }
    if (all.size() > kPassVectors) finish();
  }

  void add(const Assignment<V>& assignment) {
    std::vector<const V*> used{assignment.target};
    for (int k = 0; k < assignment.count; ++k) {
      const Term<V>& term = assignment.terms[static_cast<std::size_t>(k)];
      used.push_back(term.vector);
      used.push_back(term.weights);
    }
    make_room(used);
    PassAssignment<T>& added = pass_.assignments[pass_.assignment_count++];
    for (int k = 0; k < assignment.count; ++k) {
      const Term<V>& term = assignment.terms[static_cast<std::size_t>(k)];
      PassTerm<T>& into = added.terms[added.count++];
      V factor = term.factor;
      if (term.scalar.exists()) {
        space_.check(term.scalar);
        if (const auto& value = space_.known(term.scalar.index)) {
          factor *= *value;
        } else {
          into.scalar = term.scalar.index;
        }
      }
      into.factor = device_value(factor);
      into.vector = vectors_.read(term.vector);
      if (term.weights != nullptr) into.weights = vectors_.read(term.weights);
    }
    added.target = vectors_.written(assignment.target);
  }

  void add(const DotTask<V>& dot) {
    space_.check(dot.target);
    make_room(std::array{dot.x, dot.y});
    pass_.dots[pass_.dot_count++] = {vectors_.read(dot.x), vectors_.read(dot.y), dot.target.index};
    space_.forget(dot.target, 1);
  }

  void add(const ScalarStep& step) {
    const bool two_sided = has_right(step.operation);
    space_.check(step.target);
    space_.check(step.left);
    if (two_sided) space_.check(step.right);
    pass_.steps[pass_.step_count++] = {local(step.target), local(step.left),
                                       local(two_sided ? step.right : step.left), step.operation};
    changed_.push_back(step.target);
  }

  std::int32_t local(Scalar scalar) {
    for (std::int32_t k = 0; k < pass_.local_count; ++k) {
      if (pass_.locals[k] == scalar.index) return k;
    }
    pass_.locals[pass_.local_count] = scalar.index;
    return pass_.local_count++;
  }

  // The vectors that are read get the first numbers.
  void finish() {
    std::vector<int> numbers(vectors_.all.size());
    int next = 0;
    for (const bool loaded : {true, false}) {
      for (std::size_t k = 0; k < numbers.size(); ++k) {
        if (vectors_.loaded[k] != loaded) continue;
        numbers[k] = next;
        pass_.vectors[next] = device_pointer<V>(vectors_.all[k]);
        if (vectors_.stored[k]) pass_.stored |= 1U << next;
        ++next;
      }
      if (loaded) pass_.loaded = next;
    }
    const auto renumber = [&](std::uint32_t& bit) {
      if (bit != 0) bit = 1U << numbers[static_cast<std::size_t>(std::countr_zero(bit))];
    };
    for (int a = 0; a < pass_.assignment_count; ++a) {
      renumber(pass_.assignments[a].target);
      for (int k = 0; k < pass_.assignments[a].count; ++k) {
        renumber(pass_.assignments[a].terms[k].vector);
        renumber(pass_.assignments[a].terms[k].weights);
      }
    }
    for (int d = 0; d < pass_.dot_count; ++d) {
      renumber(pass_.dots[d].x);
      renumber(pass_.dots[d].y);
    }
    // Scalars that the steps read and only the host knows.
    for (int k = 0; k < pass_.local_count; ++k) {
      const auto unwritten = std::ranges::find(space_.unwritten_, pass_.locals[k]);
      if (unwritten == space_.unwritten_.end()) continue;
      if (pass_.write_count == kPassSteps) {
        space_.flush();
        pass_.write_count = 0;
        break;
      }
      pass_.writes[pass_.write_count++] = {device_value(*space_.known(*unwritten)), *unwritten};
    }
    for (int k = 0; k < pass_.write_count; ++k) {
      std::erase(space_.unwritten_, pass_.writes[k].target);
    }
    for (const Scalar scalar : changed_) space_.forget(scalar, 1);
    changed_.clear();
    pass_.rows = vectors_.all.empty() ? 0 : space_.rows_;
    passes_.push_back(pass_);
    pass_ = ProgramPass<T>();
    vectors_ = Vectors();
  }

  DeviceSpace& space_;
  ProgramPass<T> pass_;
  Vectors vectors_;
  std::vector<Scalar> changed_;  // by steps
  std::vector<ProgramPass<T>> passes_;
};

template <Value V>
DeviceSpace<V>::DeviceSpace(Offset rows, Stream& stream)
    : rows_(rows),
      stream_(&stream),
      scalars_(kFirstScalars),
      sums_(kPassDots * kPassBlocks),
      arrivals_(kGramPanels),
      arrived_((kLag + 1) * kMostScalars) {
  if (rows < 0) throw InvalidArgument("vectors of negative length");
  for (int k = 0; k <= kLag; ++k) events_.emplace_back();
  fill_zero(scalars_.span(), stream);
  fill_zero(arrivals_.span(), stream);
}

template <Value V>
auto DeviceSpace<V>::make_block(int count) const -> Vector {
  Vector block(checked_multiply(rows_, std::max(count, 0), "a block of vectors"));
  fill_zero(block.span(), *stream_);
  return block;
}

template <Value V>
Scalar DeviceSpace<V>::make_scalars(int count) {
  const Scalar first{scalar_count_};
  scalar_count_ += std::max(count, 0);
  known_.resize(static_cast<std::size_t>(scalar_count_));
  if (scalar_count_ > scalars_.size()) {
    DeviceArray<V> more(std::max<Offset>(2 * scalars_.size(), scalar_count_));
    fill_zero(more.span(), *stream_);
    copy(std::as_const(scalars_).span(), more.subspan(0, scalars_.size()), *stream_);
    scalars_ = std::move(more);
  }
  return first;
}

template <Value V>
void DeviceSpace<V>::check(Scalar first, Offset count) const {
  if (count == 0) return;
  if (first.index < 0 || first.index + count > scalar_count_) {
    throw InvalidArgument(fmt::format("scalar {} of a space that has {}",
                                      first.index < 0 ? first.index : first.index + count - 1,
                                      scalar_count_));
  }
}

template <Value V>
void DeviceSpace<V>::check(ConstBlock block) const {
  if (block.columns < 0 ||
      block.data.size() < checked_multiply(rows_, Offset{block.columns}, "a block")) {
    throw InvalidArgument("a block of fewer columns than it should have");
  }
}

// Tiles of all columns of a in one product, and rows of a block in shared memory.
template <Value V>
void DeviceSpace<V>::check_columns(int columns) const {
  static_assert(kMostColumns <= kGramTiles * kGramPanels * kGramColumns<DeviceValue<V>>);
  static_assert(transform_rows<DeviceValue<V>>(kMostColumns) * kMostColumns * sizeof(V) <=
                48 * 1024);
  if (columns > kMostColumns) {
    throw InvalidArgument(
        fmt::format("blocks have {} columns on a GPU, not {}", kMostColumns, columns));
  }
}

// The device changes them from here on.
template <Value V>
void DeviceSpace<V>::forget(Scalar first, Offset count) {
  for (int k = first.index; k < first.index + count; ++k) {
    if (!std::exchange(known(k), std::nullopt)) continue;
    std::erase(unwritten_, k);
  }
}

template <Value V>
void DeviceSpace<V>::run(const Program& program) {
  for (ProgramPass<DeviceValue<V>>& pass : Lowering(*this).passes_of(program)) {
    pass.scalars = device_pointer<V>(scalars_.data());
    pass.sums = device_pointer<V>(sums_.data());
    pass.arrivals = arrivals_.data();
    detail::launch_pass<V>(pass, *stream_);
  }
}

// Tells the device what the host has written.
template <Value V>
void DeviceSpace<V>::flush() {
  while (!unwritten_.empty()) {
    ProgramPass<DeviceValue<V>> pass;
    pass.scalars = device_pointer<V>(scalars_.data());
    pass.sums = device_pointer<V>(sums_.data());
    pass.arrivals = arrivals_.data();
    for (; pass.write_count < kPassSteps && !unwritten_.empty(); unwritten_.pop_back()) {
      pass.writes[pass.write_count++] = {device_value(*known(unwritten_.back())),
                                         unwritten_.back()};
    }
    detail::launch_pass<V>(pass, *stream_);
  }
}

template <Value V>
void DeviceSpace<V>::gram(ConstBlock a, ConstBlock b, Scalar first) {
  check(a);
  check(b);
  const Offset count = Offset{a.columns} * b.columns;
  check(first, count);
  if (count == 0) return;
  check_columns(a.columns);
  forget(first, count);
  // So many columns of b at a time as there are panels for their tiles.
  const int tiles_of_a = ceil_div(a.columns, kGramColumns<DeviceValue<V>>);
  const int most = 4 * (kGramTiles * kGramPanels / tiles_of_a);
  const auto of_b = block_view<V>(b, rows_);
  for (int j = 0; j < b.columns; j += most) {
    auto some_b = of_b;
    some_b.data += j * of_b.column_stride;
    some_b.columns = std::min(most, b.columns - j);
    const detail::GramShape shape = detail::gram_shape<V>(rows_, a.columns, some_b.columns);
    if (sums_.size() < shape.sums) sums_ = DeviceArray<V>(shape.sums);
    detail::launch_gram<V>({.a = block_view<V>(a, rows_),
                            .b = some_b,
                            .rows = rows_,
                            .target = device_pointer<V>(at(first)) + Offset{j} * a.columns,
                            .sums = device_pointer<V>(sums_.data()),
                            .arrivals = arrivals_.data(),
                            .row_blocks = shape.row_blocks,
                            .tiles_of_a = shape.tiles_of_a,
                            .tiles = shape.tiles},
                           shape, *stream_);
  }
}

template <Value V>
void DeviceSpace<V>::add_product(V factor, ConstBlock a, Scalar first, Block target) {
  check(a);
  check(ConstBlock(target));
  check(first, Offset{a.columns} * target.columns);
  flush();
  constexpr int kColumns = 8;
  auto of_a = block_view<V>(a, rows_);
  auto of_target = block_view<V>(target, rows_);
  for (int j = 0; j < target.columns; j += kColumns) {
    for (int i = 0; i < a.columns; i += kMostAdded) {
      auto some_a = of_a;
      some_a.data += i * of_a.column_stride;
      some_a.columns = std::min(kMostAdded, a.columns - i);
      auto some = of_target;
      some.data += j * of_target.column_stride;
      some.columns = std::min(kColumns, target.columns - j);
      detail::launch_add_product<V>(
          {.a = some_a,
           .target = some,
           .rows = rows_,
           .factor = device_value(factor),
           .coefficients = device_pointer<V>(at(first)) + i + Offset{j} * a.columns,
           .coefficient_stride = a.columns},
          *stream_);
    }
  }
}

template <Value V>
void DeviceSpace<V>::transform(Block block, Scalar first, int from) {
  check(ConstBlock(block));
  if (from < 0 || from > block.columns) {
    throw InvalidArgument(fmt::format("column {} of a block of {} columns", from, block.columns));
  }
  check(first, Offset{block.columns} * (block.columns - from));
  check_columns(block.columns);
  if (from == block.columns) return;
  flush();
  detail::launch_transform<V>({.block = block_view<V>(block, rows_),
                               .rows = rows_,
                               .coefficients = device_pointer<V>(at(first)),
                               .from = from},
                              *stream_);
}

template <Value V>
void DeviceSpace<V>::write(Scalar first, std::span<const V> values) {
  check(first, std::ssize(values));
  if (std::ssize(values) > kPassSteps) {
    send(first, values);
    return;
  }
  for (int k = 0; k < std::ssize(values); ++k) {
    const int scalar = first.index + k;
    known(scalar) = values[static_cast<std::size_t>(k)];
    if (std::ranges::find(unwritten_, scalar) == unwritten_.end()) unwritten_.push_back(scalar);
  }
}

template <Value V>
void DeviceSpace<V>::send(Scalar first, std::span<const V> values) {
  constexpr std::size_t kParcels = 2;
  if (parcels_.size() < kParcels) parcels_.emplace_back();
  Parcel& parcel = parcels_[parcels_sent_++ % kParcels];
  parcel.sent.synchronize();
  if (parcel.values.size() < std::ssize(values)) {
    parcel.values = PinnedArray<V>(2 * std::ssize(values));
  }
  std::ranges::copy(values, parcel.values.data());
  forget(first, std::ssize(values));
  copy(std::as_const(parcel.values).span().first(values.size()),
       scalars_.subspan(first.index, std::ssize(values)), *stream_);
  parcel.sent.record(*stream_);
}

template <Value V>
void DeviceSpace<V>::read(Scalar first, std::span<V> values) {
  check(first, std::ssize(values));
  if (values.empty()) return;
  flush();
  if (std::ssize(values) <= kMostScalars) {
    await(request(first, static_cast<int>(values.size())), values);
    return;
  }
  if (received_.size() < std::ssize(values)) received_ = PinnedArray<V>(2 * std::ssize(values));
  const std::span<V> arriving = received_.span().first(values.size());
  copy(std::as_const(scalars_).subspan(first.index, std::ssize(values)), arriving, *stream_);
  stream_->synchronize();
  std::ranges::copy(arriving, values.begin());
}

template <Value V>
auto DeviceSpace<V>::request(Scalar first, int count) -> Reading {
  if (count < 0 || count > kMostScalars) throw InvalidArgument("too many scalars in one reading");
  check(first, count);
  flush();
  Reading reading;
  reading.slot = requests_++ % events_.size();
  reading.count = count;
  copy(std::as_const(scalars_).subspan(first.index, count),
       arrived_.span().subspan(reading.slot * kMostScalars, static_cast<std::size_t>(count)),
       *stream_);
  events_[reading.slot].record(*stream_);
  return reading;
}

template <Value V>
void DeviceSpace<V>::await(const Reading& reading, std::span<V> values) {
  if (std::ssize(values) != reading.count) {
    throw InvalidArgument("a reading of another number of scalars");
  }
  events_[reading.slot].synchronize();
  std::copy_n(arrived_.data() + reading.slot * kMostScalars, values.size(), values.begin());
}

#define STRATA_INSTANTIATE(V, unused) template class DeviceSpace<V>
STRATA_FOR_EACH_VALUE(STRATA_INSTANTIATE, );

}  // namespace strata::gpu
