#include "strata/base/parallel.hpp"

#include <omp.h>

#include <array>
#include <atomic>
#include <exception>
#include <mutex>
#include <set>
#include <string>

#include "strata/base/affinity.hpp"
#include "strata/base/error.hpp"
#include "strata/base/processors.hpp"

namespace strata {

namespace {

// For the process, and of the scopes of this thread; 0: none. Nothing else is read or written along
// with them, hence relaxed.
std::atomic<int> chosen_thread_count{0};
thread_local int scoped_thread_count = 0;

void require_possible(int threads) {
  if (threads < 0) throw InvalidArgument("the number of threads cannot be negative");
  if (threads > kMaxThreads) {
    throw InvalidArgument("the number of threads is " + std::to_string(threads) +
                          ", more than the " + std::to_string(kMaxThreads) + " that are possible");
  }
}

// A number other than OpenMP's own default, all processors, is the user's choice and stands. By
// itself OpenMP knows nothing of what control groups allow.
int default_thread_count() {
  const int by_openmp = std::clamp(omp_get_max_threads(), 1, kMaxThreads);
  if (by_openmp != omp_get_num_procs()) return by_openmp;
  static const int affordable = processor_budget().affordable_threads();
  return std::min(by_openmp, affordable);
}

// Keeps the first exception of a team until the team has ended.
class FirstException {
 public:
  void keep() {
    const std::lock_guard lock(mutex_);
    if (!first_) first_ = std::current_exception();
    seen_.store(true, std::memory_order_relaxed);
  }
  bool seen() const { return seen_.load(std::memory_order_relaxed); }
  void rethrow() const {
    if (first_) std::rethrow_exception(first_);
  }

 private:
  std::mutex mutex_;
  std::exception_ptr first_;
  std::atomic<bool> seen_{false};
};

}  // namespace

int thread_count() {
  if (scoped_thread_count > 0) return scoped_thread_count;
  const int chosen = chosen_thread_count.load(std::memory_order_relaxed);
  return chosen > 0 ? chosen : default_thread_count();
}

void set_thread_count(int count) {
  require_possible(count);
  chosen_thread_count.store(count, std::memory_order_relaxed);
}

ThreadCountScope::ThreadCountScope(int count) : before_(scoped_thread_count) {
  require_possible(count);
  if (count > 0) scoped_thread_count = count;
}

ThreadCountScope::~ThreadCountScope() {
  scoped_thread_count = before_;
}

int processors_of_openmp_places() {
  std::set<int> processors;
  for (int place = 0; place < omp_get_num_places(); ++place) {
    std::vector<int> of_place(static_cast<std::size_t>(omp_get_place_num_procs(place)));
    omp_get_place_proc_ids(place, of_place.data());
    processors.insert(of_place.begin(), of_place.end());
  }
  return static_cast<int>(processors.size());
}

void run_on_threads(int threads, FunctionRef<void(int, int)> body) {
  require_possible(threads);
  const std::span<const int> processors = detail::scoped_processors();
  if (threads <= 1 || omp_in_parallel()) {
    const detail::ThreadBinding binding(processors, 0);
    body(0, 1);
    return;
  }
  FirstException failure;
#pragma omp parallel num_threads(threads)
  {
    try {
      const detail::ThreadBinding binding(processors, omp_get_thread_num());
      body(omp_get_thread_num(), omp_get_num_threads());
    } catch (...) {
      failure.keep();
    }
  }
  failure.rethrow();
}

Chunk balanced_chunk_of(std::span<const Offset> offsets, int part, int parts) {
  const auto first_line = [&](int of_part) {
    const Offset target = chunk_of(offsets.back(), of_part, parts).begin;
    return std::ranges::lower_bound(offsets, target) - offsets.begin();
  };
  const auto lines = static_cast<Offset>(offsets.size()) - 1;
  return {part == 0 ? 0 : first_line(part), part + 1 == parts ? lines : first_line(part + 1)};
}

namespace detail {

void run_dynamic(Offset count, Offset grain, FunctionRef<void(Offset, Offset)> body) {
  grain = std::max<Offset>(grain, 1);
  if (count <= grain) {
    if (count > 0) body(0, count);
    return;
  }
  std::atomic<Offset> next{0};
  FirstException failure;
  run_on_threads(thread_count(), [&](int, int) {
    while (!failure.seen()) {
      const Offset begin = next.fetch_add(grain, std::memory_order_relaxed);
      if (begin >= count) break;
      try {
        body(begin, std::min(begin + grain, count));
      } catch (...) {
        failure.keep();
      }
    }
  });
  failure.rethrow();
}

namespace {

// Items that are still to be done, of those that one thread begins with.
struct alignas(64) OwnItems {
  std::atomic<Offset> next{0};
  Offset end = 0;

