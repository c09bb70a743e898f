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

// More threads than this are refused: an OpenMP runtime that cannot start as many as it is asked
// for ends the process.
inline constexpr int kMaxThreads = 1024;

// How many threads parallel work of the calling thread uses: what its ThreadCountScope says, else
// what was set for the process, else OpenMP's setting, else all processors that this process can
// have at once (processors.hpp). Every operation reads it once, when it begins.
int thread_count();

// Uses `count` threads from now on, 1 … kMaxThreads; 0 goes back to all processors. Applies to the
// whole process, and may be called at any time from any thread: operations that have begun keep
// the number that they began with. Throws InvalidArgument.
void set_thread_count(int count);

// While it lives, thread_count() is `count` in the thread that made it and in no other: for one
// piece of work, while others in the process use more or fewer threads. Scopes nest; one ends in
// the thread that made it, before those around it. 0 changes nothing. Throws InvalidArgument
// outside 0 … kMaxThreads.
class ThreadCountScope {
 public:
  explicit ThreadCountScope(int count);
  ~ThreadCountScope();
  ThreadCountScope(const ThreadCountScope&) = delete;
  ThreadCountScope& operator=(const ThreadCountScope&) = delete;

 private:
  int before_;
};

// Distinct processors of OpenMP's places; 0 if it has none, because it binds no threads. OpenMP
// made them from the processors that the process had before any thread was bound.
int processors_of_openmp_places();

// Runs body(thread, team) once on each of `team` threads, and returns when all are done. The team
// may be smaller than asked for; inside another parallel region it is 1. Throws InvalidArgument for
// more than kMaxThreads.
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

namespace detail {
void run_own_first(Offset count, FunctionRef<void(Offset, Offset)> body);
}

// body(begin, end) on pieces of [0, count), as parallel_dynamic: but every thread begins with the
// items that it has whenever so many threads share so many items, which it may still have in its
// cache, and runs of them, which are loaded ahead. Who has none left helps the others.
template <class Body>
void parallel_own_first(Offset count, Body&& body) {
  detail::run_own_first(count, body);
}

namespace detail {
// visit(piece, chunk) for each of `pieces` contiguous chunks of [0, count), on up to as many
// threads. What is kept per piece has its place whatever team the runtime gives.
void for_each_piece(Offset count, int pieces, FunctionRef<void(int piece, Chunk chunk)> visit);
}  // namespace detail

// Combines map(begin, end) of the pieces of [0, count) from left to right, starting from `start`.
// The pieces depend on the number of threads: for exact (integer, min, max) reductions only.
template <class T, class Map, class Combine>
T parallel_reduce(Offset count, T start, Map&& map, Combine&& combine) {
  if (count <= 0) return start;
  if (count < kSerialBelow) return combine(start, map(Offset{0}, count));
  struct Partial {  // an object of its own for every T: neighbours in a vector<bool> share one
    T value;
  };
  const int pieces = thread_count();
  std::vector<Partial> partial(static_cast<std::size_t>(pieces), Partial{start});
  detail::for_each_piece(count, pieces, [&](int piece, Chunk chunk) {
    partial[piece].value = map(chunk.begin, chunk.end);
  });
  T result = start;
  for (const Partial& part : partial) result = combine(result, part.value);
  return result;
}

// Turns counts into offsets, in place: values[i] becomes the sum of the values before i. Returns
// the sum of all.
Offset exclusive_scan(std::span<Offset> values);

}  // namespace strata
