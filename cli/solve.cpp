// strata solve: linear systems by iterative methods, compared by the same true residual.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <memory>
#include <optional>

#include "cli/parts/backends.hpp"
#include "cli/parts/commands.hpp"
#include "cli/parts/counted_matrix.hpp"
#include "cli/parts/exit_status.hpp"
#include "cli/parts/gpu.hpp"
#include "cli/parts/interruption.hpp"
#include "cli/parts/measuring.hpp"
#include "cli/parts/run_command.hpp"
#include "cli/parts/solve_backends.hpp"
#include "strata/base/error.hpp"
#include "strata/base/random.hpp"
#include "strata/kernels/reference/spmv.hpp"
#include "strata/measure/matrix_analysis.hpp"
#include "strata/solvers/linear_solver.hpp"

namespace strata::cli {

using solvers::Iteration;
using solvers::Method;
using solvers::SolveResult;
using solvers::SolveStatus;

namespace {

struct SolveCommandOptions {
  CommonOptions common;
  std::string matrix;
  std::string methods = "cg";
  std::string backends = "cpu";
  std::string preconditioner = "none";
  std::string right_hand_side = "ones";
  double tolerance = 1e-8;
  int most_iterations = 1000;
  int restart = 30;
  std::uint64_t seed = 1;
};

template <class Enumerator, std::size_t N>
Enumerator named(const std::string& name, const Enumerator (&all)[N], std::string_view what) {
  std::string known;
  for (const Enumerator each : all) {
    if (solvers::name_of(each) == name) return each;
    known += fmt::format(" {}", solvers::name_of(each));
  }
  throw InvalidArgument(fmt::format("'{}' is no {}; there are:{}", name, what, known));
}

template <Value V>
std::vector<V> random_numbers(std::size_t count, std::uint64_t seed) {
  const Random random(seed, 0);
  std::vector<V> numbers(count);
  for (std::size_t i = 0; i < count; ++i) {
    numbers[i] = V(static_cast<decltype(std::abs(V()))>(random.uniform(i, -1, 1)));
  }
  return numbers;
}

// ones, random, or exact: A times random numbers, which are then the solution.
template <Value V, Index I>
std::vector<V> right_hand_side(const Csr<V, I>& matrix, const SolveCommandOptions& options) {
  const auto rows = static_cast<std::size_t>(matrix.rows());
  if (options.right_hand_side == "ones") return std::vector<V>(rows, V(1));
  std::vector<V> numbers = random_numbers<V>(rows, options.seed);
  if (options.right_hand_side == "random" || matrix.rows() != matrix.cols()) return numbers;
  std::vector<V> b(rows);
  reference::spmv(matrix, V(1), numbers, V(0), b);
  return b;
}

// ‖b − Ax‖ / ‖b‖, by nobody's plan.
template <Value V, Index I>
double true_residual(const Csr<V, I>& matrix, std::vector<V> b, const std::vector<V>& x) {
  double of_b = 0, of_r = 0;
  for (const V& value : b) of_b += std::norm(value);
  reference::spmv(matrix, V(-1), x, V(1), b);
  for (const V& value : b) of_r += std::norm(value);
  return std::sqrt(of_r) / (of_b == 0 ? 1 : std::sqrt(of_b));
}

Json history_json(const SolveResult& result) {
  Json history = Json::array();
  for (const Iteration& iteration : result.history) {
    history.push_back({{"iteration", iteration.number},
                       {"products", iteration.products},
                       {"residual", iteration.residual}});
  }
  return history;
}

struct Solution {
  SolveBackend backend;
  Method method;
  BackendSolution found;

