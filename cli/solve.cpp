// strata solve: linear systems by iterative methods, compared by the same true residual.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <memory>
#include <optional>

#include "cli/parts/backends.hpp"
#include "cli/parts/commands.hpp"
#include "cli/parts/convergence_plot.hpp"
#include "cli/parts/counted_matrix.hpp"
#include "cli/parts/exit_status.hpp"
#include "cli/parts/gpu.hpp"
#include "cli/parts/interruption.hpp"
#include "cli/parts/measuring.hpp"
#include "cli/parts/rank_options.hpp"
#include "cli/parts/ranks.hpp"
#include "cli/parts/run_command.hpp"
#include "cli/parts/solve_backends.hpp"
#include "cli/parts/solving.hpp"
#include "strata/base/error.hpp"
#include "strata/kernels/reference/spmv.hpp"
#include "strata/measure/matrix_analysis.hpp"
#include "strata/measure/peers.hpp"
#include "strata/solvers/linear_solver.hpp"
#include "strata/solvers/random_rows.hpp"
#include "strata/solvers/timed_operator.hpp"
#ifdef STRATA_HAS_MPI
#include "cli/distributed/commands.hpp"
#endif

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
  std::string solution;  // file
  std::string basis = "newton";
  double tolerance = 1e-8;
  int most_iterations = 1000;
  int restart = 30;
  int powers = 8;
  int degree = 8;
  int block_rows = 4;
  std::uint64_t seed = 1;
  bool peers = false;
  LayoutOptions layout;  // on several ranks
  int depth = 0;         // of their exchanges; 0: chosen
};

// ones, random, exact: A times random numbers, which are then the solution; or a file.
template <Value V, Index I>
std::vector<V> right_hand_side(const Csr<V, I>& matrix, const SolveCommandOptions& options) {
  const std::string& kind = options.right_hand_side;
  const Offset rows = matrix.rows();
  if (kind == "ones") return std::vector<V>(static_cast<std::size_t>(rows), V(1));
  if (kind != "random" && kind != "exact") return read_vector<V>(kind, rows);
  std::vector<V> numbers = solvers::random_rows<V>(rows, 1, options.seed);
  if (kind == "random" || matrix.rows() != matrix.cols()) return numbers;
  std::vector<V> b(numbers.size());
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
  std::string preconditioner;
  BackendSolution found;
  Json of_ranks = {};  // what several ranks add to the result
  std::string ranks_text = {};

  const SolveResult& result() const { return found.result; }
};

// Conjugate gradients of the other libraries for processors that this build has.
template <Value V, Index I>
std::vector<std::pair<BackendSolution, std::vector<V>>> solve_by_peers(
    const Csr<V, I>& matrix, const std::vector<V>& b, const SolveCommandOptions& options) {
  std::vector<std::pair<BackendSolution, std::vector<V>>> solutions;
  for (const Peer<V>& peer : make_peers(matrix)) {
    if (!peer.conjugate_gradients) continue;
    check_interruption();
    std::vector<V> x(b.size(), V(0));
    const solvers::RunningClock clock;
    const PeerSolution ended =
        peer.conjugate_gradients(b, x, options.tolerance, options.most_iterations);
    SolveResult result;
    result.status = ended.converged ? SolveStatus::converged : SolveStatus::most_iterations;
    if (!ended.converged) result.message = "it did not converge, and does not say why";
    result.iterations = ended.iterations;
    result.products = ended.iterations + 1;
    result.times.total = result.times.cycles = clock.seconds();
    solutions.emplace_back(BackendSolution{std::move(result), peer.name, peer.threads},
                           std::move(x));
  }
  return solutions;
}

// What a method was told, of what it heeds.
Json parameters_of(Method method, const std::string& preconditioner,
                   const SolveCommandOptions& options) {
  Json parameters = Json::object();
  if (method == Method::ca_cg || method == Method::ca_gmres) {
    parameters["powers"] = options.powers;
    parameters["basis"] = options.basis;
  }
  if (method == Method::gmres || method == Method::ca_gmres)
    parameters["restart"] = options.restart;
  if (preconditioner == "block-jacobi") parameters["block_rows"] = options.block_rows;
  const bool is_polynomial =
      preconditioner == "chebyshev" || preconditioner == "neumann" || preconditioner == "gmres";
  if (method == Method::chebyshev || is_polynomial) parameters["degree"] = options.degree;
  return parameters;
}

