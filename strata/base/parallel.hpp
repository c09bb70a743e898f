// Parallel loops over threads of this process. OpenMP appears in parallel.cpp alone, so that a
// user's compiler needs no flag and exceptions cross the threads: the first one thrown by any
// thread is thrown again in the caller.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "strata/base/function_ref.hpp"
#include "strata/base/types.hpp"

namespace strata {

// How many threads parallel work uses: all cores this process may run on, unless set.
int thread_count();

// Uses `count` threads from now on; 0 goes back to all cores. Applies to the whole process.
void set_thread_count(int count);

// Runs body(thread, team) once on each of `team` threads, and returns when all are done. The team
// may be smaller than asked for; inside another parallel region it is 1.
void run_on_threads(int threads, FunctionRef<void(int thread, int team)> body);

// Part `part` of `parts` nearly equal contiguous pieces of [0, count).
struct Chunk {
  Offset begin = 0;
  Offset end = 0;
};
constexpr Chunk chunk_of(Offset count, int part, int parts) {
  const Offset each = count / parts;
  const Offset longer = count % parts;
  const Offset begin = each * part + std::min<Offset>(part, longer);
  return {begin, begin + each + (part < longer ? 1 : 0)};
}

// Part `part` of `parts` contiguous ranges of lines with about the same number of entries each,
// where line i has its entries at offsets[i] … offsets[i+1]−1.
Chunk balanced_chunk_of(std::span<const Offset> offsets, int part, int parts);

// Below this many items the loops stay on the calling thread: waking the others costs more.
inline constexpr Offset kSerialBelow = 4096;

// body(begin, end) on contiguous pieces that cover [0, count), one per thread.
template <class Body>
void parallel_chunks(Offset count, Body&& body) {
  if (count <= 0) return;
  if (count < kSerialBelow) {
    body(Offset{0}, count);
    return;
  }
  run_on_threads(thread_count(), [&](int thread, int team) {
    const Chunk chunk = chunk_of(count, thread, team);
    if (chunk.begin < chunk.end) body(chunk.begin, chunk.end);
  });
}

// body(i) for every i in [0, count), split evenly.
template <class Body>
void parallel_for(Offset count, Body&& body) {
  parallel_chunks(count, [&](Offset begin, Offset end) {
    for (Offset i = begin; i < end; ++i) body(i);
  });
}

namespace detail {
void run_dynamic(Offset count, Offset grain, FunctionRef<void(Offset, Offset)> body);
}

// body(begin, end) on pieces of at most `grain` items, taken by whichever thread is free: for work
// that differs much from item to item.
template <class Body>
void parallel_dynamic(Offset count, Offset grain, Body&& body) {
  detail::run_dynamic(count, grain, body);
}

// Combines map(begin, end) of the pieces of [0, count) from left to right, starting from `start`.
// The pieces depend on the number of threads: for exact (integer, min, max) reductions only.
template <class T, class Map, class Combine>
T parallel_reduce(Offset count, T start, Map&& map, Combine&& combine) {
  if (count <= 0) return start;
  if (count < kSerialBelow) return combine(start, map(Offset{0}, count));
  std::vector<T> partial(static_cast<std::size_t>(thread_count()), start);
  int used = 1;
  run_on_threads(thread_count(), [&](int thread, int team) {
    if (thread == 0) used = team;
    const Chunk chunk = chunk_of(count, thread, team);
    partial[thread] = map(chunk.begin, chunk.end);
  });
  T result = start;
  for (int thread = 0; thread < used; ++thread) {
    result = combine(result, partial[thread]);
  }
  return result;
}

// Turns counts into starting positions, in place: values[i] becomes the sum of the values before
// i. Returns the sum of all.
Offset exclusive_scan(std::span<Offset> values);

}  // namespace strata
