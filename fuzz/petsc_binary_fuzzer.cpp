// Any bytes at all, as a matrix of PETSc's. They are refused with an exception of Strata or
// accepted; what is accepted is the same by rows and for both widths of indices, and can be written
// and read back.
#include <optional>
#include <utility>

#include "fuzz/memory_file.hpp"
#include "fuzz/support.hpp"
#include "strata/base/parallel.hpp"
#include "strata/io/petsc_binary.hpp"

namespace {

using namespace strata::fuzz;
using Value = std::complex<double>;
template <strata::Index I>
using Matrix = strata::Csr<Value, I>;

template <strata::Index I>
std::optional<Matrix<I>> read(const std::filesystem::path& path) {
  try {
    return strata::read_petsc_binary<Value, I>(path);
  } catch (const strata::Error&) {
    return std::nullopt;
  }
}

// Every row by itself.
template <strata::Index I>
void require_rows(const strata::PetscBinaryFile& file, const Matrix<I>& whole) {
  strata::Offset before = 0;
  for (strata::Offset row = 0; row < whole.rows(); ++row) {
    const Matrix<I> one = file.read_rows<Value, I>(row, row + 1, before);
    const auto first = static_cast<std::size_t>(whole.row_offsets()[row]);
    const auto count = static_cast<std::size_t>(one.nnz());
    require(whole.row_offsets()[row + 1] - whole.row_offsets()[row] == one.nnz() &&
                same_bits(one.columns(), whole.columns().subspan(first, count)) &&
                same_bits(one.values(), whole.values().subspan(first, count)),
            "a row is the same alone");
    before += file.row_lengths(row, row + 1)[0];
  }
  require(before == file.entries(), "the rows have all entries");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  strata::set_thread_count(1);
  const MemoryFile input(text_of(data, size));
  const auto wide = read<std::int64_t>(input.path());
  const auto narrow = read<std::int32_t>(input.path());
  if (!wide) {
    require(!narrow, "any width of indices refuses the same");
    return 0;
  }
  require(strata::is_petsc_binary(input.path()), "what can be read begins as it should");
  const strata::PetscBinaryFile file(input.path());
  require_rows(file, *wide);
  require(narrow.has_value() == std::in_range<std::int32_t>(wide->cols()),
          "sizes that do not fit are refused");
  if (narrow) {
    require(same_bits(strata::converted<Value, std::int64_t>(*narrow), *wide),
            "any width of indices gives the same matrix");
  }
  const MemoryFile output({});
  strata::write_petsc_binary(output.path(), *wide, {.integer_bits = size % 2 == 0 ? 0 : 64});
  const auto again = read<std::int64_t>(output.path());
  require(again && same_bits(*again, *wide), "reading gives what was written");
  return 0;
}
