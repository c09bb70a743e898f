// strata eig: eigenvalues and what is made of them: extreme ones, interior ones, their density, and
// ranks of nodes.

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>

#include "cli/parts/backends.hpp"
#include "cli/parts/commands.hpp"
#include "cli/parts/counted_matrix.hpp"
#include "cli/parts/density_plot.hpp"
#include "cli/parts/exit_status.hpp"
#include "cli/parts/function_backends.hpp"
#include "cli/parts/interruption.hpp"
#include "cli/parts/measuring.hpp"
#include "cli/parts/run_command.hpp"
#include "cli/parts/solving.hpp"
#include "strata/base/error.hpp"
#include "strata/base/parallel.hpp"
#include "strata/solvers/density_of_states.hpp"
#include "strata/solvers/eigen_solver.hpp"
#include "strata/solvers/page_rank.hpp"

namespace strata::cli {

using solvers::DensityOfStates;
using solvers::EigenIteration;
using solvers::EigenMethod;
using solvers::EigenResult;
using solvers::PageRankResult;
using solvers::SolveStatus;

namespace {

struct EigCommandOptions {
  CommonOptions common;
  std::string matrix;
  std::string method = "lanczos";
  std::string backend = "cpu";
  bool bare = false;
  int count = 6;
  std::string which = "largest";
  std::string interval;
  std::string target;
  int s = 8;
  double tolerance = 1e-8;
  std::int64_t most_products = 10'000'000;
  int subspace = 0;
  int degree = 0;
  int vectors = 0;
  int moments = 512;
  double damping = 0.85;
  bool weighted = false;
  std::uint64_t seed = 1;
};

double number_from(const std::string& text, const std::string& option) {
  try {
    std::size_t read = 0;
    const double number = std::stod(text, &read);
    if (read == text.size()) return number;
  } catch (const std::logic_error&) {  // said below
  }
  throw InvalidArgument(fmt::format("{}: '{}' is no number", option, text));
}

std::optional<solvers::ChebyshevInterval> interval_from(const std::string& text) {
  if (text.empty()) return {};
  const std::vector<std::string> ends = split_list(text);
  if (ends.size() != 2) {
    throw InvalidArgument(fmt::format("--interval: '{}' is not LOW,HIGH", text));
  }
  return solvers::ChebyshevInterval{number_from(ends[0], "--interval"),
                                    number_from(ends[1], "--interval")};
}

// What results of all methods have.
Json common_json(const EigCommandOptions& options, const FunctionBackend& backend,
                 const std::string& variant, const AnyMatrix& matrix, SolveStatus status,
                 const std::string& message) {
  Json json{{"kernel", "eig"},
            {"backend", backend.name()},
            {"method", options.method},
            {"precision", name_of(precision_of(matrix))},
            {"status", solvers::name_of(status)},
            {"message", message},
            {"seed", options.seed}};
  if (!variant.empty()) json["variant"] = variant;
  if (!backend.gpu) json["threads"] = thread_count();
  return json;
}

std::string summary_text(std::string_view method, SolveStatus status, Offset products,
                         const solvers::SolveTimes& times, double setup,
                         const solvers::SweptProduct& product = {}) {
  const auto share = [&](double seconds) {
    return seconds > 0 ? percent_text(seconds / times.total) : std::string("-");
  };
  std::vector<std::string> header{"method",   "ended",      "products",   "time",    "per product",
                                  "products", "orthogonal", "reductions", "updates", "set-up"};
  std::vector<std::string> row{
      std::string(method),
      std::string(solvers::name_of(status)),
      std::to_string(products),
      seconds_text(times.total),
      products > 0 ? seconds_text(times.total / static_cast<double>(products)) : "-",
      share(times.products),
      share(times.orthogonalisation),
      share(times.reductions),
      share(times.updates),
      seconds_text(setup)};
  add_product_columns(product, header, row);
  Table table(header, 2);
  table.add(row);
  return table.text(2);
}

// How a run ended, to say so after its results are written.
struct Ending {
  SolveStatus status = SolveStatus::converged;
  std::string text;
};

template <Value V, Index I>
Ending run_eigenvalues(const Csr<V, I>& csr, const AnyMatrix& matrix,
                       const EigCommandOptions& options, const FunctionBackend& backend,
                       ResultDocument& document, Progress& progress) {
  solvers::EigenSolverOptions solver{
      .method = named(options.method, solvers::kEigenMethods, "method"),
      .eigen = {.count = options.count,
                .which = named(options.which, solvers::kWanted, "end of a spectrum"),
                .tolerance = options.tolerance,
                .subspace = options.subspace,
                .most_products = options.most_products,
                .seed = options.seed},
      .s = options.s,
      .interval = interval_from(options.interval),
      .degree = options.degree,
      .vectors = options.vectors,
      .threads = options.common.threads,
      .time_bare = options.bare};
  if (!options.target.empty()) solver.target = number_from(options.target, "--target");
  solver.eigen.progress = [&](const EigenIteration&) { return !is_interrupted(); };
  progress.start(fmt::format("eigenvalues by {}", options.method));
  const CleanUpFirst return_the_best;
  const auto pairs = eigenpairs_on(backend, csr, solver);
  const EigenResult& result = pairs.result;

  Json json = common_json(options, backend, pairs.variant, matrix, result.status, result.message);
  Json history = Json::array();
  for (const EigenIteration& iteration : result.history) {
    history.push_back({{"iteration", iteration.number},
                       {"products", iteration.products},
                       {"converged", iteration.converged},
                       {"residual", iteration.residual}});
  }
  const bool extreme =
      solver.method == EigenMethod::lanczos || solver.method == EigenMethod::ca_lanczos;
  json["which"] = extreme ? Json(options.which) : Json();
  json["tolerance"] = options.tolerance;
  json["values"] = list_json(result.values);
  json["residuals"] = list_json(result.residuals);
  json["norm"] = result.norm;
  json["iterations"] = result.restarts;
  json["products"] = result.products;
  json["subspace"] = pairs.subspace;
  json["remarks"] = list_json(result.remarks);
  if (solver.method == EigenMethod::ca_lanczos) json["s"] = options.s;
  if (solver.method == EigenMethod::filter) json["degree"] = pairs.degree;
  json["setup_seconds"] = pairs.setup_seconds;
  json["seconds"] = seconds_json(result.times, pairs.product);
  json["history"] = history;
  document.add_result(json);

  Table table({"", "eigenvalue", "|Ax-λx|/|A||x|"});
  for (std::size_t k = 0; k < result.values.size(); ++k) {
    table.add({std::to_string(k + 1), fmt::format("{:.12g}", result.values[k]),
               fmt::format("{:.1e}", result.residuals[k])});
  }
  std::string text = result.values.empty() ? "  No eigenvalue there.\n" : table.text(2);
  text += "\n" + summary_text(options.method, result.status, result.products, result.times,
                              pairs.setup_seconds, pairs.product);
  for (const std::string& remark : result.remarks) text += "Remark: " + remark + ".\n";
  if (!result.message.empty()) text += options.method + ": " + result.message + ".\n";
  return {result.status, text};
}

template <Value V, Index I>
Ending run_density(const Csr<V, I>& csr, const AnyMatrix& matrix, const EigCommandOptions& options,
                   const FunctionBackend& backend, ResultDocument& document, Progress& progress) {
  progress.start("density of states");
  const auto draw = progress.callback();
  const CleanUpFirst return_the_best;
  const DensityOfStates density = density_on(backend, csr,
                                             {.moments = options.moments,
                                              .vectors = options.vectors > 0 ? options.vectors : 32,
                                              .seed = options.seed,
                                              .threads = options.common.threads,
                                              .time_bare = options.bare,
                                              .progress = [&](double fraction) {
                                                if (is_interrupted()) return false;
                                                draw(fraction);
                                                return true;
                                              }});
  constexpr int kPoints = 400, kColumns = 72;
  const auto sampled = [&](int points, const auto& function) {
    std::vector<double> values;
    const double step = (density.interval.high - density.interval.low) / points;
    for (int k = 0; k < points; ++k) {
      values.push_back(function(density.interval.low + (k + 0.5) * step));
    }
    return values;
  };
  Json json =
      common_json(options, backend, density.variant, matrix, density.status, density.message);
  json["low"] = density.interval.low;
  json["high"] = density.interval.high;
  json["moments"] = list_json(density.moments);
  json["vectors"] = density.vectors;
  json["resolution"] = density.resolution();
  json["products"] = density.products;
  json["energies"] = list_json(sampled(kPoints, [](double energy) { return energy; }));
  json["density"] = list_json(sampled(kPoints, [&](double energy) { return density.at(energy); }));
  json["share_below"] =
      list_json(sampled(kPoints, [&](double energy) { return density.below(energy); }));
  json["setup_seconds"] = density.setup_seconds;
  json["seconds"] = seconds_json(density.times, density.product);
  document.add_result(json);

  // A column is the mean over its width.
  std::vector<double> columns;
  const double width = (density.interval.high - density.interval.low) / kColumns;
  for (int k = 0; k < kColumns; ++k) {
    const double from = density.interval.low + k * width;
    columns.push_back(std::max((density.below(from + width) - density.below(from)) / width, 0.0));
  }
  std::string text = density_plot(columns, density.interval.low, density.interval.high, 10, 2);
  text += fmt::format(
      "\n  Share of eigenvalues per unit of energy, from {} moments of {} random vectors;\n"
      "  features narrower than {:.2g} are blurred.\n\n",
      density.moments.size(), density.vectors, density.resolution());
  text += summary_text("kpm", density.status, density.products, density.times,
                       density.setup_seconds, density.product);
  if (!density.message.empty()) text += "kpm: " + density.message + ".\n";
  return {density.status, text};
}

template <Value V, Index I>
Ending run_page_rank(const Csr<V, I>& csr, const AnyMatrix& matrix,
                     const EigCommandOptions& options, ResultDocument& document,
                     Progress& progress) {
  progress.start("PageRank");
  const CleanUpFirst return_the_best;
  const PageRankResult result = solvers::page_rank(
      csr,
      {.damping = options.damping,
       .tolerance = options.tolerance,
       .most_iterations = static_cast<int>(std::min<std::int64_t>(options.most_products, 1 << 30)),
       .weighted = options.weighted,
       .threads = options.common.threads,
       .progress = [](const solvers::Iteration&) { return !is_interrupted(); }});
  std::vector<std::size_t> order(result.ranks.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto shown = std::min(order.size(), static_cast<std::size_t>(std::max(options.count, 0)));
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(shown), order.end(),
                    [&](std::size_t a, std::size_t b) {
                      return std::pair(-result.ranks[a], a) < std::pair(-result.ranks[b], b);
                    });
  Json json = common_json(options, {}, "", matrix, result.status, result.message);
  Json ranks = Json::array(), history = Json::array();
  Table table({"", "row", "rank"});
  for (std::size_t k = 0; k < shown; ++k) {
    ranks.push_back({{"row", order[k] + 1}, {"rank", result.ranks[order[k]]}});
    table.add({std::to_string(k + 1), std::to_string(order[k] + 1),
               fmt::format("{:.6e}", result.ranks[order[k]])});
  }
  for (const solvers::Iteration& iteration : result.history) {
    history.push_back({{"iteration", iteration.number}, {"change", iteration.residual}});
  }
  json["tolerance"] = options.tolerance;
  json["damping"] = options.damping;
  json["dangling"] = result.dangling;
  json["ranks"] = ranks;
  json["iterations"] = result.iterations;
  json["products"] = result.products;
  json["change"] = result.change;
  json["error_bound"] = result.error;
  json["setup_seconds"] = result.setup_seconds;
  json["seconds"] = seconds_json(result.times);
  json["history"] = history;
  document.add_result(json);
  std::string text = table.text(2);
  text += fmt::format(
      "\n  {} rows without links; the last change was {:.1e}, all ranks together are right to "
      "{:.1e}.\n\n",
      result.dangling, result.change, result.error);
  text +=
      summary_text("pagerank", result.status, result.products, result.times, result.setup_seconds);
  if (!result.message.empty()) text += "pagerank: " + result.message + ".\n";
  return {result.status, text};
}

std::string run_eig(const EigCommandOptions& options, ResultDocument& document, Progress& progress,
                    SolveStatus& status) {
  const bool on_gpu = is_on_gpu(options.backend);
  const bool page_rank = options.method == "pagerank";
  if (on_gpu && page_rank) throw Unavailable("pagerank runs on processors, not on GPUs");
  if (options.bare && (page_rank || options.method == "lanczos" || options.method == "power")) {
    throw InvalidArgument(fmt::format(
        "--bare is for methods on powers, ca-lanczos, filter and kpm; {} is none", options.method));
  }
  const MatrixSource source = find_matrix(options.matrix);
  const AnyMatrix matrix = load_and_count(source, options.common, document, progress).matrix;
  const FunctionBackend backend =
      find_function_backend(on_gpu, options.common.device, document, progress);
  const Ending ending = std::visit(
      [&]<Value V, Index I>(const Csr<V, I>& csr) {
        if (options.method == "kpm") {
          return run_density(csr, matrix, options, backend, document, progress);
        }
        if (page_rank) return run_page_rank(csr, matrix, options, document, progress);
        return run_eigenvalues(csr, matrix, options, backend, document, progress);
      },
      matrix);
  status = ending.status;
  check_interruption();
  return backend.heading() + ending.text;
}

}  // namespace

void add_eig(CommandLine& line) {
  auto options = std::make_shared<EigCommandOptions>();
  CommandOptions command = line.add_command(
      "eig", "Eigenvalues, their density, or PageRank; status 1 if a method does not converge");
  add_matrix_argument(command, options->matrix);
  command
      .add(
          "--method", options->method,
          "The ends of a Hermitian spectrum (lanczos, ca-lanczos), inside it (filter), its density "
          "(kpm), the largest modulus of any matrix (power), or ranks of nodes (pagerank)")
      .one_of(
          std::vector<std::string>{"lanczos", "ca-lanczos", "filter", "kpm", "power", "pagerank"})
      .show_default();
  command.add("-k,--count", options->count, "So many eigenvalues, or rows of pagerank")
      .positive()
      .show_default();
  command.add("--which", options->which, "The end of the spectrum, for lanczos and ca-lanczos")
      .one_of(std::vector<std::string>{"largest", "smallest", "both"})
      .show_default();
  command.add("--interval", options->interval, "All eigenvalues in it, for filter")
      .type_name("LOW,HIGH");
  command.add("--target", options->target, "Those nearest to it, for filter").type_name("NUMBER");
  command.add("-s", options->s, "Vectors at a time, for ca-lanczos").positive().show_default();
  command
      .add("--tol", options->tolerance,
           "For |Ax - λx| / |A||x|, which is computed; for pagerank, the change of an iteration")
      .positive()
      .show_default();
  command.add("--max-products", options->most_products, "At most so many")
      .positive()
      .show_default();
  command.add("--subspace", options->subspace, "Vectors that lanczos keeps; 0: chosen");
  command.add("--degree", options->degree, "Of the polynomial of filter; 0: chosen");
  command.add("--vectors", options->vectors,
              "Of the subspace of filter, or random ones of kpm; 0: chosen");
  command.add("--moments", options->moments, "Of kpm").positive().show_default();
  command.add("--damping", options->damping, "How likely pagerank follows a link").show_default();
  command.add_flag("--weighted", options->weighted, "Values are weights of links, for pagerank");
  command.add("--seed", options->seed, "Of random vectors").show_default();
  command.add_flag("--bare", options->bare,
                   "Also time bare powers of the same plan, for ca-lanczos, filter and kpm");
  add_backend_option(command, options->backend, "Where it runs: cpu, cuda or hip");
  add_device_option(command, options->common);
  add_common_options(command, options->common);
  add_type_options(command, options->common);
  command.set_example("strata eig stencil7:64x64x64 --method ca-lanczos -k 4 --which both");
  command.set_work([options](const std::vector<std::string>& words) {
    SolveStatus status = SolveStatus::converged;
    run_command(options->common, words, [&](ResultDocument& document, Progress& progress) {
      return run_eig(*options, document, progress, status);
    });
    if (status != SolveStatus::converged) {
      throw Failure(ExitStatus::not_valid,
                    fmt::format("{}: {} did not converge: {}", options->matrix, options->method,
                                solvers::name_of(status)));
    }
  });
}

}  // namespace strata::cli
