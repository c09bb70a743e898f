// Powers on several ranks against those on one, and what they send and compute besides.

#include "strata/distributed/powers.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include "strata/gen/generate.hpp"
#include "strata/plans/power_plan.hpp"
#include "tests/distributed/parts.hpp"
#include "tests/machine/support.hpp"
#include "tests/support/matrices.hpp"

namespace strata::distributed {
namespace {

using Matrix = Csr<double, std::int32_t>;

// No timing, and an imaginary machine: formats and depths are then the same on all ranks and from
// run to run.
PowerOptions in_format(int power, Format format, PowerStrategy strategy = PowerStrategy::automatic,
                       int vectors = 1) {
  static const MachineProfile profile = test::imaginary_machine();
  return {.power = power,
          .vectors = vectors,
          .strategy = strategy,
          .format = format,
          .autotune = false,
          .profile = &profile};
}

Network some_network() {
  return {.in_node = {1e-6, 1e-10}, .between_nodes = {}, .reduction_seconds = 1e-5, .ranks = 2};
}

std::vector<std::pair<std::string, Matrix>> matrices() {
  std::vector<std::pair<std::string, Matrix>> all;
  for (const char* spec :
       {"stencil5:1x1", "stencil5:2x1", "stencil5:13x11", "stencil7:4x4x20", "band:70,width=5",
        "random:60,nnzr=3", "arrow:30", "mesh:200,dim=2,nnzr=6", "stencil7:5x5x5,shuffle=1"}) {
    all.emplace_back(spec, generate<double, std::int32_t>(spec));
  }
  // Reads one way: ghosts of a rank are not those of whom it serves.
  test::Entries<double, std::int32_t> upper(40, 40, 3);
  for (std::int32_t row = 0; row < 40; ++row) {
    upper.add(row, row);
    if (row + 3 < 40) upper.add(row, row + 3);
  }
  all.emplace_back("upper", upper.coo().to_csr());
  all.emplace_back("no entries", Matrix(5, 5, Array<Offset>(6, 0), {}, {}));
  all.emplace_back("nothing", Matrix());
  return all;
}

std::vector<double> expected_powers(const Matrix& whole, const PowerOptions& options,
                                    const std::vector<double>& x) {
  const auto plan = plan_powers(whole, options);
  auto workspace = plan.make_workspace();
  std::vector<double> powers(x.size() * static_cast<std::size_t>(options.power));
  plan.apply(x, powers, workspace);
  return powers;
}

// Power k of all ranks together.
std::vector<double> power_of(const Communicator& ranks, const std::vector<double>& own,
                             std::size_t each, int k) {
  const auto begin = own.begin() + static_cast<std::ptrdiff_t>(each) * (k - 1);
  return gathered(ranks, std::vector<double>(begin, begin + static_cast<std::ptrdiff_t>(each)));
}

TEST(DistributedPowers, AreThoseOfOneRank) {
  Communicator ranks(MPI_COMM_WORLD);
  const Network network = some_network();
  for (const auto& [name, whole] : matrices()) {
    SCOPED_TRACE(name);
    const Partition parts = uneven(whole.rows(), ranks.size());
    for (const int vectors : {1, 3}) {
      const auto x =
          test::random_vector<double>(static_cast<std::size_t>(whole.rows()) * vectors, 1);
      for (const auto& options :
           {in_format(4, Format::csr, PowerStrategy::spmv, vectors),
            in_format(2, Format::packed_sell, PowerStrategy::spmv, vectors),
            in_format(5, Format::csr, PowerStrategy::wavefront, vectors),
            in_format(3, Format::packed_sell, PowerStrategy::levels, vectors)}) {
        const auto expected = expected_powers(whole, options, x);
        for (int depth = 1; depth <= options.power; ++depth) {
          SCOPED_TRACE(fmt::format("depth {} of {}", depth, options.power));
          ranks.share_from(kSharing[depth % 2]);
          const DistributedPowers<double> powers(
              ranks, cut(ranks, whole, parts, parts),
              {.power = options, .depth = depth, .network = &network});
          EXPECT_EQ(powers.depth(), depth);
          auto workspace = powers.make_workspace();
          const auto own_x = own_part(ranks, x, parts, vectors);
          std::vector<double> found(own_x.size() * static_cast<std::size_t>(options.power));
          std::vector<double> last(own_x.size());
          for (int run = 0; run < 2; ++run) {
            powers.apply(own_x, found, workspace);
            powers.apply_last(own_x, last, workspace);
            for (int k = 1; k <= options.power; ++k) {
              const auto all = power_of(ranks, found, own_x.size(), k);
              ASSERT_EQ(all.size(), x.size());
              const std::size_t first = x.size() * static_cast<std::size_t>(k - 1);
              for (std::size_t i = 0; i < x.size(); ++i) {
                // Levels change the order of rows, columns and sums.
                if (options.strategy == PowerStrategy::spmv) {
                  ASSERT_EQ(all[i], expected[first + i]) << "power " << k;
                } else {
                  const double size = std::max(1.0, std::abs(expected[first + i]));
                  ASSERT_NEAR(all[i], expected[first + i], 1e-12 * size) << "power " << k;
                }
              }
            }
            EXPECT_TRUE(std::equal(last.begin(), last.end(), found.end() - std::ssize(last)));
          }
        }
      }
    }
  }
}

TEST(DistributedPowers, AllBasesAndSums) {
  Communicator ranks(MPI_COMM_WORLD);
  const Network network = some_network();
  const Matrix whole = generate<double, std::int32_t>("stencil5:20x15");
  const Partition parts = uneven(whole.rows(), ranks.size());
  const auto x = test::random_vector<double>(static_cast<std::size_t>(whole.rows()), 1);
  const auto own_x = own_part(ranks, x, parts);
  for (const Basis& basis :
       {Basis::monomial(), Basis::scaled(8), Basis::chebyshev(0, 8),
        Basis::newton({{1, 0}, {4, 0.5}, {4, -0.5}, {2, 0}, {7, 0}, {3, 0}}, 2)}) {
    SCOPED_TRACE(basis.name());
    PowerOptions options = in_format(6, Format::csr, PowerStrategy::spmv);
    options.basis = basis;
    const auto expected = expected_powers(whole, options, x);
    for (const int depth : {1, 2, 3, 4, 6}) {
      SCOPED_TRACE(depth);
      DistributedPowers<double> powers(
          ranks, cut(ranks, whole, parts, parts),
          {.power = in_format(6, Format::csr), .depth = depth, .network = &network});
      powers.set_basis(basis);
      auto workspace = powers.make_workspace();
      std::vector<double> found(own_x.size() * 6);
      powers.apply(own_x, found, workspace);
      for (int k = 1; k <= 6; ++k) {
        const auto all = power_of(ranks, found, own_x.size(), k);
        for (std::size_t i = 0; i < x.size(); ++i) {
          const double value = expected[x.size() * static_cast<std::size_t>(k - 1) + i];
          EXPECT_NEAR(all[i], value, 1e-12 * std::max(1.0, std::abs(value)));
          if (depth > 1) {
            EXPECT_EQ(all[i], value);
          }
        }
      }
      // The first ones alone, the sum of all, and plain products.
      std::vector<double> few(own_x.size() * 3);
      powers.apply_first(3, own_x, few, workspace);
      EXPECT_TRUE(std::equal(few.begin(), few.end(), found.begin()));
      const std::vector<double> coefficients{0.5, 1, -2, 0, 3, 0.25, -1};
      std::vector<double> sum(own_x.size()), product(own_x.size());
      powers.apply_sum(own_x, coefficients, sum, workspace);
      for (std::size_t i = 0; i < sum.size(); ++i) {
        double value = coefficients[0] * own_x[i], size = std::abs(value);
        for (std::size_t k = 1; k <= 6; ++k) {
          value += coefficients[k] * found[(k - 1) * sum.size() + i];
          size += std::abs(coefficients[k] * found[(k - 1) * sum.size() + i]);
        }
        EXPECT_NEAR(sum[i], value, 1e-14 * size);
      }
      powers.multiply(own_x, product, workspace);
      const auto plain = expected_powers(whole, in_format(1, Format::csr), x);
      EXPECT_EQ(gathered(ranks, product), plain);
    }
  }
}

// By brute force: the rows of other ranks that are needed for power k of own rows, all of them.
std::vector<std::set<Offset>> needed_rows(const Matrix& whole, const Partition& parts, int rank,
                                          int depth) {
  std::vector<std::set<Offset>> needed(static_cast<std::size_t>(depth));  // of powers 0 … depth − 1
  std::set<Offset> rows;
  for (Offset row = parts.begin(rank); row < parts.end(rank); ++row) rows.insert(row);
  for (int power = depth - 1; power >= 0; --power) {
    std::set<Offset> inputs = rows;
    for (const Offset row : rows) {
      for (Offset k = whole.row_offsets()[row]; k < whole.row_offsets()[row + 1]; ++k) {
        inputs.insert(whole.columns()[k]);
      }
    }
    rows = inputs;
    for (const Offset row : rows) {
      if (!parts.contains(rank, row)) needed[static_cast<std::size_t>(power)].insert(row);
    }
  }
  return needed;
}

TEST(DistributedPowers, OneExchangeAndAsManyRedundantRowsAsNeeded) {
  const Communicator ranks(MPI_COMM_WORLD);
  const Network network = some_network();
  for (const auto& [name, whole] : matrices()) {
    SCOPED_TRACE(name);
    for (const Partition& parts :
         {Partition::even(whole.rows(), ranks.size()), uneven(whole.rows(), ranks.size())}) {
      const auto matrix = cut(ranks, whole, parts, parts);
      Offset product_messages = 0;
      for (const int power : {1, 2, 4}) {
        const DistributedPowers<double> powers(
            ranks, matrix,
            {.power = in_format(power, Format::csr), .depth = power, .network = &network});
        auto workspace = powers.make_workspace();
        std::vector<double> x(static_cast<std::size_t>(powers.rows()), 1.0);
        std::vector<double> found(x.size() * static_cast<std::size_t>(power));
        const Traffic before = ranks.traffic();
        powers.apply(x, found, workspace);
        const Traffic sent = ranks.traffic() - before;
        const RankShare& own = powers.shares()[static_cast<std::size_t>(ranks.rank())];
        EXPECT_EQ(sent.messages, own.messages);
        EXPECT_EQ(sent.bytes, own.bytes);
        EXPECT_EQ(sent.reductions, 0);

        // Whom this rank serves, in one message each whatever the power is.
        std::set<int> served;
        Offset elements = 0;
        for (int rank = 0; rank < ranks.size(); ++rank) {
          const auto needed = needed_rows(whole, parts, rank, power);
          for (const Offset row : needed[0]) {
            if (!parts.contains(ranks.rank(), row)) continue;
            served.insert(rank);
            ++elements;
          }
          if (rank != ranks.rank()) continue;
          ASSERT_EQ(std::ssize(powers.redundant_rows()), power);
          for (int k = 1; k <= power; ++k) {
            EXPECT_EQ(powers.redundant_rows()[static_cast<std::size_t>(k - 1)],
                      k < power ? std::ssize(needed[static_cast<std::size_t>(k)]) : 0);
          }
        }
        EXPECT_EQ(own.messages, std::ssize(served));
        EXPECT_EQ(own.bytes, 8 * elements);

        // Against p products, which send to the same neighbours p times where no ghosts are
        // further away than these.
        const DistributedPowers<double> products(
            ranks, matrix,
            {.power = in_format(power, Format::csr), .depth = 1, .network = &network});
        auto other = products.make_workspace();
        const Traffic start = ranks.traffic();
        products.apply(x, found, other);
        product_messages = (ranks.traffic() - start).messages;
        if (name == "band:70,width=5" && parts == Partition::even(whole.rows(), ranks.size()) &&
            ranks.size() <= 7) {
          EXPECT_EQ(product_messages, power * own.messages);
        }
      }
    }
  }
}

TEST(DistributedPowers, WeighLatencyAgainstGhosts) {
  const Communicator ranks(MPI_COMM_WORLD);
  const Matrix whole = generate<double, std::int32_t>("stencil5:16x400");
  const auto matrix = cut(ranks, whole);
  const auto depth_for = [&](double latency) {
    const Network network{.in_node = {latency, 1e-10}, .between_nodes = {}};
    const DistributedPowers<double> powers(
        ranks, matrix, {.power = in_format(6, Format::csr), .network = &network});
    EXPECT_EQ(powers.depths().size(), 6u);
    for (const DepthCost& cost : powers.depths()) {
      EXPECT_GE(cost.redundant_rows, powers.depths().front().redundant_rows);
    }
    EXPECT_NE(powers.explain().find("chosen"), std::string::npos);
    return powers.depth();
  };
  if (ranks.size() == 1) return;
  EXPECT_EQ(depth_for(1.0), 6);    // a second per message
  EXPECT_EQ(depth_for(1e-15), 1);  // none
  // A random matrix has all rows as ghosts soon: no deeper than that.
  const auto scattered = cut(ranks, generate<double, std::int32_t>("random:400,nnzr=8"));
  const Network slow{.in_node = {1.0, 1e-10}, .between_nodes = {}};
  const DistributedPowers<double> powers(ranks, scattered,
                                         {.power = in_format(6, Format::csr), .network = &slow});
  EXPECT_LT(powers.depths().size(), 6u);
}

// Where the model expects more of sweeps, both ways are timed, and all ranks take the same one.
TEST(DistributedPowers, AreTimedWhereTheModelLikesThem) {
  const Communicator ranks(MPI_COMM_WORLD);
  if (ranks.size() == 1) return;
  const Matrix whole = generate<double, std::int32_t>("stencil5:16x400");
  const Network slow{.in_node = {1.0, 1e-10}, .between_nodes = {}};
  PowerOptions options = in_format(6, Format::csr);
  options.autotune = true;
  const DistributedPowers<double> powers(ranks, cut(ranks, whole),
                                         {.power = options, .network = &slow});
  EXPECT_TRUE(powers.depth() == 6 || powers.depth() == 1);
  EXPECT_EQ(ranks.max(Offset{powers.depth()}), ranks.min(Offset{powers.depth()}));
  for (const DepthCost& cost : powers.depths()) {
    EXPECT_EQ(cost.measured_seconds > 0, cost.depth == 6 || cost.depth == 1);
  }
  EXPECT_NE(powers.explain().find("took"), std::string::npos);
  const auto x = test::random_vector<double>(static_cast<std::size_t>(whole.rows()), 1);
  const Partition parts = Partition::even(whole.rows(), ranks.size());
  const auto own_x = own_part(ranks, x, parts);
  std::vector<double> found(own_x.size() * 6);
  auto workspace = powers.make_workspace();
  powers.apply(own_x, found, workspace);
  const auto expected = expected_powers(whole, in_format(6, Format::csr), x);
  const auto last = power_of(ranks, found, own_x.size(), 6);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double value = expected[5 * x.size() + i];
    ASSERT_NEAR(last[i], value, 1e-12 * std::max(1.0, std::abs(value)));
  }
}

TEST(DistributedPowers, TakeNewValues) {
  const Communicator ranks(MPI_COMM_WORLD);
  const Network network = some_network();
  const Matrix whole = generate<double, std::int32_t>("mesh:200,dim=2,nnzr=6");
  const Partition parts = uneven(whole.rows(), ranks.size());
  const auto x = test::random_vector<double>(static_cast<std::size_t>(whole.rows()), 1);
  const auto own_x = own_part(ranks, x, parts);
  for (const Format format : {Format::csr, Format::packed_sell}) {
    const PowerOptions options = in_format(4, format, PowerStrategy::spmv);
    for (const int depth : {1, 2, 4}) {
      DistributedPowers<double> powers(ranks, cut(ranks, whole, parts, parts),
                                       {.power = options, .depth = depth, .network = &network});
      auto workspace = powers.make_workspace();
      Matrix changed = whole;
      double next = 1;
      for (double& value : changed.mutable_values()) value = 1 / (next += 0.5);
      powers.update_values(cut(ranks, changed, parts, parts));
      // Another pattern is refused, and changes nothing.
      const auto other =
          generate<double, std::int32_t>("band:" + std::to_string(whole.rows()) + ",width=9");
      EXPECT_THROW(powers.update_values(cut(ranks, other, parts, parts)), InvalidArgument);
      std::vector<double> found(own_x.size() * 4);
      powers.apply(own_x, found, workspace);
      const auto expected = expected_powers(changed, options, x);
      for (int k = 1; k <= 4; ++k) {
        const auto all = power_of(ranks, found, own_x.size(), k);
        for (std::size_t i = 0; i < x.size(); ++i) {
          ASSERT_EQ(all[i], expected[x.size() * static_cast<std::size_t>(k - 1) + i])
              << "depth " << depth << ", power " << k;
        }
      }
    }
  }
}

TEST(DistributedPowers, RefuseWhatMakesNoSense) {
  const Communicator ranks(MPI_COMM_WORLD);
  const Matrix whole = generate<double, std::int32_t>("stencil5:9x9");
  const Network network = some_network();
  const auto matrix = cut(ranks, whole);
  const auto make = [&](PowerOptions options, int depth) {
    return DistributedPowers<double>(
        ranks, matrix, {.power = std::move(options), .depth = depth, .network = &network});
  };
  EXPECT_THROW(make(in_format(0, Format::csr), 0), InvalidArgument);
  EXPECT_THROW(make(in_format(2, Format::csr), 3), InvalidArgument);
  EXPECT_THROW(make(in_format(2, Format::csr, PowerStrategy::graph), 2), Unavailable);
  PowerOptions for_products = in_format(2, Format::csr);
  for_products.products = 10;
  EXPECT_THROW(make(for_products, 0), InvalidArgument);
  if (ranks.size() > 1) {
    EXPECT_THROW(make(in_format(2 + ranks.rank(), Format::csr), 1), InvalidArgument);
    EXPECT_THROW(
        DistributedPowers<double>(
            ranks, cut(ranks, whole, Partition::even(81, ranks.size()), uneven(81, ranks.size())),
            {.network = &network}),
        InvalidArgument);
  }
}

}  // namespace
}  // namespace strata::distributed
