// Applying a plan allocates nothing. An executable of its own, for it counts every operator new.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "strata/plans/power_plan.hpp"
#include "tests/plans/support.hpp"

namespace {

std::atomic<long> allocations{0};

void* counted(std::size_t bytes, std::size_t alignment) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  // aligned_alloc wants a multiple of the alignment.
  const std::size_t rounded = (bytes + alignment) / alignment * alignment;
  void* memory = std::aligned_alloc(alignment, rounded);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

// Not inlined, lest g++ sees free() beside a new of another allocation function and warns.
[[gnu::noinline]] void release(void* memory) noexcept {
  std::free(memory);
}

}  // namespace

void* operator new(std::size_t bytes) {
  return counted(bytes, alignof(std::max_align_t));
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return counted(bytes, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return counted(bytes, alignof(std::max_align_t));  // std::bad_alloc ends the test, and may
}
void operator delete(void* memory) noexcept {
  release(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  release(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  release(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  release(memory);
}

namespace strata {
namespace {

TEST(PowerPlanMemory, NothingIsAllocatedInApply) {
  using I = std::int32_t;
  const auto matrix = generate<double, I>("stencil27:10x10x40,shuffle=1");
  for (const PowerStrategy strategy :
       {PowerStrategy::spmv, PowerStrategy::levels, PowerStrategy::wavefront}) {
    for (const PowerFormat format :
         {PowerFormat::csr, PowerFormat::sell, PowerFormat::packed_sell}) {
      for (const VectorOrder order : {VectorOrder::caller, VectorOrder::plan}) {
        PowerOptions options = test::quick_options();
        options.strategy = strategy;
        options.format = format;
        options.vector_order = order;
        options.threads = 2;
        options.block = 3;
        options.vectors = order == VectorOrder::plan ? 3 : 1;
        const auto plan = plan_powers(matrix, options);
        auto workspace = plan.make_workspace();
        auto workspace_for_last = plan.make_workspace_for_last();
        const auto each = static_cast<std::size_t>(plan.vector_rows()) * plan.vectors();
        const std::vector<double> x(each, 1.0);
        std::vector<double> powers(each * plan.power());
        std::vector<double> last(each);
        const long before = allocations.load();
        plan.apply(x, powers, workspace);
        plan.apply_last(x, last, workspace_for_last);
        EXPECT_EQ(allocations.load(), before) << name_of(strategy) << ", " << name_of(format);
      }
    }
  }
  EXPECT_GT(allocations.load(), 0);
}

}  // namespace
}  // namespace strata
