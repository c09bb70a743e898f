// The body of the kernel that runs a vector program (solvers/vector_program.hpp) on a GPU in one
// launch: every vector is read and written once, dot products are added up in a fixed order, and
// the block that arrives last computes the scalars that follow from them.
#pragma once

#include <cstdint>

#include "strata/kernels/gpu/arrivals.hpp"
#include "strata/kernels/gpu/products.hpp"
#include "strata/kernels/gpu/simt.hpp"
#include "strata/kernels/gpu/value.hpp"
#include "strata/kernels/gpu/vector_bodies.hpp"
#include "strata/solvers/gpu/scalar_operations.hpp"
#include "strata/solvers/vector_program.hpp"

namespace strata::gpu {

inline constexpr int kPassThreads = 256;
// At most so many blocks, as many as 132 multiprocessors hold. The number is the same on every
// device, and so is the order in which dot products are added up.
inline constexpr int kPassBlocks = 528;
template <int dots, class T>
inline constexpr int kResidentPasses = dots > 2 || sizeof(T) > 8 ? 2 : 4;  // on a multiprocessor
template <int dots, class T>
inline constexpr int kMostPassBlocks = kPassBlocks / 4 * kResidentPasses<dots, T>;
inline constexpr int kPassTerms = 4;
inline constexpr int kPassAssignments = 4;
inline constexpr int kPassDots = 6;
inline constexpr int kPassSteps = 8;
inline constexpr int kPassVectors = 8;
inline constexpr int kPassLocals = 3 * kPassSteps;

// factor · scalar · weights ∘ vector, or nothing at all where the first two are 0: an iteration
// that begins before the host has seen a NaN leaves the solution alone. Vectors are bits,
// 1 << their number in the pass' list; 0: none.
template <class T>
struct PassTerm {
  T factor{};
  std::int32_t scalar = -1;
  std::uint32_t vector = 0;
  std::uint32_t weights = 0;
};

template <class T>
struct PassAssignment {
  PassTerm<T> terms[kPassTerms] = {};
  std::int32_t count = 0;
  std::uint32_t target = 0;
};

struct PassDot {
  std::uint32_t x = 0;
  std::uint32_t y = 0;
  std::int32_t target = 0;  // a scalar
};

// On the scalars that are listed as the pass' own.
struct PassStep {
  std::int32_t target = 0;
  std::int32_t left = 0;
  std::int32_t right = 0;
  solvers::Operation operation = solvers::Operation::copy;
};

template <class T>
struct PassWrite {
  T value{};
  std::int32_t target = 0;
};

template <class T>
struct ProgramPass {
  std::int64_t rows = 0;
  T* vectors[kPassVectors] = {};  // each once, those that are read first
  std::int32_t loaded = 0;        // so many are read
  std::uint32_t stored = 0;       // a bit for each that is written
  PassAssignment<T> assignments[kPassAssignments] = {};
  PassDot dots[kPassDots] = {};
  PassWrite<T> writes[kPassSteps] = {};  // scalars that the host knows and no assignment reads
  PassStep steps[kPassSteps] = {};
  std::int32_t locals[kPassLocals] = {};  // scalars of the steps
  std::int32_t assignment_count = 0;
  std::int32_t dot_count = 0;
  std::int32_t write_count = 0;
  std::int32_t step_count = 0;
  std::int32_t local_count = 0;

