#include "strata/tune/internal/search.hpp"

#include <fmt/format.h>

#include "strata/kernels/cpu/step_arguments.hpp"

namespace strata::detail {

namespace {

constexpr int kMostOfFormat = 3;  // of the candidates that are timed

std::pair<int, double> place_of(const SearchedProduct& product) {
  if (product.seconds > 0) return {0, product.seconds};
  if (product.refusal.empty()) return {1, product.predicted.seconds()};
  return {2, 0};
}

}  // namespace

void require_sense(const SearchOptions& options) {
  if (options.timed < 1 || !(options.min_seconds >= 0)) {
    throw InvalidArgument("a search times one candidate or more, and not for less than no time");
  }
  if (options.vectors < 1 || options.vectors > cpu::kMaxVectors) {
    throw InvalidArgument(
        fmt::format("products have 1 to {} vectors, not {}", cpu::kMaxVectors, options.vectors));
  }
  if (options.alpha && !(*options.alpha >= 0)) {
    throw InvalidArgument("x comes from memory for no entry or for some, not for fewer than none");
  }
}

bool needs_all_rows(Format format) {
  return format == Format::dia || format == Format::symmetric_csr;
}

double share_of_csr_kernel(Format format) {
  // DIA has no columns to load, symmetric CSR adds to two results for every entry.
  return format == Format::dia ? 0.5 : 1.4;
}

bool is_baseline(const SearchedProduct& product) {
  return product.spec == ProductSpec{FormatSpec(Format::csr)};
}

// What a sample says too well of a format, it says of all its parameters; and of encoded values it
// says so little that the smallest of those takes part in any case.
void find_contenders(std::vector<SearchedProduct>& ranked, int timed) {
  std::vector<SearchedProduct*> taken;
  SearchedProduct* encoded = nullptr;
  for (SearchedProduct& product : ranked) {
    if (!product.refusal.empty()) break;
    const Format format = product.spec.format.format();
    const auto of_format = std::ranges::count_if(
        taken, [&](const SearchedProduct* other) { return other->spec.format.format() == format; });
    const bool smaller = encoded == nullptr || product.predicted_bytes < encoded->predicted_bytes;
    if (smaller && encodes_values(product.spec.format)) encoded = &product;
    if (is_baseline(product)) {
      product.contender = true;
    } else if (std::ssize(taken) < timed && of_format < kMostOfFormat) {
      taken.push_back(&product);
    }
  }
  if (encoded != nullptr && timed > 1 && std::ranges::find(taken, encoded) == taken.end()) {
    if (std::ssize(taken) == timed) taken.pop_back();
    taken.push_back(encoded);
  }
  for (SearchedProduct* product : taken) product->contender = true;
}

void sort_by_place(std::vector<SearchedProduct>& products) {
  std::ranges::stable_sort(products, {}, place_of);
}

void compare_with_csr(std::vector<SearchedProduct>& products) {
  const auto csr = std::ranges::find_if(products, is_baseline);
  if (csr == products.end() || csr->seconds == 0) return;
  const SetupAndProduct baseline{csr->setup_seconds, csr->seconds};
  for (SearchedProduct& product : products) {
    if (product.seconds == 0) continue;
    product.break_even = break_even_products({product.setup_seconds, product.seconds}, baseline);
  }
}

}  // namespace strata::detail