Json json_of(const Solution& solution, const SolveCommandOptions& options,
             std::string_view precision) {
  const SolveResult& result = solution.result();
  Json seconds = seconds_json(result.times);
  seconds["iteration"] = result.iterations > 0 ? result.times.cycles / result.iterations : 0.0;
  Json json{{"kernel", "solve"},
            {"backend", name_of(solution.backend)},
            {"method", solvers::name_of(solution.method)},
            {"preconditioner", solution.preconditioner},
            {"parameters", parameters_of(solution.method, solution.preconditioner, options)},
            {"variant", solution.found.variant},
            {"threads", solution.found.threads},
            {"precision", precision},
            {"status", solvers::name_of(result.status)},
            {"message", result.message},
            {"remark", result.remark},
            {"iterations", result.iterations},
            {"products", result.products},
            {"right_hand_side", options.right_hand_side},
            {"tolerance", options.tolerance},
            {"residual", result.residual},
            {"seconds", seconds},
            {"history", history_json(result)}};
  if (solution.of_ranks.kind() == Json::Kind::object) json.update(solution.of_ranks);
  return json;
}

std::string table_of(const std::vector<Solution>& solutions) {
  Table table({"backend", "method", "ended", "iterations", "products", "|b-Ax|/|b|", "time",
               "per iteration", "products", "precond", "orthogonal", "reductions", "updates"},
              3);
  for (const Solution& solution : solutions) {
    const SolveResult& result = solution.result();
    const auto share = [&](double seconds) {
      return seconds > 0 ? percent_text(seconds / result.times.total) : "-";
    };
    const bool is_library = solution.backend == SolveBackend::vendor;
    table.add({is_library ? solution.found.variant : std::string(name_of(solution.backend)),
               std::string(solvers::name_of(solution.method)),
               std::string(solvers::name_of(result.status)), std::to_string(result.iterations),
               std::to_string(result.products), fmt::format("{:.2e}", result.residual),
               seconds_text(result.times.total),
               result.iterations > 0 ? seconds_text(result.times.cycles / result.iterations) : "-",
               share(result.times.products), share(result.times.preconditioner),
               share(result.times.orthogonalisation), share(result.times.reductions),
               share(result.times.updates)});
  }
  return table.text(2);
}

std::vector<Method> methods_of(const SolveCommandOptions& options) {
  std::vector<Method> methods;
  for (const std::string& name : split_list(options.methods)) {
    methods.push_back(named(name, solvers::kMethods, "method"));
  }
  return methods;
}

solvers::LinearSolverOptions solver_options(const SolveCommandOptions& options, Method method) {
  return {
      .method = method,
      .preconditioner = named(options.preconditioner, solvers::kPreconditioners, "preconditioner"),
      .restart = options.restart,
      .powers = options.powers,
      .basis = named(options.basis, solvers::kKrylovBases, "basis"),
      .degree = options.degree,
      .block_rows = options.block_rows,
      .product = {.threads = options.common.threads}};
}

// Ctrl-C ends the method, which returns what it has; then the command.
solvers::SolveOptions solve_options(const SolveCommandOptions& options) {
  return {.tolerance = options.tolerance,
          .most_iterations = options.most_iterations,
          .progress = [](const Iteration&) { return !is_interrupted(); }};
}

std::vector<Solution> solve_on_devices(const SolveCommandOptions& options, ResultDocument& document,
                                       Progress& progress) {
  const std::vector<Method> methods = methods_of(options);
  solver_options(options, methods.front());  // which refuses unknown names
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
            const CleanUpFirst results_first;
            BackendSolution found =
                solve_on<V, I>(backend, csr, solver_options(options, method), b, x,
                               solve_options(options), gpu ? &gpu->profile : nullptr,
                               [&](const std::string& what) { progress.start(what); });
            found.result.residual = true_residual(csr, b, x);
            solutions.push_back({backend, method, options.preconditioner, std::move(found)});
            document.add_result(json_of(solutions.back(), options, name_of(precision_of(matrix))));
            if (!options.solution.empty()) write_vector<V>(options.solution, x);
            check_interruption();
          }
        }
        if (!options.peers) return;
        progress.start("conjugate gradients of other libraries");
        for (auto& [found, x] : solve_by_peers(csr, b, options)) {
          found.result.residual = true_residual(csr, b, x);
          solutions.push_back({SolveBackend::vendor, Method::cg, "none", std::move(found)});
          document.add_result(json_of(solutions.back(), options, name_of(precision_of(matrix))));
        }
      },
      matrix);
  return solutions;
}

