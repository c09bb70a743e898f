#include "cli/parts/matrix_source.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "cli/parts/exit_status.hpp"
#include "strata/base/error.hpp"
#include "strata/gen/generate.hpp"

namespace strata::cli {

namespace {

std::string name_of_file(std::filesystem::path path) {
  if (path.extension() == ".gz") path.replace_extension();
  return path.stem().string();
}

MatrixMarketHeader header_of(const PetscBinaryFile& file) {
  return {.field =
              file.complex() ? MatrixMarketHeader::Field::complex : MatrixMarketHeader::Field::real,
          .rows = file.shape().rows,
          .cols = file.shape().cols,
          .stored_entries = file.entries()};
}

MatrixSource find_file(const std::string& argument) {
  std::error_code error;
  const std::size_t colon = argument.find(':');
  if (colon != std::string::npos && !std::filesystem::exists(argument, error)) {
    throw Failure(ExitStatus::input, fmt::format("{}: no such file, and no generator is called {}",
                                                 argument, argument.substr(0, colon)));
  }
  if (is_petsc_binary(argument)) {
    auto petsc = blame_input(argument, [&] { return std::make_shared<PetscBinaryFile>(argument); });
    return {.argument = argument,
            .name = name_of_file(argument),
            .header = header_of(*petsc),
            .file = nullptr,
            .petsc = petsc};
  }
  auto file = blame_input(argument, [&] { return std::make_shared<MatrixMarketFile>(argument); });
  return {.argument = argument,
          .name = name_of_file(argument),
          .header = file->header(),
          .file = file,
          .petsc = nullptr};
}

}  // namespace

MatrixSource find_matrix(const std::string& argument) {
  if (!is_generator_spec(argument)) return find_file(argument);
  return {.argument = argument,
          .name = argument,
          .header = std::nullopt,
          .file = nullptr,
          .petsc = nullptr};
}

Precision precision_for(const MatrixSource& source, const CommonOptions& options) {
  if (options.precision) return *options.precision;
  const bool complex = source.header && source.header->field == MatrixMarketHeader::Field::complex;
  return complex ? Precision::double_complex : Precision::double_real;
}

AnyMatrix load_matrix(const MatrixSource& source, const CommonOptions& options,
                      Progress& progress) {
  progress.start(fmt::format("{} {}", source.generated() ? "generating" : "reading", source.name));
  return blame_input(source.argument, [&] {
    return with_types(precision_for(source, options), options.index_bits,
                      [&]<Value V, Index I>() -> AnyMatrix {
                        if (source.generated()) return generate<V, I>(source.argument);
                        if (source.petsc) return source.petsc->read<V, I>();
                        return source.file->read<V, I>({.progress = progress.callback()});
                      });
  });
}

}  // namespace strata::cli