  T* scalars = nullptr;
  T* sums = nullptr;  // kPassBlocks for every dot product
  std::uint32_t* arrivals = nullptr;
};

// Shared memory, in elements; one more is a flag.
constexpr int kPassShared = kPassTerms * kPassAssignments + kPassDots * (kPassThreads / 32) + 1;
static_assert(kPassLocals <= kPassShared - 1);

// How many elements of each vector a thread has at a time: 64 bytes are in flight.
template <int vectors, class T>
inline constexpr int kPassElements = vectors * sizeof(T) > 32   ? 1
                                     : vectors * sizeof(T) > 16 ? 2
                                                                : 4;

// Registers have no addresses: all are compared with the one that is wanted, for which memory
// leaves time. A bit stands for each, or compilers would put them into memory to address them
// there.
template <int vectors, int elements, class T>
STRATA_DEVICE T pick(const T (&values)[vectors][elements], std::uint32_t vector, int e) {
  T picked = values[0][e];
  STRATA_UNROLL
  for (int v = 1; v < vectors; ++v) {
    if ((vector >> v & 1) != 0) picked = values[v][e];
  }
  return picked;
}

// Adds up the blocks' sums, in their order whoever comes last, and computes what follows.
template <class Thread, class T>
STRATA_DEVICE void end_pass(Thread& thread, const ProgramPass<T>& pass, T* shared) {
  for (int d = thread.warp(); d < pass.dot_count; d += thread.warps()) {
    T sum{};
    for (int block = thread.lane(); block < thread.blocks(); block += Thread::warp_size) {
      sum = add(sum, pass.sums[d * kPassBlocks + block]);
    }
    sum = sum_of_lanes(thread, 1, sum);
    if (thread.lane() == 0) pass.scalars[pass.dots[d].target] = sum;
  }
  if (thread.index() < pass.write_count) {
    const PassWrite<T>& write = pass.writes[thread.index()];
    pass.scalars[write.target] = write.value;
  }
  thread.sync_block();
  if (pass.step_count == 0) return;
  if (thread.index() < pass.local_count) {
    shared[thread.index()] = pass.scalars[pass.locals[thread.index()]];
  }
  thread.sync_block();
  if (thread.index() == 0) {
    for (int s = 0; s < pass.step_count; ++s) {
      const PassStep& step = pass.steps[s];
      shared[step.target] = computed(step.operation, shared[step.left], shared[step.right]);
    }
  }
  thread.sync_block();
  if (thread.index() < pass.local_count) {
    pass.scalars[pass.locals[thread.index()]] = shared[thread.index()];
  }
}

// Blocks of kPassThreads, kPassBlocks at most, with shared memory for kPassShared numbers. Kernels
// are made for some numbers of vectors and dot products: registers are set aside for them.
template <int vectors, int dots, class Thread, class T>
STRATA_DEVICE void run_pass(Thread& thread, const ProgramPass<T>& pass) {
  constexpr int elements = kPassElements<vectors, T>;
  T* const coefficients = thread.template shared<T>();
  T* const warp_sums = coefficients + kPassTerms * kPassAssignments;
  auto* const last = reinterpret_cast<std::uint32_t*>(coefficients + kPassShared - 1);
  if (thread.index() < pass.assignment_count * kPassTerms) {
    const PassTerm<T>& term =
        pass.assignments[thread.index() / kPassTerms].terms[thread.index() % kPassTerms];
    coefficients[thread.index()] =
        term.scalar < 0 ? term.factor : multiply(term.factor, pass.scalars[term.scalar]);
  }
  thread.sync_block();

  T sums[dots > 0 ? dots : 1] = {};
  const std::int64_t chunk = std::int64_t{thread.size()} * elements;
  for (std::int64_t first = thread.block() * chunk + thread.index(); first < pass.rows;
       first += thread.blocks() * chunk) {
    const auto inside = [&](int e) { return first + e * thread.size() < pass.rows; };
    T values[vectors][elements];
    STRATA_UNROLL
    for (int v = 0; v < vectors; ++v) {
      STRATA_UNROLL
      for (int e = 0; e < elements; ++e) {
        values[v][e] =
            v < pass.loaded && inside(e) ? pass.vectors[v][first + e * thread.size()] : T{};
      }
    }
    STRATA_NO_UNROLL
    for (int a = 0; a < pass.assignment_count; ++a) {
      const PassAssignment<T>& assignment = pass.assignments[a];
      T results[elements] = {};
      STRATA_NO_UNROLL
      for (int t = 0; t < assignment.count; ++t) {
        const T coefficient = coefficients[a * kPassTerms + t];
        if (is_zero(coefficient)) continue;
        const std::uint32_t vector = assignment.terms[t].vector;
        const std::uint32_t weights = assignment.terms[t].weights;
        STRATA_UNROLL
        for (int e = 0; e < elements; ++e) {
          T value = pick(values, vector, e);
          if (weights != 0) value = multiply(value, pick(values, weights, e));
          results[e] = multiply_add(coefficient, value, results[e]);
        }
      }
      STRATA_UNROLL
      for (int v = 0; v < vectors; ++v) {
        if ((assignment.target >> v & 1) == 0) continue;
        STRATA_UNROLL
        for (int e = 0; e < elements; ++e) values[v][e] = results[e];
      }
    }
    STRATA_UNROLL
    for (int v = 0; v < vectors; ++v) {
      if ((pass.stored >> v & 1) == 0) continue;
      STRATA_UNROLL
      for (int e = 0; e < elements; ++e) {
        if (inside(e)) pass.vectors[v][first + e * thread.size()] = values[v][e];
      }
    }
    STRATA_UNROLL
    for (int d = 0; d < dots; ++d) {
      if (d >= pass.dot_count) continue;
      STRATA_UNROLL
      for (int e = 0; e < elements; ++e) {
        const T x = conjugated(pick(values, pass.dots[d].x, e));
        if (inside(e)) sums[d] = multiply_add(x, pick(values, pass.dots[d].y, e), sums[d]);
      }
    }
  }

  // Scalars are written when all blocks have read theirs.
  if (pass.dot_count + pass.step_count + pass.write_count == 0) return;
  STRATA_UNROLL
  for (int d = 0; d < dots; ++d) {
    if (d >= pass.dot_count) continue;
    const T sum = sum_of_lanes(thread, 1, sums[d]);
    if (thread.lane() == 0) warp_sums[d * thread.warps() + thread.warp()] = sum;
  }
  thread.sync_block();
  if (thread.index() < pass.dot_count) {
    const T* const of_warps = warp_sums + thread.index() * thread.warps();
    T sum = of_warps[0];
    for (int warp = 1; warp < thread.warps(); ++warp) sum = add(sum, of_warps[warp]);
    pass.sums[thread.index() * kPassBlocks + thread.block()] = sum;
  }
  thread.sync_block();
  if (thread.index() == 0) *last = arrives_last(thread, pass.arrivals, thread.blocks() - 1);
  thread.sync_block();
  if (*last != 0) end_pass(thread, pass, coefficients);
}

}  // namespace strata::gpu
