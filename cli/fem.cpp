// strata fem: the finite element study of Reguly and Giles. Iterations of conjugate gradients per
// second over the degree of the elements, with the matrix assembled in several formats and as local
// matrices.

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <memory>

#include "cli/parts/backends.hpp"
#include "cli/parts/commands.hpp"
#include "cli/parts/exit_status.hpp"
#include "cli/parts/gpu.hpp"
#include "cli/parts/interruption.hpp"
#include "cli/parts/measuring.hpp"
#include "cli/parts/run_command.hpp"
#include "strata/base/error.hpp"
#include "strata/base/parallel.hpp"
#include "strata/fem/study.hpp"
#include "strata/gen/line_elements.hpp"
#include "strata/gen/spec.hpp"
#ifdef STRATA_HAS_GPU
#include "strata/device/device.hpp"
#include "strata/fem/gpu/study.hpp"
#endif

namespace strata::cli {

using fem::Convergence;
using fem::FemSolution;
using fem::FemSystem;
using fem::MatrixForm;
using fem::QuadMesh;
using solvers::SolveStatus;

namespace {

// Of the solutions that show the order, and how far below degree + 1 that may be.
constexpr Offset kConvergenceElements = 8;
constexpr double kConvergenceTolerance = 1e-12;
constexpr int kMostIterations = 10000;
// Of what is timed; the median counts.
constexpr int kRepetitions = 3;
constexpr double kOrderMargin = 0.4;
// Between the residual that a solver computes and a reference product's, in double and in single
// precision.
constexpr double kResidualMargin = 1e-9;
constexpr double kSingleResidualMargin = 1e-4;

struct FemCommandOptions {
  CommonOptions common;
  std::string size = "1000x1000";
  std::string degrees = "1,2,3,4";
  std::string matrices = "csr,ell,packed-sell,lma,lma-symmetric";
  std::string same = "unknowns";
  std::string backend = "cpu";
  std::string precision = "double";

  bool single() const { return precision == "single"; }
  int iterations = 100;
};

// Where systems are solved.
struct Place {
  std::string backend;
  std::string heading;
  int threads = 0;  // of processors
  std::function<FemSolution(const FemSystem&, MatrixForm, std::span<double>, fem::FemOptions)>
      solve;
};

std::array<Offset, 2> size_of(const std::string& text) {
  Spec spec("fem:" + text);
  spec.refuse_unread_keys();
  return spec.sizes<2>();
}

std::vector<int> degrees_of(const std::string& text) {
  std::vector<int> degrees;
  for (const std::string& word : split_list(text)) {
    if (word.size() != 1 || word[0] < '1' || word[0] > '0' + kMaxDegree) {
      throw InvalidArgument(fmt::format("'{}' is no degree; there are 1 to {}", word, kMaxDegree));
    }
    degrees.push_back(word[0] - '0');
  }
  return degrees;
}

std::vector<MatrixForm> forms_of(const std::string& text) {
  std::vector<MatrixForm> forms;
  for (const std::string& word : split_list(text)) {
    std::string known;
    const std::size_t before = forms.size();
    for (const MatrixForm form : fem::kMatrixForms) {
      if (name_of(form) == word) forms.push_back(form);
      known += fmt::format(" {}", name_of(form));
    }
    if (forms.size() == before) {
      throw InvalidArgument(fmt::format("'{}' is no matrix; there are:{}", word, known));
    }
  }
  return forms;
}

// The study keeps the number of unknowns, so that elements become fewer as they get more nodes.
QuadMesh mesh_of(const FemCommandOptions& options, int degree) {
  const auto [nx, ny] = size_of(options.size);
  const auto elements = [&](Offset asked) {
    return options.same == "elements" ? asked : std::max<Offset>((asked + degree / 2) / degree, 1);
  };
  return {.nx = elements(nx), .ny = elements(ny), .degree = degree};
}

struct Row {
  const Place* place;
  QuadMesh mesh;
  MatrixForm form;
  Offset entries;
  bool single;
  FemSolution solution;
  Convergence convergence;

