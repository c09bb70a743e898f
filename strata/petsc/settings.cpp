#include "strata/petsc/settings.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <string>
#include <string_view>

#include "strata/base/error.hpp"
#include "strata/base/parallel.hpp"
#include "strata/formats/format_spec.hpp"
#include "strata/petsc/errors.hpp"
#include "strata/plans/plan_formats.hpp"

namespace strata::petsc {

namespace {

constexpr const char* kManual = "docs/petsc.md";

// PETSc's programs have a process for each core: where there are several, each has one thread,
// unless somebody says otherwise.
PetscErrorCode default_threads(int* threads) {
  PetscFunctionBegin;
  PetscMPIInt processes = 1;
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &processes));
  *threads = processes > 1 && std::getenv("OMP_NUM_THREADS") == nullptr ? 1 : 0;
  PetscFunctionReturn(kSuccess);
}

void take_format(std::string_view text, Settings& settings) {
  if (text == "auto") return;
  const FormatSpec spec = parse_format_spec(text);
  if (text == name_of(spec.format())) {
    settings.format = spec.format();
  } else {
    settings.product = ProductSpec{.format = spec};
  }
}

void take_values(std::string_view text, Settings& settings) {
  if (text == "auto") return;
  settings.values = stored_values_named(text);
  if (!settings.values) {
    throw InvalidArgument(
        fmt::format("-mat_strata_values is auto, full, constants, few or all, not '{}'", text));
  }
}

}  // namespace

ProductOptions Settings::for_products(bool transposed) const {
  return {.format = format,
          .product = product,
          .transposed = transposed,
          .values = values,
          .autotune = autotune == PETSC_TRUE,
          .threads = threads};
}

PowerOptions Settings::for_powers(int power) const {
  PowerOptions options{
      .power = power, .values = values, .autotune = autotune == PETSC_TRUE, .threads = threads};
  if (plans_run_in(format, KernelTarget::processor)) options.format = format;
  return options;
}

ProductOptions Settings::for_solvers() const {
  const PowerOptions powers = for_powers(1);
  return {.format = powers.format,
          .values = powers.values,
          .autotune = powers.autotune,
          .threads = powers.threads};
}

PetscErrorCode read_settings(Mat matrix, Settings* settings) {
  PetscFunctionBegin;
  std::array<char, 256> format{"auto"};
  std::array<char, 32> values{"auto"};
  const char* prefix = nullptr;
  int threads = 0;
  PetscCall(default_threads(&threads));
  PetscInt asked_threads = threads;
  PetscCall(PetscObjectGetOptionsPrefix(reinterpret_cast<PetscObject>(matrix), &prefix));
  PetscOptionsBegin(PetscObjectComm(reinterpret_cast<PetscObject>(matrix)), prefix,
                    "Options of matrices of type strata", "Mat");
  PetscCall(PetscOptionsString("-mat_strata_format",
                               "Format of products: auto, or NAME[:PARAMETER=NUMBER,...]", kManual,
                               format.data(), format.data(), format.size(), nullptr));
  PetscCall(PetscOptionsString("-mat_strata_values",
                               "How far values are encoded: auto, full, constants, few or all",
                               kManual, values.data(), values.data(), values.size(), nullptr));
  PetscCall(PetscOptionsInt("-mat_strata_threads", "Threads of a process; 0: those of OpenMP",
                            kManual, asked_threads, &asked_threads, nullptr));
  PetscCall(PetscOptionsBool("-mat_strata_autotune", "Time kernels and keep the fastest", kManual,
                             settings->autotune, &settings->autotune, nullptr));
  PetscCall(PetscOptionsInt("-mat_strata_delay",
                            "Products with the same values that PETSc makes first", kManual,
                            settings->delay, &settings->delay, nullptr));
  PetscOptionsEnd();
  PetscCall(guarded([&] {
    if (asked_threads < 0 || asked_threads > kMaxThreads) {
      throw InvalidArgument(
          fmt::format("-mat_strata_threads is 0 to {}, not {}", kMaxThreads, asked_threads));
    }
    settings->threads = static_cast<int>(asked_threads);
    take_format(format.data(), *settings);
    take_values(values.data(), *settings);
  }));
  PetscFunctionReturn(kSuccess);
}

}  // namespace strata::petsc