std::vector<Solution> solve_on_ranks([[maybe_unused]] const SolveCommandOptions& options,
                                     [[maybe_unused]] ResultDocument& document,
                                     [[maybe_unused]] Progress& progress) {
  std::vector<Solution> solutions;
#ifdef STRATA_HAS_MPI
  if (options.backends != "cpu" || options.peers) {
    throw InvalidArgument("--backend and --peers are for one rank");
  }
  const std::vector<Method> methods = methods_of(options);
  solver_options(options, methods.front());  // which refuses unknown names
  const distributed::SystemOnRanks system =
      distributed::load_system(options.matrix, options.common, options.layout,
                               options.right_hand_side, options.seed, document, progress);
  for (const Method method : methods) {
    progress.start(fmt::format("solving by {}", solvers::name_of(method)));
    const CleanUpFirst results_first;
    std::vector<distributed::RankCosts> costs;
    BackendSolution found =
        system.solve(solver_options(options, method), solve_options(options), options.depth, costs);
    solutions.push_back({SolveBackend::cpu, method, options.preconditioner, std::move(found),
                         distributed::json_of(costs), distributed::text_of(costs)});
    document.add_result(json_of(solutions.back(), options, name_of(system.precision)));
    if (!options.solution.empty()) system.write_solution(options.solution);
    check_interruption();
  }
#endif
  return solutions;
}

std::string run_solve(const SolveCommandOptions& options, ResultDocument& document,
                      Progress& progress, int& not_converged) {
  const std::vector<Solution> solutions = rank_count() > 1
                                              ? solve_on_ranks(options, document, progress)
                                              : solve_on_devices(options, document, progress);
  std::string text = table_of(solutions) + "\n";
  std::vector<ConvergenceCurve> curves;
  for (const Solution& solution : solutions) {
    if (solution.result().history.empty()) continue;  // of other libraries
    curves.push_back(
        {fmt::format("{} ({})", solvers::name_of(solution.method), name_of(solution.backend)),
         solution.result().history});
  }
  text += convergence_plot(curves, options.tolerance) + "\n";
  for (const Solution& solution : solutions) {
    if (!solution.ranks_text.empty()) {
      text += fmt::format("{}: {}.\n", solvers::name_of(solution.method), solution.ranks_text);
    }
    if (!solution.result().remark.empty()) {
      text += fmt::format("{} ({}): {}.\n", solvers::name_of(solution.method),
                          name_of(solution.backend), solution.result().remark);
    }
    if (solution.result().status == SolveStatus::converged) continue;
    // With no tolerance at all, all iterations are what was asked for, or all that change anything.
    const SolveStatus ended = solution.result().status;
    if (options.tolerance == 0 &&
        (ended == SolveStatus::most_iterations || ended == SolveStatus::stagnated)) {
      continue;
    }
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
  command.add("--method", options->methods, names_of(solvers::kMethods) + "; several with commas")
      .type_name("NAME,…")
      .show_default();
  add_backend_option(command, options->backends,
                     "cpu, cuda, hip, vendor (cg of cuSPARSE and cuBLAS), all");
  command.add("--precond", options->preconditioner, names_of(solvers::kPreconditioners))
      .type_name("NAME")
      .show_default();
  command
      .add("--rhs", options->right_hand_side,
           "The right-hand side: ones, random, exact (A times random numbers), or a Matrix Market "
           "file")
      .type_name("NAME|FILE")
      .show_default();
  command.add("-o,--solution", options->solution, "Write the solution of the last method there")
      .type_name("FILE");
  command
      .add("--tol", options->tolerance,
           "For |b - Ax| / |b|, which is computed; 0: all iterations, to time them")
      .range(0.0, 1.0)
      .show_default();
  command.add("--max-iterations", options->most_iterations, "At most so many")
      .positive()
      .show_default();
  command.add("--restart", options->restart, "Iterations of a cycle of gmres and ca-gmres")
      .positive()
      .show_default();
  command.add("-s", options->powers, "Powers per sweep of ca-cg and ca-gmres")
      .range(1, 64)
      .show_default();
  command
      .add("--basis", options->basis, "Of ca-cg and ca-gmres: " + names_of(solvers::kKrylovBases))
      .type_name("NAME")
      .show_default();
  command
      .add("--degree", options->degree,
           "Of polynomial preconditioners, and of a sweep of the method chebyshev")
      .range(1, 256)
      .show_default();
  command.add("--block-rows", options->block_rows, "Rows of the blocks of block-jacobi")
      .range(1, 64)
      .show_default();
  command.add("--seed", options->seed, "Of random right-hand sides").show_default();
  command.add_flag("--peers", options->peers,
                   "Also cg of other libraries for processors, without a preconditioner");
  add_depth_option(command, options->depth);
  add_partition_option(command, options->layout);
  add_common_options(command, options->common);
  add_type_options(command, options->common);
  command.set_example(
      "strata solve stencil7:64x64x64 --method cg,ca-cg -s 4\n"
      "  mpirun -n 4 strata solve stencil7:64x64x64 --method cg,ca-cg -s 4");
  command.allow_ranks();
  command.set_work([options](const std::vector<std::string>& words) {
    if (rank_count() == 1) require_one_rank(options->layout, options->depth);
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
