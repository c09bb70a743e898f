#include "strata/petsc/distributed.hpp"

#include <algorithm>
#include <vector>

#include "strata/base/checked.hpp"
#include "strata/petsc/errors.hpp"
#include "strata/petsc/operations.hpp"

namespace strata::petsc {

namespace {

distributed::Partition partition_of(const PetscInt* ranges, int ranks) {
  return distributed::Partition(std::vector<Offset>(ranges, ranges + ranks + 1));
}

// Rows of both blocks, with the numbers of the whole matrix.
Matrix rows_of(const ParallelArrays& arrays, PetscInt first_column) {
  const PetscInt rows = arrays.own.rows;
  const Offset nnz = Offset{arrays.own.nnz()} + Offset{arrays.others.nnz()};
  Array<Offset> offsets(static_cast<std::size_t>(rows) + 1, 0);
  Array<PetscInt> columns(static_cast<std::size_t>(nnz));
  Array<PetscScalar> values(static_cast<std::size_t>(nnz));
  Offset at = 0;
  const auto put = [&](PetscInt column, PetscScalar value) {
    columns[at] = column;
    values[at] = value;
    ++at;
  };
  const bool has_others = arrays.others.nnz() > 0;
  for (PetscInt row = 0; row < rows; ++row) {
    PetscInt other = has_others ? arrays.others.row_offsets[row] : 0;
    const PetscInt end = has_others ? arrays.others.row_offsets[row + 1] : 0;
    const auto number = [&](PetscInt i) { return arrays.column_numbers[arrays.others.columns[i]]; };
    for (; other < end && number(other) < first_column; ++other) {
      put(number(other), arrays.others.values[other]);
    }
    if (arrays.own.nnz() > 0) {
      for (PetscInt i = arrays.own.row_offsets[row]; i < arrays.own.row_offsets[row + 1]; ++i) {
        put(first_column + arrays.own.columns[i], arrays.own.values[i]);
      }
    }
    for (; other < end; ++other) put(number(other), arrays.others.values[other]);
    offsets[row + 1] = at;
  }
  return Matrix::from_unsorted(rows, arrays.cols, std::move(offsets), std::move(columns),
                               std::move(values));
}

}  // namespace

PetscErrorCode get_parallel_arrays(Mat matrix, ParallelArrays* arrays) {
  PetscFunctionBegin;
  Mat own = nullptr;
  Mat others = nullptr;
  PetscCall(MatMPIAIJGetSeqAIJ(matrix, &own, &others, &arrays->column_numbers));
  PetscCall(get_arrays(own, &arrays->own));
  PetscCall(get_arrays(others, &arrays->others));
  PetscCall(MatGetOwnershipRanges(matrix, &arrays->row_ranges));
  PetscCall(MatGetOwnershipRangesColumn(matrix, &arrays->column_ranges));
  PetscCall(MatGetSize(matrix, &arrays->rows, &arrays->cols));
  PetscCall(get_state(matrix, &arrays->states.whole));
  PetscCall(get_state(own, &arrays->states.own));
  PetscCall(get_state(others, &arrays->states.others));
  PetscFunctionReturn(kSuccess);
}

PetscErrorCode on_any_rank(Mat matrix, bool here, bool* anywhere) {
  PetscFunctionBegin;
  int so = here ? 1 : 0;
  PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &so, 1, MPI_INT, MPI_MAX,
                             PetscObjectComm(reinterpret_cast<PetscObject>(matrix))));
  *anywhere = so != 0;
  PetscFunctionReturn(kSuccess);
}

distributed::DistributedMatrix<PetscScalar, PetscInt> distributed_matrix(
    const distributed::Communicator& ranks, const ParallelArrays& arrays) {
  return ranks.together_make([&] {
    distributed::DistributedMatrix<PetscScalar, PetscInt> matrix;
    matrix.rows = partition_of(arrays.row_ranges, ranks.size());
    matrix.cols = partition_of(arrays.column_ranges, ranks.size());
    matrix.local = rows_of(arrays, arrays.column_ranges[ranks.rank()]);
    return matrix;
  });
}

void ParallelPowers::plan(const ParallelArrays& arrays, const Settings& settings, int power) {
  powers_.reset();
  workspace_ = {};
  if (!network_) network_ = distributed::measure_network(ranks_, 0.05);
  powers_ =
      std::make_unique<Powers>(ranks_, distributed_matrix(ranks_, arrays),
                               distributed::DistributedPowerOptions{
                                   .power = settings.for_powers(power), .network = &*network_});
  workspace_ = powers_->make_workspace();
  states_ = arrays.states;
}

std::span<const PetscScalar> ParallelPowers::apply(int power, std::span<const PetscScalar> x) {
  ranks_.together([&] {
    const Offset elements =
        checked_multiply<Offset>(std::ssize(x), power, "the elements of powers");
    if (std::ssize(vectors_) < elements) vectors_.resize(elements);
  });
  const std::span vectors(vectors_.data(), x.size() * static_cast<std::size_t>(power));
  powers_->apply_first(power, x, vectors, workspace_);
  return vectors;
}

}  // namespace strata::petsc
