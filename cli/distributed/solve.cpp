// strata solve on several ranks.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "cli/distributed/commands.hpp"
#include "cli/distributed/matrix.hpp"
#include "cli/distributed/measuring.hpp"
#include "cli/distributed/world.hpp"
#include "cli/parts/solving.hpp"
#include "strata/base/error.hpp"
#include "strata/distributed/linear_solver.hpp"
#include "strata/solvers/random_rows.hpp"

namespace strata::cli::distributed {

using solvers::LinearSolverOptions;
using solvers::SolveOptions;

namespace {

// The elements of a rank, of a vector that rank 0 has in a file.
template <Value V>
std::vector<V> read_part(const std::string& path, const Partition& rows) {
  std::vector<std::vector<V>> parts(static_cast<std::size_t>(world().size()));
  blame_input(path, [&] {
    on_first_rank([&] {
      try {
        const std::vector<V> whole = read_vector<V>(path, rows.elements());
        for (int rank = 0; rank < world().size(); ++rank) {
          parts[static_cast<std::size_t>(rank)].assign(whole.begin() + rows.begin(rank),
                                                       whole.begin() + rows.end(rank));
        }
      } catch (const Failure& failure) {
        const std::string why = failure.what();
        const std::string prefix = path + ": ";
        throw FileError(path, why.starts_with(prefix) ? why.substr(prefix.size()) : why);
      }
    });
    return 0;
  });
  return world().exchange(parts).front();
}

// As on one rank: ones, random, exact, or a file. Random numbers are those of the rows as they were
// given.
template <Value V, Index I>
std::vector<V> right_hand_side(const DistributedMatrix<V, I>& matrix, const LocalRows<V, I>& rows,
                               const std::optional<DistributedOrder>& order,
                               const std::string& kind, std::uint64_t seed) {
  const auto size = static_cast<std::size_t>(matrix.local.rows());
  if (kind == "ones") return std::vector<V>(size, V(1));
  const Partition& given = order ? order->before() : matrix.rows;
  const int rank = world().rank();
  std::vector<V> numbers =
      kind == "random" || kind == "exact"
          ? solvers::random_rows<V>(given.size(rank), 1, seed, given.begin(rank))
          : read_part<V>(kind, given);
  if (order) {
    const std::vector<V> before = std::move(numbers);
    numbers.assign(size, V(0));
    order->to_new<V>(world(), before, numbers);
  }
  if (kind != "exact") return numbers;
  std::vector<V> b(size);
  rows.multiply(V(1), numbers, V(0), b);
  return b;
}

template <Value V>
double norm_of(const std::vector<V>& vector) {
  double sum = 0;
  for (const V& value : vector) sum += static_cast<double>(std::norm(value));
  return std::sqrt(world().sum(sum));
}

template <Value V, Index I>
struct System {
  System(DistributedMatrix<V, I> given, std::optional<DistributedOrder> order_of_rows,
         const std::string& kind, std::uint64_t seed)
      : matrix(std::move(given)), order(std::move(order_of_rows)), rows(matrix) {
    if (!matrix.square()) throw InvalidArgument("a linear system needs a square matrix");
    b = right_hand_side(matrix, rows, order, kind, seed);
  }

  BackendSolution solve(const LinearSolverOptions& options, const SolveOptions& solve_options,
                        int depth, std::vector<RankCosts>& costs) {
    x.assign(b.size(), V(0));
    strata::distributed::LinearSolver<V> solver(world(), matrix, options, {.depth = depth});
    const auto before = world().traffic();
    BackendSolution found{solver.solve(b, x, solve_options), solver.variant(), solver.threads()};
    const auto traffic = world().traffic() - before;
    costs = world().gather_all(RankCosts{.messages = traffic.messages,
                                         .bytes = traffic.bytes,
                                         .reductions = traffic.reductions,
                                         .seconds = found.result.times.total});
    found.result.residual = true_residual();
    return found;
  }

  double true_residual() const {
    std::vector<V> r = b;
    rows.multiply(V(-1), x, V(1), r);
    const double of_b = norm_of(b);
    return norm_of(r) / (of_b == 0 ? 1 : of_b);
  }

  void write(const std::string& path) const {
    std::vector<std::vector<V>> parts(static_cast<std::size_t>(world().size()));
    parts.front() = x;
    if (order) {
      parts.front().resize(order->new_numbers().size());
      order->to_old<V>(world(), x, parts.front());
    }
    const auto gathered = world().exchange(parts);
    on_first_rank([&] {
      std::vector<V> whole;
      for (const auto& part : gathered) whole.insert(whole.end(), part.begin(), part.end());
      write_vector<V>(path, whole);
    });
  }

  DistributedMatrix<V, I> matrix;
  std::optional<DistributedOrder> order;  // of the rows, where they were numbered anew
  LocalRows<V, I> rows;
  std::vector<V> b;
  std::vector<V> x;
};

}  // namespace

SystemOnRanks load_system(const std::string& matrix, const CommonOptions& common,
                          const LayoutOptions& layout, const std::string& right_hand_side,
                          std::uint64_t seed, ResultDocument& document, Progress& progress) {
  use_threads(common);
  find_machine_of_ranks(document, progress);
  GlobalMatrix whole =
      load_distributed(matrix, common, partition_named(layout.partition), document, progress);
  SystemOnRanks system{.precision = whole.precision(), .name = whole.name, .rows = whole.rows};
  std::visit(
      [&]<Value V, Index I>(DistributedMatrix<V, I>& given) {
        const auto kept =
            std::make_shared<System<V, I>>(std::move(given), whole.order, right_hand_side, seed);
        system.solve = [kept](const LinearSolverOptions& options, const SolveOptions& solving,
                              int depth, std::vector<RankCosts>& costs) {
          return kept->solve(options, solving, depth, costs);
        };
        system.write_solution = [kept](const std::string& path) { kept->write(path); };
      },
      whole.matrix);
  return system;
}

std::string text_of(const std::vector<RankCosts>& costs) {
  Offset messages = 0, bytes = 0;
  for (const RankCosts& cost : costs) {
    messages += cost.messages;
    bytes += cost.bytes;
  }
  return fmt::format("{} ranks, {} messages with {} and {} reductions", costs.size(),
                     grouped(messages), bytes_text(bytes),
                     grouped(costs.empty() ? 0 : costs.front().reductions));
}

Json json_of(const std::vector<RankCosts>& costs) {
  Json per_rank = Json::array();
  std::vector<double> seconds;
  Offset messages = 0, bytes = 0;
  for (std::size_t rank = 0; rank < costs.size(); ++rank) {
    const RankCosts& cost = costs[rank];
    messages += cost.messages;
    bytes += cost.bytes;
    seconds.push_back(cost.seconds);
    per_rank.push_back({{"rank", rank},
                        {"messages", cost.messages},
                        {"message_bytes", cost.bytes},
                        {"reductions", cost.reductions},
                        {"seconds", cost.seconds}});
  }
  return {{"ranks", costs.size()},
          {"messages", messages},
          {"message_bytes", bytes},
          {"reductions", costs.empty() ? Offset{0} : costs.front().reductions},
          {"imbalance", {{"seconds", imbalance_of(seconds)}}},
          {"per_rank", per_rank}};
}

}  // namespace strata::cli::distributed
