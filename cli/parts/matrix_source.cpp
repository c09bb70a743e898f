#include "cli/parts/matrix_source.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "cli/parts/exit_status.hpp"
#include "strata/base/error.hpp"
#include "strata/gen/generate.hpp"

namespace strata::cli {

namespace {

// Runs `read`; what goes wrong inside is the fault of the input.
template <class Read>
auto blame_input(const std::string& argument, const Read& read) {
  const auto naming = [&](const std::string& why) {
    return why.starts_with(argument) ? why : argument + ": " + why;
  };
  try {
    return read();
  } catch (const FileError& error) {
    throw Failure(ExitStatus::input, error.what());
  } catch (const InvalidMatrix& error) {
    throw Failure(ExitStatus::input, naming(error.what()));
  } catch (const OverflowError& error) {
    throw Failure(ExitStatus::input, naming(error.what()));
  } catch (const InvalidArgument& error) {
    throw Failure(ExitStatus::usage, naming(error.what()));
  } catch (const std::bad_alloc&) {
    throw Failure(ExitStatus::failure, naming("out of memory"));
  }
}

std::string name_of_file(std::filesystem::path path) {
  if (path.extension() == ".gz") path.replace_extension();
  return path.stem().string();
}

MatrixSource find_file(const std::string& argument) {
  std::error_code error;
  const std::size_t colon = argument.find(':');
  if (colon != std::string::npos && !std::filesystem::exists(argument, error)) {
    throw Failure(ExitStatus::input, fmt::format("{}: no such file, and no generator is called {}",
                                                 argument, argument.substr(0, colon)));
  }
  auto file = blame_input(argument, [&] { return std::make_shared<MatrixMarketFile>(argument); });
  return {
      .argument = argument, .name = name_of_file(argument), .header = file->header(), .file = file};
}

}  // namespace

MatrixSource find_matrix(const std::string& argument) {
  if (!is_generator_spec(argument)) return find_file(argument);
  return {.argument = argument, .name = argument, .header = std::nullopt, .file = nullptr};
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
                        return source.file->read<V, I>({.progress = progress.callback()});
                      });
  });
}

}  // namespace strata::cli
