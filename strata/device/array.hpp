// Arrays in the memory of a device, and copies between it and the host. Data of the host and of a
// device have different types, and nothing is copied but by a call of copy.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include "strata/base/array.hpp"
#include "strata/base/checked.hpp"
#include "strata/base/types.hpp"
#include "strata/device/stream.hpp"

namespace strata::gpu {

namespace detail {

struct FreeDevice {
  Offset bytes = 0;
  void operator()(void* memory) const noexcept;
};
struct FreePinned {
  void operator()(void* memory) const noexcept;
};
using DeviceBlock = std::unique_ptr<void, FreeDevice>;
using PinnedBlock = std::unique_ptr<void, FreePinned>;

// Null for 0 bytes. Throws DeviceOutOfMemory, also where a limit says so (memory.hpp).
DeviceBlock allocate_device(Offset bytes);
PinnedBlock allocate_pinned(Offset bytes);

void copy_to_device(const void* from, void* to, Offset bytes, Stream& stream);
void copy_to_host(const void* from, void* to, Offset bytes, Stream& stream);
// Done when it returns; by all threads, where there is much (upload.hpp).
void upload_bytes(const void* from, void* to, Offset bytes, Stream& stream);
void copy_on_device(const void* from, void* to, Offset bytes, Stream& stream);
void fill_bytes(void* memory, std::byte value, Offset bytes, Stream& stream);

void require_same_size(Offset from, Offset to);
void require_inside(Offset first, Offset count, Offset size);
// Throws InvalidArgument if the count is negative.
Offset array_bytes(Offset count, Offset element_bytes);

}  // namespace detail

// Elements on a device that another object owns. It can be passed to kernels; the host can copy
// from it and to it, and nothing else.
template <class T>
class DeviceSpan {
 public:
  static_assert(std::is_trivially_copyable_v<T>);

  constexpr DeviceSpan() = default;
  constexpr DeviceSpan(T* data, Offset size) : data_(data), size_(size) {}
  // Spans of U serve as spans of const U.
  template <class U>
    requires(!std::is_const_v<U> && std::is_same_v<const U, T>)
  constexpr DeviceSpan(DeviceSpan<U> other) : data_(other.data()), size_(other.size()) {}

  constexpr T* data() const { return data_; }
  constexpr Offset size() const { return size_; }
  constexpr Offset bytes() const { return size_ * Offset{sizeof(T)}; }
  constexpr bool empty() const { return size_ == 0; }

  // Elements [first, first + count). Throws InvalidArgument if they are not all inside.
  DeviceSpan subspan(Offset first, Offset count) const {
    detail::require_inside(first, count, size_);
    return {data_ + first, count};
  }

 private:
  T* data_ = nullptr;
  Offset size_ = 0;
};

// Owns `size` elements on the device that was current when it was made; their values are
// indeterminate. Freeing it waits until the device has finished all earlier work.
template <class T>
class DeviceArray {
 public:
  static_assert(std::is_trivially_copyable_v<T> && !std::is_const_v<T>);

  DeviceArray() = default;
  // Throws DeviceOutOfMemory.
  explicit DeviceArray(Offset size)
      : block_(detail::allocate_device(detail::array_bytes(size, sizeof(T)))), size_(size) {}

  DeviceArray(DeviceArray&& other) noexcept
      : block_(std::move(other.block_)), size_(std::exchange(other.size_, 0)) {}
  DeviceArray& operator=(DeviceArray&& other) noexcept {
    block_ = std::move(other.block_);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }

  T* data() { return static_cast<T*>(block_.get()); }
  const T* data() const { return static_cast<const T*>(block_.get()); }
  Offset size() const { return size_; }
  Offset bytes() const { return size_ * Offset{sizeof(T)}; }
  bool empty() const { return size_ == 0; }

  DeviceSpan<T> span() { return {data(), size_}; }
  DeviceSpan<const T> span() const { return {data(), size_}; }
  DeviceSpan<T> subspan(Offset first, Offset count) { return span().subspan(first, count); }
  DeviceSpan<const T> subspan(Offset first, Offset count) const {
    return span().subspan(first, count);
  }

 private:
  detail::DeviceBlock block_;
  Offset size_ = 0;
};

// Owns `size` elements of the host's memory that the system never moves: copies from and to it
// overlap with the host's work, and kernels may access it directly. Values are indeterminate.
template <class T>
class PinnedArray {
 public:
  static_assert(std::is_trivially_copyable_v<T> && !std::is_const_v<T>);

  PinnedArray() = default;
  explicit PinnedArray(Offset size)
      : block_(detail::allocate_pinned(detail::array_bytes(size, sizeof(T)))), size_(size) {}

  PinnedArray(PinnedArray&& other) noexcept
      : block_(std::move(other.block_)), size_(std::exchange(other.size_, 0)) {}
  PinnedArray& operator=(PinnedArray&& other) noexcept {
    block_ = std::move(other.block_);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }

  T* data() { return static_cast<T*>(block_.get()); }
  const T* data() const { return static_cast<const T*>(block_.get()); }
  Offset size() const { return size_; }
  T& operator[](Offset i) { return data()[i]; }
  const T& operator[](Offset i) const { return data()[i]; }
  std::span<T> span() { return {data(), static_cast<std::size_t>(size_)}; }
  std::span<const T> span() const { return {data(), static_cast<std::size_t>(size_)}; }

 private:
  detail::PinnedBlock block_;
  Offset size_ = 0;
};

// Copies in the order of the stream, from the host, to the host, and on the device. Both sides must
// be of one size (or InvalidArgument is thrown) and stay as they are until the stream is
// synchronised. Copies on the device must not overlap.
template <class T>
void copy(std::span<const std::type_identity_t<T>> from, DeviceSpan<T> to, Stream& stream) {
  detail::require_same_size(std::ssize(from), to.size());
  detail::copy_to_device(from.data(), to.data(), to.bytes(), stream);
}

template <class T>
void copy(DeviceSpan<T> from, std::span<std::remove_const_t<T>> to, Stream& stream) {
  detail::require_same_size(from.size(), std::ssize(to));
  detail::copy_to_host(from.data(), to.data(), from.bytes(), stream);
}

template <class T>
void copy(DeviceSpan<const std::type_identity_t<T>> from, DeviceSpan<T> to, Stream& stream) {
  detail::require_same_size(from.size(), to.size());
  detail::copy_on_device(from.data(), to.data(), to.bytes(), stream);
}

// Sets all bytes to 0, in the order of the stream.
template <class T>
void fill_zero(DeviceSpan<T> span, Stream& stream) {
  detail::fill_bytes(span.data(), std::byte{0}, span.bytes(), stream);
}

// The same with an allocation, done when they return.
template <class T>
DeviceArray<T> to_device(std::span<const T> from, Stream& stream) {
  DeviceArray<T> to(std::ssize(from));
  detail::upload_bytes(from.data(), to.data(), to.bytes(), stream);
  return to;
}

template <class T>
Array<std::remove_const_t<T>> to_host(DeviceSpan<T> from, Stream& stream) {
  Array<std::remove_const_t<T>> to(static_cast<std::size_t>(from.size()));
  copy(from, std::span(to), stream);
  stream.synchronize();
  return to;
}

}  // namespace strata::gpu
