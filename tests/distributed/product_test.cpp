// Products on several ranks against those on one.

#include "strata/distributed/product.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include "strata/gen/generate.hpp"
#include "strata/kernels/reference/spmv.hpp"
#include "strata/plans/product_plan.hpp"
#include "tests/distributed/parts.hpp"
#include "tests/support/by_eigen.hpp"
#include "tests/support/matrices.hpp"

namespace strata::distributed {
namespace {

using Matrix = Csr<double, std::int32_t>;

// No timing: formats are then the same on all ranks and from run to run.
ProductOptions in_format(Format format, int vectors = 1) {
  return {.vectors = vectors, .format = format, .memory = TuningMemory::ignore, .autotune = false};
}

Matrix rectangular(std::int32_t rows, std::int32_t cols) {
  test::Entries<double, std::int32_t> entries(rows, cols, 5);
  for (std::int32_t row = 0; row < rows; ++row) {
    if (row % 4 == 3) continue;  // empty
    std::set<std::int32_t> columns;
    for (int k = 0; k < 3; ++k) columns.insert((row * 7 + k * k * 11) % cols);
    for (const std::int32_t column : columns) entries.add(row, column);
  }
  return entries.coo().to_csr();
}

// Everything that ranks may have trouble with.
std::vector<std::pair<std::string, Matrix>> matrices() {
  std::vector<std::pair<std::string, Matrix>> all;
  for (const char* spec :
       {"stencil5:1x1", "stencil5:2x1", "stencil5:13x11", "stencil27:6x5x7", "random:60,nnzr=4",
        "arrow:40", "mesh:200,dim=2,nnzr=6", "rmat:7,edges=4", "stencil7:5x5x5,shuffle=1"}) {
    all.emplace_back(spec, generate<double, std::int32_t>(spec));
  }
  all.emplace_back("wide", rectangular(17, 90));
  all.emplace_back("tall", rectangular(90, 17));
  all.emplace_back("no entries", Matrix(5, 5, Array<Offset>(6, 0), {}, {}));
  all.emplace_back("nothing", Matrix());
  return all;
}

// αAx + βy of all ranks together.
std::vector<double> multiplied(const Communicator& ranks, const Matrix& whole,
                               const Partition& rows, const Partition& cols,
                               const DistributedOptions& options, double alpha, double beta) {
  const int vectors = options.product.vectors;
  const auto matrix = cut(ranks, whole, rows, cols);
  const DistributedProduct<double> product(ranks, matrix, options);
  auto workspace = product.make_workspace();
  const auto x = test::random_vector<double>(static_cast<std::size_t>(whole.cols()) * vectors, 1);
  const auto y = test::random_vector<double>(static_cast<std::size_t>(whole.rows()) * vectors, 2);
  auto own_y = own_part(ranks, y, rows, vectors);
  const auto own_x = own_part(ranks, x, cols, vectors);
  product.apply(alpha, own_x, beta, own_y, workspace);
  const auto first = own_y;
  // The same again, bit by bit.
  own_y = own_part(ranks, y, rows, vectors);
  product.apply(alpha, own_x, beta, own_y, workspace);
  EXPECT_EQ(first, own_y);
  return gathered(ranks, own_y);
}

// 200 rows with the same two columns.
Matrix like_rows() {
  Array<Offset> offsets;
  Array<std::int32_t> columns;
  for (Offset row = 0; row <= 200; ++row) offsets.push_back(2 * row);
  for (Offset row = 0; row < 200; ++row) columns.insert(columns.end(), {3, 150});
  return Matrix(200, 200, std::move(offsets), std::move(columns), Array<double>(400, 1.0));
}

TEST(DistributedProduct, ByRowsHasTheBitsOfOneRank) {
  Communicator ranks(MPI_COMM_WORLD);
  for (const auto& [name, whole] : matrices()) {
    SCOPED_TRACE(name);
    for (const Format format : {Format::csr, Format::sell, Format::packed_sell}) {
      for (const int vectors : {1, 3, 8}) {
        const auto plan = plan_product(whole, in_format(format, vectors));
        auto workspace = plan.make_workspace();
        const auto x =
            test::random_vector<double>(static_cast<std::size_t>(whole.cols()) * vectors, 1);
        for (const auto& [alpha, beta] : {std::pair{1.0, 0.0}, {-0.75, 1.5}}) {
          auto y = test::random_vector<double>(static_cast<std::size_t>(whole.rows()) * vectors, 2);
          plan.apply(alpha, x, beta, y, workspace);
          for (const auto& [even, share_from] :
               {std::pair{true, kSharing[0]}, {false, kSharing[0]}, {false, kSharing[1]}}) {
            ranks.share_from(share_from);
            const auto parts = [&](Offset count) {
              return even ? Partition::even(count, ranks.size()) : uneven(count, ranks.size());
            };
            const auto found = multiplied(ranks, whole, parts(whole.rows()), parts(whole.cols()),
                                          {.product = in_format(format, vectors)}, alpha, beta);
            ASSERT_EQ(found.size(), y.size());
            if (y.empty()) continue;
            EXPECT_EQ(std::memcmp(found.data(), y.data(), y.size() * sizeof(double)), 0);
          }
        }
      }
    }
  }
}

TEST(DistributedProduct, AllLayoutsComputeTheSame) {
  const Communicator ranks(MPI_COMM_WORLD);
  for (const auto& [name, whole] : matrices()) {
    SCOPED_TRACE(name);
    const auto x = test::random_vector<double>(static_cast<std::size_t>(whole.cols()), 1);
    const auto y = test::random_vector<double>(static_cast<std::size_t>(whole.rows()), 2);
    const auto expected = test::product_by_eigen<double, std::int32_t>(whole, -0.75, x, 1.5, y);
    for (const bool even : {true, false}) {
      const auto parts = [&](Offset count) {
        return even ? Partition::even(count, ranks.size()) : uneven(count, ranks.size());
      };
      std::vector<DistributedOptions> layouts;
      for (const Layout layout : {Layout::rows, Layout::columns, Layout::grid}) {
        layouts.push_back({.layout = layout, .product = in_format(Format::csr)});
      }
      for (int rows = 1; rows <= ranks.size(); ++rows) {
        if (ranks.size() % rows != 0) continue;
        layouts.push_back(
            {.layout = Layout::grid, .grid_rows = rows, .product = in_format(Format::csr)});
      }
      for (const DistributedOptions& options : layouts) {
        SCOPED_TRACE(name_of(options.layout));
        const auto found =
            multiplied(ranks, whole, parts(whole.rows()), parts(whole.cols()), options, -0.75, 1.5);
        ASSERT_EQ(found.size(), expected.size());
        for (std::size_t row = 0; row < found.size(); ++row) {
          EXPECT_NEAR(found[row], expected[row], 1e-13 * std::max(1.0, std::abs(expected[row])));
        }
      }
    }
  }
}

// What is said about messages is what is sent, and what the pattern alone asks for.
TEST(DistributedProduct, CountsWhatItSends) {
  const Communicator ranks(MPI_COMM_WORLD);
  for (const auto& [name, whole] : matrices()) {
    SCOPED_TRACE(name);
    for (const Layout layout : {Layout::rows, Layout::columns, Layout::grid}) {
      SCOPED_TRACE(name_of(layout));
      const auto matrix = cut(ranks, whole);
      const DistributedProduct<double> product(
          ranks, matrix, {.layout = layout, .product = in_format(Format::csr)});
      auto workspace = product.make_workspace();
      std::vector<double> x(static_cast<std::size_t>(product.x_rows()), 1.0);
      std::vector<double> y(static_cast<std::size_t>(product.rows()));
      const Traffic before = ranks.traffic();
      product.apply(x, y, workspace);
      const Traffic sent = ranks.traffic() - before;
      const RankShare& own = product.shares()[static_cast<std::size_t>(ranks.rank())];
      EXPECT_EQ(sent.messages, own.messages);
      EXPECT_EQ(sent.bytes, own.bytes);
      EXPECT_EQ(sent.reductions, 0);

      // By brute force: who holds an entry needs its x and serves its y.
      const int p2 = layout == Layout::rows ? 1
                     : layout == Layout::columns
                         ? ranks.size()
                         : [&] {
                             int p1 = static_cast<int>(std::sqrt(double(ranks.size())));
                             while (ranks.size() % p1 != 0) --p1;
                             return ranks.size() / p1;
                           }();
      std::set<std::pair<int, Offset>> x_sent, y_sent;  // to whom, what
      std::set<int> partners;
      std::vector<std::set<Offset>> ghosts(static_cast<std::size_t>(ranks.size()));
      std::vector<Offset> entries(static_cast<std::size_t>(ranks.size()));
      for (Offset row = 0; row < whole.rows(); ++row) {
        for (Offset k = whole.row_offsets()[row]; k < whole.row_offsets()[row + 1]; ++k) {
          const Offset column = whole.columns()[k];
          const int row_owner = matrix.rows.owner(row), col_owner = matrix.cols.owner(column);
          const int holder = row_owner / p2 * p2 + col_owner % p2;
          ++entries[static_cast<std::size_t>(holder)];
          if (holder != col_owner) ghosts[static_cast<std::size_t>(holder)].insert(column);
          if (col_owner == ranks.rank() && holder != col_owner) {
            x_sent.insert({holder, column});
            partners.insert(holder);
          }
          if (holder == ranks.rank() && holder != row_owner) {
            y_sent.insert({row_owner, row});
            partners.insert(row_owner);
          }
        }
      }
      std::set<int> to_x, to_y;
      for (const auto& [rank, element] : x_sent) to_x.insert(rank);
      for (const auto& [rank, element] : y_sent) to_y.insert(rank);
      EXPECT_EQ(own.bytes, 8 * static_cast<Offset>(x_sent.size() + y_sent.size()));
      EXPECT_EQ(own.messages, static_cast<Offset>(to_x.size() + to_y.size()));
      EXPECT_EQ(own.partners, static_cast<Offset>(partners.size()));
      EXPECT_EQ(own.ghosts, static_cast<Offset>(ghosts[ranks.rank()].size()));
      EXPECT_EQ(own.entries, entries[ranks.rank()]);
      EXPECT_LE(own.partners, ranks.size() / p2 + p2 - 2);
    }
  }
}

TEST(DistributedProduct, LongMessagesAreSplit) {
  Communicator ranks(MPI_COMM_WORLD);
  const Matrix whole = generate<double, std::int32_t>("stencil9:20x30");
  const auto parts = Partition::even(whole.rows(), ranks.size());
  const DistributedOptions options{.product = in_format(Format::csr)};
  const auto expected = multiplied(ranks, whole, parts, parts, options, 1, 0);
  const Offset messages = ranks.traffic().messages;
  ranks.set_largest_message(7);
  EXPECT_EQ(multiplied(ranks, whole, parts, parts, options, 1, 0), expected);
  if (ranks.size() > 1) {
    EXPECT_GT(ranks.traffic().messages - messages, messages);
  }
}

template <class V>
class DistributedProductOf : public testing::Test {};
using Values = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(DistributedProductOf, Values);

TYPED_TEST(DistributedProductOf, AnyTypesAndNewValues) {
  using V = TypeParam;
  const Communicator ranks(MPI_COMM_WORLD);
  auto whole = generate<V, std::int64_t>("mesh:300,dim=3,nnzr=9");
  const auto parts = uneven(whole.rows(), ranks.size());
  for (const Layout layout : {Layout::rows, Layout::grid}) {
    DistributedProduct<V> product(ranks, cut(ranks, whole, parts, parts),
                                  {.layout = layout, .product = in_format(Format::automatic)});
    auto workspace = product.make_workspace();
    for (const double scale : {1.0, -3.0}) {
      auto scaled = whole;
      for (V& value : scaled.mutable_values()) value *= V(static_cast<float>(scale));
      product.update_values(cut(ranks, scaled, parts, parts));
      const auto x = test::random_vector<V>(static_cast<std::size_t>(whole.rows()), 3);
      std::vector<V> y(static_cast<std::size_t>(product.rows()));
      product.apply(own_part(ranks, x, parts), y, workspace);
      const auto found = gathered(ranks, y);
      std::vector<V> expected(x.size());
      reference::spmv(scaled, V(1), std::span<const V>(x), V(0), std::span<V>(expected));
      for (std::size_t i = 0; i < x.size(); ++i) {
        EXPECT_LE(std::abs(found[i] - expected[i]),
                  (sizeof(V) == 4 || sizeof(std::real(V{})) == 4 ? 1e-4 : 1e-12));
      }
    }
  }
}

TEST(DistributedProduct, RefusesWhatMakesNoSense) {
  const Communicator ranks(MPI_COMM_WORLD);
  const Matrix whole = generate<double, std::int32_t>("stencil5:9x9");
  const auto matrix = cut(ranks, whole);
  const auto make = [&](const DistributedOptions& options) {
    return DistributedProduct<double>(ranks, matrix, options);
  };
  EXPECT_THROW(make({.grid_rows = 2}), InvalidArgument);
  EXPECT_THROW(make({.layout = Layout::grid, .grid_rows = ranks.size() + 1}), InvalidArgument);
  EXPECT_THROW(make({.product = {.transposed = true}}), InvalidArgument);
  EXPECT_THROW(make({.product = {.vectors = 99}}), InvalidArgument);
  if (ranks.size() > 1) {
    EXPECT_THROW(make({.product = in_format(Format::csr, ranks.rank() == 0 ? 1 : 2)}),
                 InvalidArgument);
    // One rank's trouble is everybody's.
    DistributedMatrix<double, std::int32_t> broken = cut(ranks, whole);
    if (ranks.rank() == 1) broken.local = {};
    EXPECT_THROW(DistributedProduct<double>(ranks, broken), InvalidArgument);
  }
  const auto product = make({.product = in_format(Format::csr)});
  const auto other = make({.product = in_format(Format::csr)});
  auto workspace = other.make_workspace();
  std::vector<double> x(static_cast<std::size_t>(product.x_rows())), y(x.size());
  EXPECT_THROW(product.apply(x, y, workspace), InvalidArgument);
  std::vector<double> longer(x.size() + 1);
  auto right = product.make_workspace();
  EXPECT_THROW(product.apply(longer, y, right), InvalidArgument);
  DistributedProduct<double> changed = make({.product = in_format(Format::csr)});
  EXPECT_THROW(changed.update_values(cut(ranks, generate<double, std::int32_t>("stencil9:9x9"))),
               InvalidArgument);
}

TEST(DistributedMatrix, ByNonzerosAndAssembled) {
  const Communicator ranks(MPI_COMM_WORLD);
  for (const auto& [name, whole] : matrices()) {
    SCOPED_TRACE(name);
    const auto even = cut(ranks, whole);
    const auto balanced = by_nonzeros(ranks, even);
    EXPECT_EQ(balanced.local, cut(ranks, whole, balanced.rows, balanced.cols).local);
    EXPECT_EQ(balanced.square(), even.square());
    // No rank has more than its share and one row, or rows that stay together, unless nothing had
    // to move.
    const auto columns_of = [&](Offset row) {
      const auto offsets = whole.row_offsets();
      return whole.columns().subspan(static_cast<std::size_t>(offsets[row]),
                                     static_cast<std::size_t>(offsets[row + 1] - offsets[row]));
    };
    Offset heaviest = 0, group = 0;
    for (Offset row = 0; row < whole.rows(); ++row) {
      const bool alike = row > 0 && std::ranges::equal(columns_of(row), columns_of(row - 1));
      group = (alike ? group : 0) + std::ssize(columns_of(row)) + 2;
      heaviest = std::max(heaviest, group);
    }
    const Offset share = (whole.nnz() + 2 * Offset{whole.rows()}) / ranks.size() + 1;
    EXPECT_LE(balanced.local.nnz() + 2 * Offset{balanced.local.rows()},
              share + std::max(heaviest, share / 100 + 1));

    // Entries in any order, duplicates halved.
    std::vector<Entry<double, std::int32_t>> entries;
    for (Offset row = 0; row < whole.rows(); ++row) {
      for (Offset k = whole.row_offsets()[row]; k < whole.row_offsets()[row + 1]; ++k) {
        const Entry<double, std::int32_t> half{static_cast<std::int32_t>(row), whole.columns()[k],
                                               whole.values()[k] / 2};
        if (k % ranks.size() == ranks.rank()) entries.push_back(half);
        if ((k + 1) % ranks.size() == ranks.rank()) entries.push_back(half);
      }
    }
    std::ranges::reverse(entries);
    const auto assembled = assemble(ranks, even.rows, even.cols, entries);
    EXPECT_EQ(assembled.local, even.local);
  }
  EXPECT_THROW(assemble(ranks, Partition::even(2, ranks.size()), Partition::even(2, ranks.size()),
                        std::vector<Entry<double, std::int32_t>>{
                            {ranks.rank() == ranks.size() - 1 ? 2 : 0, 0, 1.0}}),
               InvalidMatrix);
}

// Unknowns of a node are never on two ranks.
TEST(DistributedMatrix, RowsOfANodeStayTogether) {
  const Communicator ranks(MPI_COMM_WORLD);
  for (const std::string spec :
       {"stencil5:5x7,dof=3", "stencil27:4x4x5,dof=4", "mesh:60,dim=3,nnzr=15,dof=5"}) {
    SCOPED_TRACE(spec);
    const int unknowns = spec.back() - '0';
    const Matrix whole = generate<double, std::int32_t>(spec);
    const auto matrix = by_nonzeros(ranks, generate_distributed<double, std::int32_t>(ranks, spec));
    EXPECT_EQ(matrix.local, cut(ranks, whole, matrix.rows, matrix.cols).local);
    for (int part = 0; part < ranks.size(); ++part)
      EXPECT_EQ(matrix.rows.begin(part) % unknowns, 0);
  }
  // Rows that are all alike are cut all the same, and empty ones are not alike.
  const auto alike = by_nonzeros(ranks, cut(ranks, like_rows()));
  EXPECT_LE(alike.local.rows(), 200 / ranks.size() + 1);
}

}  // namespace
}  // namespace strata::distributed
