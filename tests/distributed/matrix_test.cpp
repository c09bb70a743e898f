// Matrices that ranks make, move and reorder together.

#include "strata/distributed/matrix.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <filesystem>
#include <fstream>

#include "strata/distributed/graph_partition.hpp"
#include "strata/distributed/product.hpp"
#include "strata/gen/generate.hpp"
#include "strata/io/matrix_market.hpp"
#include "strata/io/petsc_binary.hpp"
#include "tests/distributed/parts.hpp"
#include "tests/support/matrices.hpp"
#include "tests/support/temporary_folder.hpp"

namespace strata::distributed {
namespace {

TEST(DistributedMatrix, RanksGenerateTheirOwnRows) {
  const Communicator ranks(MPI_COMM_WORLD);
  for (const char* spec : {"stencil5:1x1", "stencil27:5x6x7,coefficients=random", "rmat:7,edges=4",
                           "mesh:300,dim=3,nnzr=8,shuffle=1", "band:50,width=5,coefficients=7"}) {
    SCOPED_TRACE(spec);
    const auto matrix = generate_distributed<std::complex<double>, std::int64_t>(ranks, spec);
    const auto expected = cut(ranks, generate<std::complex<double>, std::int64_t>(spec));
    EXPECT_EQ(matrix.local, expected.local);
    EXPECT_EQ(matrix.rows, expected.rows);
    EXPECT_TRUE(matrix.square());
  }
  using Small = std::int32_t;
  EXPECT_THROW((generate_distributed<double, Small>(ranks, "stencil9:0x4")), InvalidArgument);
  if (ranks.size() > 1) {
    EXPECT_THROW((generate_distributed<double, Small>(
                     ranks, ranks.rank() == 1 ? "stencil5:9x9" : "stencil5:9x8")),
                 InvalidArgument);
  }
}

// Rank 0 writes, all read.
TEST(DistributedMatrix, RanksReadTheirPartsOfFiles) {
  const Communicator ranks(MPI_COMM_WORLD);
  const test::TemporaryFolder folder;
  const std::string name = ranks.broadcast(folder.path().string(), 0);
  const std::filesystem::path here(name);
  using I = std::int32_t;
  std::vector<Csr<double, I>> matrices;
  for (const char* spec : {"stencil5:1x1", "mesh:300,dim=3,nnzr=8", "rmat:7,edges=4"}) {
    matrices.push_back(generate<double, I>(spec));
  }
  test::Entries<double, I> wide(3, 50, 1);
  for (int column = 0; column < 50; column += 3) wide.add(column % 3, column);
  matrices.push_back(wide.coo().to_csr());
  for (const auto& whole : matrices) {
    for (const std::string file : {"a.mtx", "a.mtx.gz", "a.petsc"}) {
      SCOPED_TRACE(file);
      ranks.together([&] {
        if (ranks.rank() != 0) return;
        if (file == "a.petsc") {
          write_petsc_binary(here / file, whole);
        } else {
          write_matrix_market(here / file, whole);
        }
      });
      const auto matrix = read_distributed<double, I>(ranks, here / file);
      EXPECT_EQ(matrix.local, cut(ranks, whole).local);
      EXPECT_EQ(matrix.cols, Partition::even(whole.cols(), ranks.size()));
      ranks.barrier();
    }
  }
  EXPECT_THROW((read_distributed<double, I>(ranks, here / "none.mtx")), FileError);
  // A file that is too short, and one that the last rank cannot take.
  ranks.together([&] {
    if (ranks.rank() != 0) return;
    std::ofstream(here / "short.mtx")
        << "%%MatrixMarket matrix coordinate real general\n9 9 3\n1 1 1\n2 2 1\n";
    std::ofstream(here / "bad.mtx")
        << "%%MatrixMarket matrix coordinate real general\n9 9 3\n1 1 1\n2 2 1\n9 10 1\n";
  });
  EXPECT_THROW((read_distributed<double, I>(ranks, here / "short.mtx")), InvalidMatrix);
  EXPECT_THROW((read_distributed<double, I>(ranks, here / "bad.mtx")), InvalidMatrix);
  if (ranks.size() > 1) {
    EXPECT_THROW(
        (read_distributed<double, I>(ranks, ranks.rank() == 1 ? here / "a.mtx" : here / "a.petsc")),
        InvalidArgument);
  }
  ranks.barrier();
}

// Rows that change places as an order says, against the same on one rank.
TEST(DistributedMatrix, Reordered) {
  const Communicator ranks(MPI_COMM_WORLD);
  const auto whole = generate<double, std::int32_t>("mesh:150,dim=2,nnzr=7");
  const Partition before = uneven(whole.rows(), ranks.size());
  const auto owner_of = [&](Offset row) { return static_cast<int>(row * row % ranks.size()); };
  std::vector<int> owners;
  for (Offset row = before.begin(ranks.rank()); row < before.end(ranks.rank()); ++row) {
    owners.push_back(owner_of(row));
  }
  const DistributedOrder order(ranks, before, owners);
  std::vector<Offset> new_number(static_cast<std::size_t>(whole.rows()));
  Offset next = 0;
  for (int rank = 0; rank < ranks.size(); ++rank) {
    for (Offset row = 0; row < whole.rows(); ++row) {
      if (owner_of(row) == rank) new_number[static_cast<std::size_t>(row)] = next++;
    }
    EXPECT_EQ(order.after().end(rank), next);
  }
  EXPECT_EQ(order.new_numbers(), own_part(ranks, new_number, before));
  for (std::size_t i = 0; i < order.old_numbers().size(); ++i) {
    EXPECT_EQ(new_number[static_cast<std::size_t>(order.old_numbers()[i])],
              order.after().begin(ranks.rank()) + static_cast<Offset>(i));
  }

  test::Entries<double, std::int32_t> entries(whole.rows(), whole.cols(), 1);
  for (Offset row = 0; row < whole.rows(); ++row) {
    for (Offset k = whole.row_offsets()[row]; k < whole.row_offsets()[row + 1]; ++k) {
      entries.add(new_number[static_cast<std::size_t>(row)],
                  new_number[static_cast<std::size_t>(whole.columns()[k])], whole.values()[k]);
    }
  }
  const auto moved = reordered(ranks, cut(ranks, whole, before, before), order);
  EXPECT_EQ(moved.local, cut(ranks, entries.coo().to_csr(), order.after(), order.after()).local);

  // Vectors go there and back.
  const auto x = test::random_vector<double>(static_cast<std::size_t>(whole.rows()) * 2, 4);
  const auto own = own_part(ranks, x, before, 2);
  std::vector<double> there(order.old_numbers().size() * 2), back(own.size());
  order.to_new<double>(ranks, own, there, 2);
  const auto all = gathered(ranks, there);
  for (std::size_t row = 0; row < new_number.size(); ++row) {
    EXPECT_EQ(all[static_cast<std::size_t>(new_number[row]) * 2 + 1], x[row * 2 + 1]);
  }
  order.to_old<double>(ranks, there, back, 2);
  EXPECT_EQ(back, own);
  EXPECT_THROW(order.to_old<double>(ranks, there, back, 1), InvalidArgument);
  EXPECT_THROW(DistributedOrder(ranks, before, std::vector<int>(owners.size() + 1)),
               InvalidArgument);
}

Offset cut_entries(const Communicator& ranks, const DistributedMatrix<double, std::int32_t>& of) {
  const DistributedProduct<double> product(ranks, of,
                                           {.product = {.format = Format::csr, .autotune = false}});
  Offset cut = 0;
  for (const RankShare& share : product.shares()) cut += share.cut_entries;
  return cut;
}

TEST(DistributedMatrix, ByGraphCutsLess) {
  const Communicator ranks(MPI_COMM_WORLD);
  if (!has_graph_partitioner()) {
    EXPECT_THROW(by_graph(ranks, generate_distributed<double, std::int32_t>(ranks, "stencil5:9x9")),
                 Unavailable);
    GTEST_SKIP() << "built without PT-Scotch";
  }
  const auto given =
      generate_distributed<double, std::int32_t>(ranks, "mesh:2000,dim=2,nnzr=7,shuffle=1");
  const auto [matrix, order] = by_graph(ranks, given);
  EXPECT_EQ(ranks.sum(Offset{matrix.local.nnz()}), ranks.sum(Offset{given.local.nnz()}));
  if (ranks.size() > 1) {
    EXPECT_LT(cut_entries(ranks, matrix), cut_entries(ranks, given) / 4);
    EXPECT_LT(static_cast<double>(ranks.max(Offset{matrix.local.nnz()})),
              1.15 * static_cast<double>(ranks.sum(Offset{matrix.local.nnz()})) / ranks.size());
  }
  // The same parts again, and the same product.
  EXPECT_EQ(by_graph(ranks, given).matrix.local, matrix.local);
  const auto x = test::random_vector<double>(static_cast<std::size_t>(given.rows.elements()), 1);
  const auto own_x = own_part(ranks, x, given.rows);
  const DistributedProduct<double> before(ranks, given, {.product = {.autotune = false}});
  const DistributedProduct<double> after(ranks, matrix, {.product = {.autotune = false}});
  auto before_work = before.make_workspace();
  auto after_work = after.make_workspace();
  std::vector<double> y(own_x.size()), back(own_x.size());
  std::vector<double> new_x(static_cast<std::size_t>(after.x_rows())), new_y(new_x.size());
  before.apply(own_x, y, before_work);
  order.to_new<double>(ranks, own_x, new_x);
  after.apply(new_x, new_y, after_work);
  order.to_old<double>(ranks, new_y, back);
  for (std::size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(back[i], y[i], 1e-13);
  // Nothing, and next to nothing, can be divided, too.
  for (const char* spec : {"stencil5:1x1", "stencil5:2x1"}) {
    const auto tiny = generate_distributed<double, std::int32_t>(ranks, spec);
    EXPECT_EQ(ranks.sum(Offset{by_graph(ranks, tiny).matrix.local.nnz()}),
              ranks.sum(Offset{tiny.local.nnz()}));
  }
}

}  // namespace
}  // namespace strata::distributed
