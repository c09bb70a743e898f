// Packed SELL on an emulated GPU: every height and encoding.
#include "strata/kernels/gpu/packed_sell.hpp"

#include "strata/kernels/gpu/encoded_sell.hpp"
#include "strata/kernels/gpu/slice_groups.hpp"
#include "strata/kernels/gpu/slice_headers.hpp"
#include "tests/kernels/gpu/emulated.hpp"
#include "tests/support/repeated_values.hpp"

namespace strata {
namespace {

using test::Index32;

template <class Types>
class GpuPackedSell : public testing::Test {};
TYPED_TEST_SUITE(GpuPackedSell, test::ValuesOnWarps);

// As the kernel for most slices, or for other ones, with a near table that is too small for some.
template <int warp_size, int height, class T>
void step_encoded(const gpu::PackedSellView<T>& view, const gpu::StepArguments<T>& arguments,
                  gpu::SliceRange range, std::span<const gpu::SliceHeader> headers,
                  const gpu::EncodedTraits& traits) {
  using gpu::EncodedKind;
  const gpu::SliceGroups taken = gpu::slice_groups(headers, traits.kind, true);
  const gpu::SliceGroups others = gpu::slice_groups(headers, traits.kind, false);
  const auto list_of = [&](const gpu::SliceGroups& all) {
    const auto [begin, end] = all.places.of(range);
    return gpu::GroupList{all.groups.data() + begin, end - begin};
  };
  const gpu::GroupList list = list_of(taken);
  const gpu::GroupList left_out = list_of(others);
  const auto run = [&]<EncodedKind kind, int members, int ahead>(gpu::EncodedShape shape) {
    shape.prefetch = traits.reach;
    test::launch_somehow<warp_size>(gpu::encoded_shared_bytes<T>(shape, 1), [&](auto& thread) {
      gpu::EncodedShape own = shape;
      // One block has to do it all where there is but one.
      own.left_out_blocks = left_out.count == 0 || thread.blocks() == 1 ? 0 : 1;
      gpu::encoded_sell_step<kind, height, members, ahead>(thread, view, arguments, range, list,
                                                           left_out, own);
      if (left_out.count == 0 || thread.blocks() > 1) return;
      own.left_out_blocks = 1;
      gpu::encoded_sell_step<kind, height, members, ahead>(thread, view, arguments, range, list,
                                                           left_out, own);
    });
  };
  const auto size = static_cast<int>(view.table_size);
  const gpu::EncodedShape without{.groups_per_warp = 5, .plane = 3};
  const gpu::EncodedShape near{.groups_per_warp = 7, .near_values = size, .copies = 4};
  switch (traits.kind) {
    case EncodedKind::constants:
      run.template operator()<EncodedKind::constants, 4, 3>(without);
      break;
    case EncodedKind::one_full:
      run.template operator()<EncodedKind::one_full, 2, 4>(without);
      break;
    case EncodedKind::codes8: run.template operator()<EncodedKind::codes8, 4, 4>(near); break;
    case EncodedKind::scattered_constants:
      run.template operator()<EncodedKind::scattered_constants, 4, 3>(without);
      break;
    case EncodedKind::scattered_codes8:
      run.template operator()<EncodedKind::scattered_codes8, 4, 4>(near);
      break;
    case EncodedKind::codes16: run.template operator()<EncodedKind::codes16, 2, 4>(near); break;
    case EncodedKind::other:
      run.template operator()<EncodedKind::other, 4, 2>(
          {.groups_per_warp = 8, .plane = 2, .near_values = std::min(size, 9)});
      break;
  }
}

template <int warp_size, int height, Value V>
auto on_emulator(const PackedSell<V, Index32>& matrix) {
  const auto entry_offsets = matrix.entry_offsets();
  return test::emulated<V>(
      matrix.rows(), matrix.cols(),
      [matrix, headers = gpu::slice_headers(matrix),
       table = test::device_copy(matrix.table().values()),
       positions = std::vector<std::uint64_t>(entry_offsets.begin(), entry_offsets.end())](
          const auto& arguments, auto rows, auto vectors) {
        const auto words = matrix.presence().words();
        const gpu::PackedSellView<gpu::DeviceValue<V>> view{
            matrix.data().data(),
            matrix.codes().data(),
            headers.data(),
            table.data(),
            static_cast<Index32>(table.size()),
            words.empty() ? nullptr : words.data(),
            positions.data(),
            matrix.sorted() ? matrix.row_of_slot().data() : nullptr,
            matrix.rows(),
            gpu::run_length(matrix.run_length())};
        const gpu::SliceRange range = gpu::slices_of(matrix, rows);
        if (matrix.has_full_values()) {
          const auto step = [&]<class Run>(Run) {
            test::launch_somehow<warp_size>(0, [&](auto& thread) {
              gpu::packed_sell_step<gpu::FromMemory, Run, height, vectors,
                                    gpu::gathers_ahead(vectors)>(thread, view, arguments, range);
            });
          };
          if (view.run.length > 1) {
            step(gpu::RunLength());
          } else {
            step(gpu::NoRuns());
          }
          return;
        }
        if constexpr (vectors == 1) {
          step_encoded<warp_size, height>(view, arguments, range, headers,
                                          gpu::encoded_traits(matrix, headers));
        } else {
          // Every warp brings memory for the table of its block.
          const std::size_t near = std::min<std::size_t>(table.size(), gpu::kNearTable);
          test::launch_somehow<warp_size>(near * sizeof(V), [&](auto& thread) {
            gpu::encoded_vectors_step<gpu::FromCache, height, vectors, gpu::gathers_ahead(vectors)>(
                thread, view, arguments, range);
          });
        }
      });
}

template <int warp_size, int height, Value V>
void expect_works(Offset window, const AllowedEncodings& allowed) {
  SCOPED_TRACE(testing::Message() << "C = " << height << ", sigma = " << window);
  const auto alignment = static_cast<Index32>(std::lcm<Offset>(height, window));
  test::expect_gpu_steps_on_all<V>(alignment, [&](const Csr<V, Index32>& csr) {
    const auto matrix = PackedSell<V, Index32>::from_csr(
        csr, {.slice_height = height, .sort_window = window, .max_fill = 1e9, .allowed = allowed});
    return on_emulator<warp_size, height>(matrix);
  });
}

// index32 stays allowed, for it is the only one that fits everything.
constexpr AllowedEncodings kAll;
constexpr AllowedEncodings kNoDia{.dia = false};
constexpr AllowedEncodings kWide{.dia = false, .delta8 = false};
constexpr AllowedEncodings kPlain{.dia = false, .delta8 = false, .delta16 = false};

TYPED_TEST(GpuPackedSell, EveryHeightAgreesWithTheReference) {
  using V = typename TypeParam::Value;
  constexpr int warp = TypeParam::warp_size;
  expect_works<warp, 4, V>(1, kAll);
  expect_works<warp, 8, V>(24, kAll);
  expect_works<warp, 16, V>(1, kAll);
  expect_works<warp, 32, V>(1, kAll);
}

TYPED_TEST(GpuPackedSell, EveryEncodingAgreesWithTheReference) {
  using V = typename TypeParam::Value;
  constexpr int warp = TypeParam::warp_size;
  expect_works<warp, 32, V>(64, kNoDia);
  expect_works<warp, 32, V>(1, kWide);
  expect_works<warp, 16, V>(1, kPlain);
  expect_works<warp, 8, V>(1, kNoDia);
}

template <int warp_size, int height, Value V>
void expect_bits_of_full_values(test::Repeats repeats) {
  std::size_t number = 0;
  for (const auto& [name, entries] : test::awkward_matrices<V, Index32>()) {
    SCOPED_TRACE(testing::Message()
                 << name << ", C = " << height << ", repeats " << static_cast<int>(repeats));
    const Csr<V, Index32> csr = test::with_repeats(entries.to_csr(), repeats);
    const int count = 1 + static_cast<int>(number++ % 3);
    const std::vector<V> x =
        test::random_vector<V>(static_cast<std::size_t>(csr.cols()) * count, 1);
    const auto product = [&](const AllowedValues& allowed) {
      std::vector<V> out(static_cast<std::size_t>(csr.rows()) * count);
      const auto matrix = PackedSell<V, Index32>::from_csr(
          csr, {.slice_height = height, .max_fill = 1e9, .values = allowed});
      on_emulator<warp_size, height>(matrix)({}, {x.data(), nullptr, out.data(), count},
                                             csr.all_rows());
      return out;
    };
    const std::vector<V> expected = product(AllowedValues::of(StoredValues::full));
    for (const AllowedValues& allowed :
         {test::kAllowedValues[0], test::kAllowedValues[1], test::kAllowedValues[3]}) {
      EXPECT_TRUE(test::same_results(product(allowed), expected));
    }
  }
}

TYPED_TEST(GpuPackedSell, BitsDoNotDependOnTheEncodingOfTheValues) {
  using V = typename TypeParam::Value;
  constexpr int warp = TypeParam::warp_size;
  for (const test::Repeats repeats : test::kRepeats) {
    expect_bits_of_full_values<warp, 32, V>(repeats);
    expect_bits_of_full_values<warp, 8, V>(repeats);
  }
}

TYPED_TEST(GpuPackedSell, HolesNeverLetAnythingThrough) {
  using V = typename TypeParam::Value;
  constexpr int warp = TypeParam::warp_size;
  const auto csr = test::tridiagonal_with_a_hole<V, Index32>(70);
  for (const AllowedEncodings& allowed : {kAll, kNoDia, kWide, kPlain}) {
    for (const int count : {1, 3}) {
      const auto low = PackedSell<V, Index32>::from_csr(
          csr, {.slice_height = 4, .sort_window = 1, .max_fill = 1e9, .allowed = allowed});
      test::expect_holes_let_nothing_through(csr, count, on_emulator<warp, 4>(low));
      const auto high = PackedSell<V, Index32>::from_csr(
          csr, {.slice_height = 32, .sort_window = 1, .max_fill = 1e9, .allowed = allowed});
      test::expect_holes_let_nothing_through(csr, count, on_emulator<warp, 32>(high));
    }
  }
}

}  // namespace
}  // namespace strata