  // Of an iteration: the product with the assembled matrix, whatever form it has, and 5 passes of 2
  // flops over vectors.
  double flops() const {
    return 2.0 * static_cast<double>(entries) + 10.0 * static_cast<double>(mesh.unknowns());
  }
  double bytes_per_unknown() const {
    return static_cast<double>(solution.matrix_bytes) / static_cast<double>(mesh.unknowns());
  }
  std::string name() const {
    return fmt::format("{}, degree {}, {}", place->backend, mesh.degree, name_of(form));
  }
  // What is wrong with it, if anything.
  std::string fault() const {
    const auto& result = solution.result;
    if (result.status != SolveStatus::converged && result.status != SolveStatus::most_iterations) {
      return result.message;
    }
    if (!(std::abs(solution.residual - result.residual) <=
          (single ? kSingleResidualMargin : kResidualMargin) * std::max(1.0, result.residual))) {
      return fmt::format("the residual is {:.3e}, and {:.3e} by a reference product",
                         result.residual, solution.residual);
    }
    if (!(convergence.order >= mesh.degree + 1 - kOrderMargin)) {
      return fmt::format("errors decrease with order {:.2f} instead of {}", convergence.order,
                         mesh.degree + 1);
    }
    return {};
  }
};

Json json_of(const Row& row) {
  const auto& result = row.solution.result;
  Json json{{"kernel", "fem"},
            {"backend", row.place->backend},
            {"parameters", Json::object({{"degree", row.mesh.degree}})},
            {"degree", row.mesh.degree},
            {"matrix", name_of(row.form)},
            {"format", name_of(row.form)},
            {"variant", row.solution.variant},
            {"precision", row.single ? "single" : "double"},
            {"elements", {row.mesh.nx, row.mesh.ny}},
            {"unknowns", row.mesh.unknowns()},
            {"nnz", row.entries},
            {"iterations", result.iterations},
            {"products", result.products},
            {"seconds", strata::json_of(row.solution.timing)},
            {"products_seconds", result.times.products},
            {"seconds_per_product", row.solution.seconds_per_product},
            {"gflops", row.flops() * row.solution.iterations_per_second() * 1e-9},
            {"gbytes_per_second", static_cast<double>(row.solution.matrix_bytes) /
                                      row.solution.seconds_per_product * 1e-9},
            {"setup_seconds", row.solution.setup_seconds},
            {"iterations_per_second", row.solution.iterations_per_second()},
            {"bytes", Json::object({{"format", row.solution.matrix_bytes}})},
            {"residual", result.residual},
            {"reference_residual", row.solution.residual},
            {"convergence",
             {{"elements", {kConvergenceElements, 2 * kConvergenceElements}},
              {"errors", {row.convergence.coarse_error, row.convergence.fine_error}},
              {"order", row.convergence.order}}},
            {"passed", row.fault().empty()}};
  if (row.place->threads > 0) json["threads"] = row.place->threads;
  return json;
}

std::string table_of(const std::vector<Row>& rows) {
  Table table({"degree", "matrix", "unknowns", "bytes/unknown", "iterations/s", "products", "GB/s",
               "over csr", "error", "order"},
              2);
  std::map<int, double> csr;
  for (const Row& row : rows) {
    if (row.form == MatrixForm::csr) csr[row.mesh.degree] = row.solution.iterations_per_second();
  }
  for (const Row& row : rows) {
    const FemSolution& solution = row.solution;
    const double rate = solution.iterations_per_second();
    const double baseline = csr[row.mesh.degree];
    table.add({std::to_string(row.mesh.degree), std::string(name_of(row.form)),
               grouped(row.mesh.unknowns()), fmt::format("{:.0f}", row.bytes_per_unknown()),
               fmt::format("{:.1f}", rate),
               percent_text(solution.result.times.products / solution.result.times.total),
               giga_text(static_cast<double>(solution.matrix_bytes) / solution.seconds_per_product),
               baseline > 0 ? fmt::format("{:.2f}", rate / baseline) : "-",
               fmt::format("{:.1e}", row.convergence.fine_error),
               fmt::format("{:.2f}", row.convergence.order)});
  }
  return table.text(2);
}

Place processor_place(const FemCommandOptions& options, ResultDocument& document,
                      Progress& progress) {
  const MachineProfile& profile = find_machine(document, progress).profile;
  const ThreadCountScope scope(options.common.threads);
  const int threads = thread_count();
  return {.backend = "cpu",
          .heading = processor_text(profile, threads),
          .threads = threads,
          .solve = [threads, &profile](const FemSystem& system, MatrixForm form,
                                       std::span<double> u, fem::FemOptions solve) {
            solve.threads = threads;
            solve.profile = &profile;
            return fem::solve(system, form, u, solve);
          }};
}

#ifdef STRATA_HAS_GPU
Place gpu_place(const FemCommandOptions& options, ResultDocument& document, Progress& progress) {
  const KnownGpu known = find_gpu(options.common.device, document, progress);
  gpu::use_device(options.common.device);
  const auto stream = std::make_shared<gpu::Stream>();
  return {.backend = std::string(gpu::name_of(gpu::api())),
          .heading = gpu_heading_text(known.profile),
          .solve = [stream](const FemSystem& system, MatrixForm form, std::span<double> u,
                            const fem::FemOptions& solve) {
            return gpu::solve(system, form, u, solve, *stream);
          }};
}
#else
Place gpu_place(const FemCommandOptions&, ResultDocument&, Progress&) {
  throw Unavailable(why_no_gpu(""));
}
#endif

solvers::SolveOptions watched(double tolerance, int most) {
  return {
      .tolerance = tolerance, .most_iterations = most, .progress = [](const solvers::Iteration&) {
        check_interruption();
        return true;
      }};
}

// The order is of solutions in double precision: single precision does not resolve the errors.
Row measured(const Place& place, const FemSystem& system, MatrixForm form,
             const FemCommandOptions& options) {
  const Convergence convergence = fem::convergence_of(
      system.mesh.degree, kConvergenceElements, [&](const FemSystem& small, std::span<double> u) {
        place.solve(small, form, u, {.solve = watched(kConvergenceTolerance, kMostIterations)});
      });
  std::vector<double> u(system.load.size(), 0.0);
  return {&place,
          system.mesh,
          form,
          system.matrix.nnz(),
          options.single(),
          place.solve(system, form, u,
                      {.solve = watched(0, options.iterations),
                       .repetitions = kRepetitions,
                       .single_precision = options.single()}),
          convergence};
}

std::string run_fem(const FemCommandOptions& options, ResultDocument& document, Progress& progress,
                    std::string& fault) {
  const std::vector<int> degrees = degrees_of(options.degrees);
  const std::vector<MatrixForm> forms = forms_of(options.matrices);
  for (const int degree : degrees) {
    try {
      mesh_of(options, degree).require_usable();
    } catch (const OverflowError& error) {
      throw Failure(ExitStatus::input, fmt::format("fem: {}", error.what()));
    }
  }
  const Backends backends = choose_backends(options.backend, {"cpu", "cuda", "hip", "all"});
  document.describe_matrix(Json::object({{"name", "fem:" + options.size}}));
  std::vector<Place> places;
  if (backends.cpu) places.push_back(processor_place(options, document, progress));
  if (backends.gpu) places.push_back(gpu_place(options, document, progress));
  std::vector<std::vector<Row>> rows(places.size());
  for (const int degree : degrees) {
    progress.start(fmt::format("assembling degree {}", degree));
    const FemSystem system(mesh_of(options, degree));
    for (std::size_t place = 0; place < places.size(); ++place) {
      for (const MatrixForm form : forms) {
        progress.start(
            fmt::format("{}, degree {}, {}", places[place].backend, degree, name_of(form)));
        const Row& row = rows[place].emplace_back(measured(places[place], system, form, options));
        document.add_result(json_of(row));
        if (fault.empty() && !row.fault().empty()) {
          fault = fmt::format("{}: {}", row.name(), row.fault());
        }
      }
    }
  }
  std::string text = fmt::format(
      "-div(k grad u) = f on quadrilaterals, u = 0 on the boundary, k variable; {} iterations of "
      "CG in {} precision\n\n",
      options.iterations, options.precision);
  for (std::size_t place = 0; place < places.size(); ++place) {
    text += places[place].heading + table_of(rows[place]) + "\n";
  }
  if (!backends.why_no_gpu.empty()) text += fmt::format("Left out: {}.\n", backends.why_no_gpu);
  return text + fmt::format(
                    "Error and order: in L2 against the exact solution, on {0}x{0} and {1}x{1} "
                    "elements of the same form, in double "
                    "precision;\nthe order has to be degree + 1. GB/s are of the "
                    "matrix alone.\n",
                    2 * kConvergenceElements, kConvergenceElements);
}

}  // namespace

void add_fem(CommandLine& line) {
  auto options = std::make_shared<FemCommandOptions>();
  CommandOptions command = line.add_command(
      "fem", "Finite elements by CG: assembled matrices and local ones, over the degree");
  command.add("SIZE", options->size, "Elements of degree 1 along x and y")
      .type_name("NXxNY")
      .show_default();
  command.add("--degree", options->degrees, "Of the elements: 1 to 4, several with commas")
      .type_name("D,…")
      .show_default();
  command
      .add("--matrix", options->matrices,
           "csr, ell, packed-sell, lma, lma-symmetric; several with commas")
      .type_name("NAME,…")
      .show_default();
  command
      .add("--same", options->same,
           "What all degrees have about as many of: the elements of degree d are NX/d x NY/d, or "
           "all of them")
      .one_of(std::vector<std::string>{"unknowns", "elements"})
      .show_default();
  command.add("--iterations", options->iterations, "That are timed")
      .range(1, 1000000)
      .show_default();
  command.add("--precision", options->precision, "Of the matrix and the vectors")
      .one_of(std::vector<std::string>{"double", "single"})
      .show_default();
  add_backend_option(command, options->backend, "Where: cpu, cuda, hip, all; several with commas");
  add_device_option(command, options->common);
  add_common_options(command, options->common);
  command.set_example("strata fem 2000x2000 --degree 1,2,3,4 --matrix csr,lma");
  command.set_work([options](const std::vector<std::string>& words) {
    std::string fault;
    run_command(options->common, words, [&](ResultDocument& document, Progress& progress) {
      return run_fem(*options, document, progress, fault);
    });
    if (!fault.empty()) throw Failure(ExitStatus::not_valid, "fem: " + fault);
  });
}

}  // namespace strata::cli
