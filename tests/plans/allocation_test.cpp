// Applying a plan allocates nothing, and new values that find no memory leave a plan as it was. An
// executable of its own, for it counts every operator new and makes some fail.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>

#include "strata/formats/statistics.hpp"
#include "strata/plans/internal/product_request.hpp"
#include "strata/plans/power_plan.hpp"
#include "strata/plans/product_plan.hpp"
#include "tests/plans/support.hpp"
#include "tests/support/format_check.hpp"

namespace {

std::atomic<long> allocations{0};
std::atomic<long> failing_allocation{-1};  // fails when so many have been made; −1: none does
std::atomic<long> live_bytes{0};
std::atomic<long> most_bytes{0};

// What was asked for, not what malloc made of it, which differs from run to run.
void* counted_or_null(std::size_t bytes, std::size_t alignment) {
  if (allocations.fetch_add(1, std::memory_order_relaxed) == failing_allocation.load()) {
    return nullptr;
  }
  // The size is kept before the memory; aligned_alloc wants a multiple of the alignment.
  const std::size_t rounded = alignment + (bytes + alignment) / alignment * alignment;
  auto* memory = static_cast<std::byte*>(std::aligned_alloc(alignment, rounded));
  if (memory == nullptr) return nullptr;
  memory += alignment;
  const auto size = static_cast<long>(bytes);
  std::memcpy(memory - sizeof size, &size, sizeof size);
  const long live = live_bytes.fetch_add(size) + size;
  for (long most = most_bytes; most < live && !most_bytes.compare_exchange_weak(most, live);) {
  }
  return memory;
}
void* counted(std::size_t bytes, std::size_t alignment) {
  void* memory = counted_or_null(bytes, alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

// Not inlined, lest g++ sees free() beside a new of another allocation function and warns.
[[gnu::noinline]] void release(void* memory, std::size_t alignment) noexcept {
  if (memory == nullptr) return;
  long size = 0;
  std::memcpy(&size, static_cast<std::byte*>(memory) - sizeof size, sizeof size);
  live_bytes -= size;
  std::free(static_cast<std::byte*>(memory) - alignment);
}

}  // namespace

void* operator new(std::size_t bytes) {
  return counted(bytes, alignof(std::max_align_t));
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return counted(bytes, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return counted_or_null(bytes, alignof(std::max_align_t));
}
void operator delete(void* memory) noexcept {
  release(memory, alignof(std::max_align_t));
}
void operator delete(void* memory, std::size_t) noexcept {
  release(memory, alignof(std::max_align_t));
}
void operator delete(void* memory, std::align_val_t alignment) noexcept {
  release(memory, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory, std::size_t, std::align_val_t alignment) noexcept {
  release(memory, static_cast<std::size_t>(alignment));
}

namespace strata {
namespace {

TEST(PowerPlanMemory, NothingIsAllocatedInApply) {
  using I = std::int32_t;
  const auto matrix = generate<double, I>("stencil27:10x10x40,shuffle=1");
  for (const PowerStrategy strategy :
       {PowerStrategy::spmv, PowerStrategy::levels, PowerStrategy::wavefront}) {
    for (const Format format : {Format::csr, Format::sell, Format::packed_sell}) {
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

// Whatever was stored and timed on the way to the result.
TEST(PowerPlanMemory, PlanningNeedsNoMoreThanAFewTimesItsResult) {
  for (const char* spec : {"stencil27:30x30x60,coefficients=random",
                           "stencil27:30x30x60,coefficients=random,shuffle=1",
                           "stencil27:38x38x38,coefficients=random,shuffle=1",
                           "stencil7:60x60x60,coefficients=random,shuffle=1"}) {
    const auto matrix = generate<double, std::int32_t>(spec);
    for (const int threads : {1, 2}) {
      for (const bool autotune : {false, true}) {
        SCOPED_TRACE(testing::Message()
                     << spec << ", " << threads << " threads" << (autotune ? ", timed" : ""));
        PowerOptions options = test::quick_options();
        options.power = 4;
        options.threads = threads;
        options.autotune = autotune;
        const long before = live_bytes;
        most_bytes = before;
        const auto plan = plan_powers(matrix, options);
        const auto result = static_cast<double>(live_bytes - before);
        EXPECT_GT(result, 8.0 * static_cast<double>(matrix.nnz()));
        EXPECT_LT(static_cast<double>(most_bytes - before), 2.5 * result) << plan.explain();
      }
    }
  }
}

std::vector<ProductSpec> all_products(const Csr<double, std::int32_t>& matrix) {
  return parse_product_list("all", statistics_of(matrix), KernelTarget::processor);
}

TEST(PowerPlanMemory, NothingIsAllocatedByPlainPowersInAnyFormat) {
  const auto matrix = generate<double, std::int32_t>("stencil27:10x10x40");
  for (const ProductSpec& spec : all_products(matrix)) {
    PowerOptions options = test::quick_options();
    options.threads = 2;
    const auto plan = detail::plan_powers_with(matrix, options, {.only = {spec}});
    auto workspace = plan.make_workspace();
    auto workspace_for_sum = plan.make_workspace_for_sum();
    const std::vector<double> x(4000, 1.0);
    const std::vector<double> coefficients(5, 0.5);
    std::vector<double> powers(4 * x.size());
    std::vector<double> sum(x.size());
    const long before = allocations.load();
    plan.apply(x, powers, workspace);
    plan.apply_sum(x, coefficients, sum, workspace_for_sum);
    EXPECT_EQ(allocations.load(), before) << label_of(spec);
  }
}

ProductOptions quick_product(const ProductSpec& spec) {
  ProductOptions options;
  options.profile = test::quick_options().profile;
  options.autotune = false;
  options.product = spec;
  options.threads = 2;
  return options;
}

TEST(ProductPlanMemory, NothingIsAllocatedInApply) {
  const auto matrix = generate<double, std::int32_t>("stencil27:10x10x20");
  for (const bool transposed : {false, true}) {
    for (const ProductSpec& spec : all_products(matrix)) {
      ProductOptions options = quick_product(spec);
      options.vectors = transposed ? 3 : 1;
      options.transposed = transposed;
      const auto plan = plan_product(matrix, options);
      auto workspace = plan.make_workspace();
      const std::vector<double> x(2000 * plan.vectors(), 1.0);
      std::vector<double> y(x.size());
      plan.apply(x, y, workspace);
      const long before = allocations.load();
      plan.apply(2.0, x, -1.0, y, workspace);
      EXPECT_EQ(allocations.load(), before) << label_of(spec);
    }
  }
}

// Whether update_values ran out of memory when it asked for the count-th time.
template <class Plan, class Matrix>
bool runs_out_of_memory(Plan& plan, const Matrix& matrix, long count) {
  failing_allocation = allocations.load() + count;
  bool failed = false;
  try {
    plan.update_values(matrix);
  } catch (const std::bad_alloc&) {
    failed = true;
  }
  failing_allocation = -1;
  return failed;
}

// Each allocation fails once, until the values are taken.
TEST(PowerPlanMemory, NewValuesThatFindNoMemoryLeaveThePlanAsItWas) {
  using I = std::int32_t;
  const auto matrix = generate<double, I>("stencil27:10x10x40,shuffle=1");
  const auto changed = test::with_other_values(matrix, 5);
  const auto x = test::random_vector<double>(matrix.rows(), 1);
  for (const PowerStrategy strategy : test::kStrategies) {
    for (const Format format : test::kFormats) {
      SCOPED_TRACE(testing::Message() << name_of(strategy) << ", " << name_of(format));
      auto plan = test::plan_of(matrix, strategy, format);
      const auto old_powers = test::powers_of(plan, VectorOrder::caller, x);
      const auto new_powers =
          test::powers_of(test::plan_of(changed, strategy, format), VectorOrder::caller, x);
      long failures = 0;
      while (runs_out_of_memory(plan, changed, failures)) {
        ++failures;
        ASSERT_EQ(test::powers_of(plan, VectorOrder::caller, x), old_powers) << failures;
      }
      EXPECT_EQ(test::powers_of(plan, VectorOrder::caller, x), new_powers);
      // Levels are in an order of their own, which the new values have to be brought into.
      EXPECT_GE(failures, strategy == PowerStrategy::levels ? 3 : 0);
    }
  }
}

TEST(ProductPlanMemory, NewValuesThatFindNoMemoryLeaveThePlanAsItWas) {
  const auto matrix = generate<double, std::int32_t>("stencil5:25x25");
  auto changed = matrix;
  for (double& value : changed.mutable_values()) value *= 7;
  const auto x = test::random_vector<double>(matrix.rows(), 1);
  const auto applied = [&](const ProductPlan<double, std::int32_t>& plan) {
    std::vector<double> y(x.size());
    auto workspace = plan.make_workspace();
    plan.apply(x, y, workspace);
    return y;
  };
  for (const ProductSpec& spec : all_products(matrix)) {
    SCOPED_TRACE(label_of(spec));
    auto plan = plan_product(matrix, quick_product(spec));
    const auto old_product = applied(plan);
    long failures = 0;
    while (runs_out_of_memory(plan, changed, failures)) {
      ++failures;
      ASSERT_EQ(applied(plan), old_product) << failures;
    }
    EXPECT_EQ(applied(plan), applied(plan_product(changed, quick_product(spec))));
  }
}

}  // namespace
}  // namespace strata
