// TileRecord: a tile of a wavefront sweep as it is stored in memory, all of it one run of bytes, so
// that one copy brings it on chip:
//
//   TileRecord, RecordSlice[slices], RecordNeed[needs], int32 mailboxes of readers[readers],
//   code blocks, value data
//
// each part starting at a multiple of 16 bytes. Code blocks and value data are those of packed SELL
// (formats/packed_sell.hpp), slice by slice; slices of a tile with the same code block share it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "strata/kernels/gpu/packed_sell.hpp"

namespace strata::gpu {

// Offsets inside a record, and of records, are in units of so many bytes.
inline constexpr std::int64_t kRecordUnit = 16;

// A tile without encoded values names no encoding: its kernels find the width without a mask.
struct alignas(kRecordUnit) RecordSlice {
  std::int32_t first_slot;
  std::uint32_t shape;   // value encoding · 2^29 + width · 4 + encoding of the columns
  std::uint32_t codes;   // offset of the code block
  std::uint32_t values;  // offset of the value data

  STRATA_HOST_DEVICE int width() const { return static_cast<int>((shape & 0x1fffffff) >> 2); }
  STRATA_HOST_DEVICE SliceEncoding encoding() const {
    return static_cast<SliceEncoding>(shape & 3);
  }
  STRATA_HOST_DEVICE ValueEncoding value_encoding() const {
    return static_cast<ValueEncoding>(shape >> 29);
  }
};

// The mailbox, of those of the tile's worker, must have reached so many tiles.
struct RecordNeed {
  std::int32_t mailbox;
  std::int32_t tiles;
};

struct alignas(kRecordUnit) TileRecord {
  std::int32_t slices;
  std::int32_t needs;
  std::int32_t readers;
  std::uint32_t values;       // offset of the first slice's value data
  std::uint64_t first_value;  // how many values the records before this one have
  std::uint64_t place;        // of the record, in units

  STRATA_HOST_DEVICE const RecordSlice* slice_list() const {
    return reinterpret_cast<const RecordSlice*>(this + 1);
  }
  STRATA_HOST_DEVICE const RecordNeed* need_list() const {
    return reinterpret_cast<const RecordNeed*>(slice_list() + slices);
  }
  // Mailboxes among those of all workers.
  STRATA_HOST_DEVICE const std::int32_t* reader_list() const {
    return reinterpret_cast<const std::int32_t*>(need_list() + needs);
  }
  // A slice of full values. The record with its values may be elsewhere.
  template <class T>
  STRATA_DEVICE PackedSlice<T, NoRuns> slice(int s, const std::byte* with_values) const {
    const RecordSlice here = slice_list()[s];
    return {
        reinterpret_cast<const T*>(with_values + here.values * kRecordUnit),
        reinterpret_cast<const std::byte*>(this) + here.codes * kRecordUnit,
        static_cast<int>(here.shape >> 2),
        here.encoding(),
        here.first_slot,
        first_value + static_cast<std::uint64_t>(here.values - values) * (kRecordUnit / sizeof(T))};
  }
};
static_assert(sizeof(TileRecord) == 32 && sizeof(RecordSlice) == 16 && sizeof(RecordNeed) == 8);

// Where a record is in the stream.
struct alignas(kRecordUnit) RecordPlace {
  std::uint32_t begin;   // in units
  std::uint32_t bytes;   // of all
  std::uint32_t values;  // bytes before the value data
  std::uint32_t unused;
};

}  // namespace strata::gpu