  // The next of them, fewer and fewer, so that little is left to wait for at the end; none: empty.
  Chunk take() {
    constexpr Offset kShare = 4;
    Offset begin = next.load(std::memory_order_relaxed);
    while (begin < end) {
      const Offset stop = begin + std::max<Offset>(1, (end - begin) / kShare);
      if (next.compare_exchange_weak(begin, stop, std::memory_order_relaxed)) return {begin, stop};
    }
    return {end, end};
  }
};

}  // namespace

void run_own_first(Offset count, FunctionRef<void(Offset, Offset)> body) {
  if (count <= 0) return;
  constexpr int kMostOwners = 128;  // of more threads, some begin with the same
  const int threads = static_cast<int>(std::min<Offset>(thread_count(), count));
  const int owners = std::min(threads, kMostOwners);
  std::array<OwnItems, kMostOwners> items;  // products allocate nothing
  for (int owner = 0; owner < owners; ++owner) {
    const Chunk own = chunk_of(count, owner, owners);
    items[owner].next = own.begin;
    items[owner].end = own.end;
  }
  FirstException failure;
  run_on_threads(threads, [&](int thread, int) {
    for (int visited = 0; visited < owners; ++visited) {
      OwnItems& own = items[(thread + visited) % owners];
      for (Chunk piece = own.take(); piece.begin < piece.end && !failure.seen();
           piece = own.take()) {
        try {
          body(piece.begin, piece.end);
        } catch (...) {
          failure.keep();
        }
      }
    }
  });
  failure.rethrow();
}

void for_each_piece(Offset count, int pieces, FunctionRef<void(int, Chunk)> visit) {
  run_on_threads(pieces, [&](int thread, int team) {
    for (int piece = thread; piece < pieces; piece += team) {
      visit(piece, chunk_of(count, piece, pieces));
    }
  });
}

}  // namespace detail

Offset exclusive_scan(std::span<Offset> values) {
  const auto count = static_cast<Offset>(values.size());
  const auto scan_piece = [&](Offset begin, Offset end, Offset sum) {
    for (Offset i = begin; i < end; ++i) {
      const Offset value = values[i];
      values[i] = sum;
      sum += value;
    }
    return sum;
  };
  if (count < kSerialBelow) return scan_piece(0, count, 0);

  // Two passes over fixed pieces: sums first, then the scan of each piece from its start.
  const int pieces = thread_count();
  std::vector<Offset> starts(static_cast<std::size_t>(pieces) + 1, 0);
  detail::for_each_piece(count, pieces, [&](int piece, Chunk chunk) {
    Offset sum = 0;
    for (Offset i = chunk.begin; i < chunk.end; ++i) sum += values[i];
    starts[piece + 1] = sum;
  });
  for (std::size_t piece = 1; piece < starts.size(); ++piece) starts[piece] += starts[piece - 1];
  detail::for_each_piece(count, pieces, [&](int piece, Chunk chunk) {
    scan_piece(chunk.begin, chunk.end, starts[piece]);
  });
  return starts.back();
}

}  // namespace strata
