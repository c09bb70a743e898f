// Array: a vector that does not zero its memory and starts on a cache line. A matrix of several
// gigabytes is then touched first by the threads that fill it, in parallel, and not by one thread
// that writes zeros.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace strata {

inline constexpr std::size_t kCacheLine = 64;

template <class T>
struct UninitialisedAllocator {
  using value_type = T;

  UninitialisedAllocator() = default;
  template <class U>
  UninitialisedAllocator(const UninitialisedAllocator<U>&) {}

  T* allocate(std::size_t count) {
    if (count > static_cast<std::size_t>(-1) / sizeof(T)) throw std::bad_array_new_length();
    return static_cast<T*>(::operator new(count * sizeof(T), std::align_val_t(kCacheLine)));
  }
  void deallocate(T* memory, std::size_t) {
    ::operator delete(memory, std::align_val_t(kCacheLine));
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

  friend bool operator==(const UninitialisedAllocator&, const UninitialisedAllocator&) {
    return true;
  }
};

// `Array<T>(n)` holds n indeterminate elements; `Array<T>(n, value)` holds n copies of value.
template <class T>
using Array = std::vector<T, UninitialisedAllocator<T>>;

}  // namespace strata
