// strata expm: exp(tA)v, exp(−itA)v and φ_k(tA)v, with the bound of their error.

#include <fmt/format.h>

#include <cmath>
#include <complex>
#include <memory>

#include "cli/parts/backends.hpp"
#include "cli/parts/commands.hpp"
#include "cli/parts/counted_matrix.hpp"
#include "cli/parts/exit_status.hpp"
#include "cli/parts/function_backends.hpp"
#include "cli/parts/interruption.hpp"
#include "cli/parts/measuring.hpp"
#include "cli/parts/run_command.hpp"
#include "cli/parts/solving.hpp"
#include "cli/parts/writing.hpp"
#include "strata/base/error.hpp"
#include "strata/base/parallel.hpp"
#include "strata/solvers/exponential.hpp"
#include "strata/solvers/random_rows.hpp"

namespace strata::cli {

using solvers::ExponentialMethod;
using solvers::ExponentialResult;
using solvers::SolveStatus;

namespace {

struct ExpmCommandOptions {
  CommonOptions common;
  std::string matrix;
  std::string method = "auto";
  std::string backend = "cpu";
  bool bare = false;
  double time = 1;
  bool imaginary = false;
  int phi = 0;
  double tolerance = 1e-12;
  int most_degree = 1000;
  std::string vector = "ones";
  std::string output;
  std::uint64_t seed = 1;
};

// ones, random, or the column of a file.
template <Value V>
std::vector<V> vector_from(const std::string& text, Offset rows, std::uint64_t seed) {
  if (text == "ones") return std::vector<V>(static_cast<std::size_t>(rows), V(1));
  if (text == "random") return solvers::random_rows<V>(rows, 1, seed);
  return read_vector<V>(text, rows);
}

template <Value V>
double norm_of(const std::vector<V>& values) {
  double sum = 0;
  for (const V& value : values) sum += static_cast<double>(std::norm(value));
  return std::sqrt(sum);
}

std::string function_text(const ExpmCommandOptions& options) {
  const std::string argument =
      fmt::format("{}{:.6g} A", options.imaginary ? "-i " : "", options.time);
  return options.phi > 0 ? fmt::format("φ_{}({}) v", options.phi, argument)
                         : fmt::format("exp({}) v", argument);
}

// ‖v‖ and that of the result.
struct Norms {
  double before = 0;
  double after = 0;
};

Json json_of(const ExponentialResult& result, const Norms& norms, const ExpmCommandOptions& options,
             const FunctionBackend& backend, std::string_view precision) {
  Json json{{"kernel", "expm"},
            {"backend", backend.name()},
            {"method", solvers::name_of(result.method)},
            {"variant", result.variant},
            {"precision", precision},
            {"status", solvers::name_of(result.status)},
            {"message", result.message},
            {"time", options.time},
            {"time_reached", result.time},
            {"imaginary", options.imaginary},
            {"phi", options.phi},
            {"tolerance", options.tolerance},
            {"error_bound", result.error},
            {"degree", result.degree},
            {"steps", result.steps},
            {"products", result.products},
            {"norm_of_vector", norms.before},
            {"norm_of_result", norms.after},
            {"setup_seconds", result.setup_seconds},
            {"seconds", seconds_json(result.times, result.product)}};
  if (!backend.gpu) json["threads"] = thread_count();
  return json;
}

std::string text_of(const ExponentialResult& result, const Norms& norms,
                    const ExpmCommandOptions& options) {
  std::vector<std::string> header{"",         "method",      "ended", "degree",      "steps",
                                  "products", "error bound", "time",  "per product", "|v|",
                                  "|result|"};
  std::vector<std::string> row{
      function_text(options),
      std::string(solvers::name_of(result.method)),
      std::string(solvers::name_of(result.status)),
      std::to_string(result.degree),
      std::to_string(result.steps),
      std::to_string(result.products),
      fmt::format("{:.1e}", result.error),
      seconds_text(result.times.total),
      result.products > 0 ? seconds_text(result.times.total / static_cast<double>(result.products))
                          : "-",
      fmt::format("{:.6g}", norms.before),
      fmt::format("{:.6g}", norms.after)};
  add_product_columns(result.product, header, row);
  Table table(header, 3);
  table.add(row);
  std::string text = table.text(2) + "\n";
  text += result.method == ExponentialMethod::taylor
              ? "  The bound is for the error of tA relative to its norm.\n"
              : "  The bound is for the error of the result relative to |v| and the largest "
                "value of the function.\n";
  text += fmt::format("  Set-up took {}.\n", seconds_text(result.setup_seconds));
  if (!result.message.empty()) text += fmt::format("expm: {}.\n", result.message);
  return text;
}

std::string run_expm(const ExpmCommandOptions& options, ResultDocument& document,
                     Progress& progress, SolveStatus& status) {
  if (options.imaginary && options.phi > 0) {
    throw InvalidArgument("--phi is for real time, and --imaginary was asked for");
  }
  const bool on_gpu = is_on_gpu(options.backend);
  CommonOptions common = options.common;
  if (options.imaginary) {  // real matrices, too, turn vectors into complex ones
    const bool single =
        common.precision == Precision::single_real || common.precision == Precision::single_complex;
    common.precision = single ? Precision::single_complex : Precision::double_complex;
  }
  const MatrixSource source = find_matrix(options.matrix);
  const AnyMatrix matrix = load_and_count(source, common, document, progress).matrix;
  const FunctionBackend backend =
      find_function_backend(on_gpu, options.common.device, document, progress);
  return std::visit(
      [&]<Value V, Index I>(const Csr<V, I>& csr) -> std::string {
        const std::vector<V> v = vector_from<V>(options.vector, csr.rows(), options.seed);
        std::vector<V> y(v.size());
        progress.start(function_text(options));
        const auto draw = progress.callback();
        const solvers::ExponentialOptions exponential{
            .method = named(options.method, solvers::kExponentialMethods, "method"),
            .tolerance = options.tolerance,
            .most_degree = options.most_degree,
            .threads = options.common.threads,
            .time_bare = options.bare,
            .progress = [&](int step, int steps) {
              if (is_interrupted()) return false;
              draw(static_cast<double>(step) / steps);
              return true;
            }};
        ExponentialResult result;
        {
          const CleanUpFirst return_the_best;
          result = exponential_on<V, I>(backend, csr, exponential,
                                        {options.time, options.imaginary, options.phi}, v, y);
        }
        status = result.status;
        const Norms norms{norm_of(v), norm_of(y)};
        document.add_result(
            json_of(result, norms, options, backend, name_of(precision_of(matrix))));
        check_interruption();
        if (!options.output.empty()) {
          const CleanUpTemporary clean_up(options.output);
          write_vector<V>(options.output, y);
        }
        return backend.heading() + text_of(result, norms, options);
      },
      matrix);
}

}  // namespace

void add_expm(CommandLine& line) {
  auto options = std::make_shared<ExpmCommandOptions>();
  CommandOptions command = line.add_command(
      "expm", "The exponential of a matrix times a vector; status 1 if the error is too large");
  add_matrix_argument(command, options->matrix);
  command.add("--time", options->time, "t of exp(tA)v").show_default();
  command.add_flag("--imaginary", options->imaginary, "exp(-itA)v, with complex vectors");
  command
      .add("--method", options->method,
           "chebyshev for Hermitian matrices, taylor and leja for all; auto: the fewest products")
      .one_of(std::vector<std::string>{"auto", "chebyshev", "taylor", "leja"})
      .show_default();
  command.add("--phi", options->phi, "φ_K(tA)v instead, as exponential integrators need it")
      .type_name("K")
      .range(0, 20)
      .show_default();
  command.add("--tol", options->tolerance, "For the bound of the error").positive().show_default();
  command.add("--max-degree", options->most_degree, "Of a polynomial; longer times take steps")
      .positive()
      .show_default();
  command.add("--vector", options->vector, "v: of ones, random, or a Matrix Market file")
      .type_name("ones|random|FILE")
      .show_default();
  command.add("-o,--output", options->output, "Write the result as a Matrix Market file")
      .type_name("FILE");
  command.add("--seed", options->seed, "Of a random vector").show_default();
  command.add_flag("--bare", options->bare, "Also time bare powers of the same plan");
  add_backend_option(command, options->backend, "Where it runs: cpu, cuda or hip");
  add_device_option(command, options->common);
  add_common_options(command, options->common);
  add_type_options(command, options->common);
  command.set_example("strata expm stencil5:500x500 --time -10 --vector random");
  command.set_work([options](const std::vector<std::string>& words) {
    SolveStatus status = SolveStatus::converged;
    run_command(options->common, words, [&](ResultDocument& document, Progress& progress) {
      return run_expm(*options, document, progress, status);
    });
    if (status != SolveStatus::converged) {
      throw Failure(ExitStatus::not_valid,
                    fmt::format("{}: {} did not reach the tolerance: {}", options->matrix,
                                function_text(*options), solvers::name_of(status)));
    }
  });
}

}  // namespace strata::cli
