// What plans of all devices refuse, in the same words.
#pragma once

#include <string_view>

#include "strata/base/identity.hpp"
#include "strata/base/types.hpp"
#include "strata/kernels/has_kernel.hpp"
#include "strata/plans/plan_options.hpp"

namespace strata::detail {

using Target = KernelTarget;

// Throws InvalidArgument for options that make no sense or do not go together, and Unavailable for
// what the target does not have. Whether the matrix is square is not asked here.
template <Value V>
void require_options(Offset rows, const PowerOptions& options, Target target);

// Throws InvalidArgument unless the matrix is square.
void require_powers(Offset rows, Offset cols);

// Throws InvalidArgument for options of products that do not go together.
void require_product_options(const ProductOptions& options);

// A product plan is a plan for one power: everything that both kinds of options have.
PowerOptions as_power_options(const ProductOptions& options);

// Throws InvalidArgument unless a span has an element per row and vector.
void require_elements(std::string_view what, Offset elements, Offset rows, int vectors);

// Throws InvalidArgument if two arrays of so many bytes overlap.
void require_apart(const void* x, Offset x_bytes, const void* out, Offset out_bytes);

// Throws InvalidArgument unless a workspace was made (by whom, or null), for this plan, and has as
// many vectors as are needed.
void require_workspace(const Identity* made_for, Identity plan, Offset vectors, Offset needed);

[[noreturn]] void throw_empty_plan();

// What is behind a plan. Throws InvalidArgument if there is nothing.
template <class Prepared>
Prepared& require_prepared(Prepared* prepared) {
  if (prepared == nullptr) throw_empty_plan();
  return *prepared;
}

}  // namespace strata::detail