  const SolveResult& result() const { return found.result; }
};

Json json_of(const Solution& solution, const SolveCommandOptions& options,
             std::string_view precision) {
  const SolveResult& result = solution.result();
  return {{"kernel", "solve"},
          {"backend", name_of(solution.backend)},
          {"method", solvers::name_of(solution.method)},
          {"preconditioner", options.preconditioner},
          {"variant", solution.found.variant},
          {"threads", solution.found.threads},
          {"precision", precision},
          {"status", solvers::name_of(result.status)},
          {"message", result.message},
          {"iterations", result.iterations},
          {"products", result.products},
          {"tolerance", options.tolerance},
          {"residual", result.residual},
          {"seconds",
           {{"total", result.times.total},
            {"iteration", result.iterations > 0 ? result.times.cycles / result.iterations : 0.0},
            {"products", result.times.products},
            {"preconditioner", result.times.preconditioner},
            {"vectors", result.times.vectors()}}},
          {"history", history_json(result)}};
}

std::string table_of(const std::vector<Solution>& solutions) {
  Table table({"backend", "method", "ended", "iterations", "products", "|b-Ax|/|b|", "time",
               "per iteration", "products", "vectors"},
              3);
  for (const Solution& solution : solutions) {
    const SolveResult& result = solution.result();
    const auto share = [&](double seconds) { return percent_text(seconds / result.times.total); };
    table.add({std::string(name_of(solution.backend)),
               std::string(solvers::name_of(solution.method)),
               std::string(solvers::name_of(result.status)), std::to_string(result.iterations),
               std::to_string(result.products), fmt::format("{:.2e}", result.residual),
               seconds_text(result.times.total),
               result.iterations > 0 ? seconds_text(result.times.cycles / result.iterations) : "-",
               share(result.times.products), share(result.times.vectors())});
  }
  return table.text(2);
}

std::string run_solve(const SolveCommandOptions& options, ResultDocument& document,
                      Progress& progress, int& not_converged) {
  std::vector<Method> methods;
  for (const std::string& name : split_list(options.methods)) {
    methods.push_back(named(name, solvers::kMethods, "method"));
  }
  const auto preconditioner =
      named(options.preconditioner, solvers::kPreconditioners, "preconditioner");
  const std::vector<SolveBackend> backends = choose_solve_backends(options.backends);
  const MatrixSource source = find_matrix(options.matrix);
  const AnyMatrix matrix = load_and_count(source, options.common, document, progress).matrix;
  std::optional<KnownGpu> gpu;
  if (std::ranges::find(backends, SolveBackend::gpu) != backends.end()) {
    gpu = find_gpu(options.common.device, document, progress);
  }
  std::vector<Solution> solutions;
  std::visit(
      [&]<Value V, Index I>(const Csr<V, I>& csr) {
        const std::vector<V> b = right_hand_side(csr, options);
        for (const Method method : methods) {
          for (const SolveBackend backend : backends) {
            progress.start(
                fmt::format("solving by {} ({})", solvers::name_of(method), name_of(backend)));
            std::vector<V> x(b.size());
            BackendSolution found =
                solve_on<V, I>(backend, csr,
                               {.method = method,
                                .preconditioner = preconditioner,
                                .restart = options.restart,
                                .product = {.threads = options.common.threads}},
                               b, x,
                               {.tolerance = options.tolerance,
                                .most_iterations = options.most_iterations,
                                .progress =
                                    [](const Iteration&) {
                                      check_interruption();
                                      return true;
                                    }},
                               gpu ? &gpu->profile : nullptr,
                               [&](const std::string& what) { progress.start(what); });
            found.result.residual = true_residual(csr, b, x);
            solutions.push_back({backend, method, std::move(found)});
            document.add_result(json_of(solutions.back(), options, name_of(precision_of(matrix))));
          }
        }
      },
      matrix);
  std::string text = table_of(solutions) + "\n";
  for (const Solution& solution : solutions) {
    if (solution.result().status == SolveStatus::converged) continue;
    ++not_converged;
    text += fmt::format("{} ({}): {}.\n", solvers::name_of(solution.method),
                        name_of(solution.backend), solution.result().message);
  }
  return text;
}

}  // namespace

void add_solve(CommandLine& line) {
  auto options = std::make_shared<SolveCommandOptions>();
  CommandOptions command = line.add_command(
      "solve", "Solve Ax = b by iterative methods; status 1 if one does not converge");
  add_matrix_argument(command, options->matrix);
  command.add("--method", options->methods, "cg, minres, bicgstab, gmres; several with commas")
      .type_name("NAME,…")
      .show_default();
  add_backend_option(command, options->backends,
                     "cpu, cuda, hip, vendor (cg of cuSPARSE and cuBLAS), all");
  command.add("--precond", options->preconditioner, "The preconditioner")
      .one_of(std::vector<std::string>{"none", "jacobi"})
      .show_default();
  command
      .add("--rhs", options->right_hand_side,
           "The right-hand side: of ones, random, or A times random numbers (exact)")
      .one_of(std::vector<std::string>{"ones", "random", "exact"})
      .show_default();
  command.add("--tol", options->tolerance, "For |b - Ax| / |b|, which is computed").show_default();
  command.add("--max-iterations", options->most_iterations, "At most so many").show_default();
  command.add("--restart", options->restart, "Iterations of a cycle of gmres").show_default();
  command.add("--seed", options->seed, "Of random right-hand sides").show_default();
  add_common_options(command, options->common);
  add_type_options(command, options->common);
  command.set_example("strata solve stencil7:64x64x64 --method cg,minres --precond jacobi");
  command.set_work([options](const std::vector<std::string>& words) {
    int not_converged = 0;
    run_command(options->common, words, [&](ResultDocument& document, Progress& progress) {
      return run_solve(*options, document, progress, not_converged);
    });
    if (not_converged > 0) {
      throw Failure(ExitStatus::not_valid,
                    fmt::format("{}: {} did not converge", options->matrix,
                                not_converged == 1 ? "one method" : "some methods"));
    }
  });
}

}  // namespace strata::cli
