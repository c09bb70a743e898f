#include "strata/model/cache_simulator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "strata/base/error.hpp"

namespace strata {

namespace {

Offset lines_of(const CacheShape& shape) {
  const bool lines_fit = shape.line_bytes > 0 &&
                         std::has_single_bit(static_cast<std::uint64_t>(shape.line_bytes)) &&
                         shape.bytes > 0 && shape.bytes % shape.line_bytes == 0;
  const Offset lines = lines_fit ? shape.bytes / shape.line_bytes : 0;
  if (!lines_fit || shape.ways < 0 || (shape.ways > 0 && lines % shape.ways != 0)) {
    throw InvalidArgument(fmt::format("a cache of {} bytes, {} ways and lines of {} bytes",
                                      shape.bytes, shape.ways, shape.line_bytes));
  }
  return lines;
}

}  // namespace

CacheSimulator::Level::Level(const CacheShape& shape) {
  const Offset lines = lines_of(shape);
  ways_per_set_ = shape.ways == 0 ? lines : shape.ways;
  sets_ = lines / ways_per_set_;
  ways_.assign(lines, kEmpty);
}

bool CacheSimulator::Level::touch(std::uint64_t line, bool write,
                                  std::optional<std::uint64_t>& evicted) {
  std::uint64_t* const begin = set_of(line);
  std::uint64_t* const last = begin + ways_per_set_ - 1;
  std::uint64_t* way = begin;
  while (way != last && *way >> 1 != line) ++way;
  const bool found = *way >> 1 == line;
  if (!found && *way != kEmpty && (*way & 1) != 0) evicted = *way >> 1;
  const std::uint64_t dirty = write || (found && (*way & 1) != 0) ? 1 : 0;
  std::copy_backward(begin, way, way + 1);
  *begin = line << 1 | dirty;
  return found;
}

bool CacheSimulator::Level::make_dirty(std::uint64_t line) {
  std::uint64_t* const begin = set_of(line);
  std::uint64_t* const way = std::find_if(begin, begin + ways_per_set_,
                                          [&](std::uint64_t held) { return held >> 1 == line; });
  if (way == begin + ways_per_set_) return false;
  *way |= 1;
  return true;
}

std::vector<std::uint64_t> CacheSimulator::Level::take_dirty_lines() {
  std::vector<std::uint64_t> dirty;
  for (std::uint64_t& way : ways_) {
    if (way != kEmpty && (way & 1) != 0) dirty.push_back(way >> 1);
    way = kEmpty;
  }
  return dirty;
}

CacheSimulator::CacheSimulator(const CacheShape& last_level) : last_(last_level) {
  line_shift_ = std::countr_zero(static_cast<std::uint64_t>(last_level.line_bytes));
}

CacheSimulator::CacheSimulator(const CacheShape& first_level, const CacheShape& last_level)
    : CacheSimulator(last_level) {
  first_.emplace(first_level);
  if (first_level.line_bytes != last_level.line_bytes) {
    throw InvalidArgument(fmt::format("a first level with lines of {} bytes, a last one of {}",
                                      first_level.line_bytes, last_level.line_bytes));
  }
}

Offset CacheSimulator::access(std::uint64_t address, Offset bytes, bool write) {
  if (bytes < 1) return 0;
  const std::uint64_t end_line = (address + static_cast<std::uint64_t>(bytes) - 1) >> line_shift_;
  Offset missed = 0;
  for (std::uint64_t line = address >> line_shift_; line <= end_line; ++line) {
    missed += hits(line, write) ? 0 : 1;
  }
  return missed;
}

bool CacheSimulator::hits(std::uint64_t line, bool write) {
  std::optional<std::uint64_t> evicted;
  if (first_) {
    const bool found = first_->touch(line, write, evicted);
    if (evicted) write_back_from_first(*evicted);
    if (found) return true;
    evicted.reset();
  }
  // Below a first level, which has the new contents, the line becomes dirty when it is evicted.
  const bool found = last_.touch(line, write && !first_, evicted);
  if (evicted) ++counts_.write_backs;
  ++(found ? counts_.hits : write ? counts_.write_misses : counts_.read_misses);
  return found;
}

void CacheSimulator::write_back_from_first(std::uint64_t line) {
  if (!last_.make_dirty(line)) ++counts_.write_backs;
}

void CacheSimulator::flush() {
  if (first_) {
    for (const std::uint64_t line : first_->take_dirty_lines()) write_back_from_first(line);
  }
  counts_.write_backs += static_cast<Offset>(last_.take_dirty_lines().size());
}

}  // namespace strata
