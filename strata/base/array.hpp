// Array: a vector that does not zero its memory and starts on a cache line. A matrix of several
// gigabytes is then touched first by the threads that fill it, in parallel, and not by one thread
// that writes zeros. Large ones are on large pages where the system has them, which saves a product
// most of its misses in the page tables.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace strata {

inline constexpr std::size_t kCacheLine = 64;

namespace detail {
inline constexpr std::size_t kLargePage = std::size_t{2} << 20;
// From this size on a block starts on a large page, and large pages are asked for.
inline constexpr std::size_t kLargeBlock = 4 * kLargePage;
void ask_for_large_pages(void* block, std::size_t bytes);
}  // namespace detail

template <class T>
struct UninitialisedAllocator {
  using value_type = T;

  UninitialisedAllocator() = default;
  template <class U>
  UninitialisedAllocator(const UninitialisedAllocator<U>&) {}

  T* allocate(std::size_t count) {
    if (count > static_cast<std::size_t>(-1) / sizeof(T)) throw std::bad_array_new_length();
    const std::size_t bytes = count * sizeof(T);
    void* block = ::operator new(bytes, alignment(bytes));
    if (bytes >= detail::kLargeBlock) detail::ask_for_large_pages(block, bytes);
    return static_cast<T*>(block);
  }
  void deallocate(T* memory, std::size_t count) {
    ::operator delete(memory, alignment(count * sizeof(T)));
  }

  // Elements made without arguments stay uninitialised: the type must allow that.
  template <class U>
  void construct(U* place) {
    static_assert(std::is_trivially_copyable_v<U>);
    ::new (static_cast<void*>(place)) U;
  }
  template <class U, class... Arguments>
  void construct(U* place, Arguments&&... arguments) {
    std::construct_at(place, std::forward<Arguments>(arguments)...);
  }

  static std::align_val_t alignment(std::size_t bytes) {
    return std::align_val_t(bytes >= detail::kLargeBlock ? detail::kLargePage : kCacheLine);
  }

  friend bool operator==(const UninitialisedAllocator&, const UninitialisedAllocator&) {
    return true;
  }
};

// `Array<T>(n)` holds n indeterminate elements; `Array<T>(n, value)` holds n copies of value.
template <class T>
using Array = std::vector<T, UninitialisedAllocator<T>>;

}  // namespace strata
