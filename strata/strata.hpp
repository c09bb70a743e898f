// All of Strata that needs no GPU, in one header:
//
//   #include <strata/strata.hpp>
//
//   const auto A = strata::generate<double, std::int32_t>("stencil7:64x64x64");
//   const auto plan = strata::plan_powers(A, {.power = 4});
//   std::vector<double> x(plan.vector_rows(), 1.0), powers(4 * x.size());
//   auto workspace = plan.make_workspace();
//   plan.apply(x, powers, workspace);  // Ax, A²x, A³x, A⁴x
//
// Programs that care for the time their compilation takes include the headers they need; this list
// is a table of contents for them.
#pragma once

// Errors, types, arrays and threads.
#include "strata/base/affinity.hpp"
#include "strata/base/array.hpp"
#include "strata/base/error.hpp"
#include "strata/base/parallel.hpp"
#include "strata/base/processors.hpp"
#include "strata/base/types.hpp"
#include "strata/base/version.hpp"

// Matrices: CSR, owned or borrowed; with types chosen at run time; in other formats.
#include "strata/formats/any_matrix.hpp"
#include "strata/formats/bcsr.hpp"
#include "strata/formats/blocked_coo.hpp"
#include "strata/formats/coo.hpp"
#include "strata/formats/csc.hpp"
#include "strata/formats/csr.hpp"
#include "strata/formats/dia.hpp"
#include "strata/formats/ell.hpp"
#include "strata/formats/fingerprint.hpp"
#include "strata/formats/footprint.hpp"
#include "strata/formats/format.hpp"
#include "strata/formats/format_spec.hpp"
#include "strata/formats/hyb.hpp"
#include "strata/formats/hyb_rules.hpp"
#include "strata/formats/jds.hpp"
#include "strata/formats/loaded_columns.hpp"
#include "strata/formats/matrix_shape.hpp"
#include "strata/formats/packed_sell.hpp"
#include "strata/formats/registry.hpp"
#include "strata/formats/sell.hpp"
#include "strata/formats/statistics.hpp"
#include "strata/formats/symmetric_csr.hpp"

// Where matrices come from: generators and files.
#include "strata/gen/blocks.hpp"
#include "strata/gen/extrude.hpp"
#include "strata/gen/generate.hpp"
#include "strata/io/matrix_market.hpp"
#include "strata/io/matrix_market_part.hpp"
#include "strata/io/petsc_binary.hpp"
#include "strata/io/spy_plot.hpp"

// Orders of rows.
#include "strata/order/level_groups.hpp"
#include "strata/order/levels.hpp"
#include "strata/order/padded_order.hpp"
#include "strata/order/permutation.hpp"
#include "strata/order/rcm.hpp"
#include "strata/order/spreading.hpp"
#include "strata/order/symmetrise.hpp"

// Plans: analyse a matrix once, apply it many times.
#include "strata/plans/any_plan.hpp"
#include "strata/plans/basis.hpp"
#include "strata/plans/candidate.hpp"
#include "strata/plans/plan_formats.hpp"
#include "strata/plans/plan_options.hpp"
#include "strata/plans/power_plan.hpp"
#include "strata/plans/product_plan.hpp"
#include "strata/plans/strided_vectors.hpp"

// Linear systems, eigenvalues and functions of matrices, by plans.
#include "strata/solvers/cost.hpp"
#include "strata/solvers/density_of_states.hpp"
#include "strata/solvers/eigen_result.hpp"
#include "strata/solvers/eigen_solver.hpp"
#include "strata/solvers/exponential.hpp"
#include "strata/solvers/linear_solver.hpp"
#include "strata/solvers/page_rank.hpp"
#include "strata/solvers/solve_result.hpp"

// The methods by themselves, for operators of any kind, and what they are made of.
#include "strata/solvers/bicgstab.hpp"
#include "strata/solvers/block.hpp"
#include "strata/solvers/block_jacobi.hpp"
#include "strata/solvers/ca_cg.hpp"
#include "strata/solvers/ca_gmres.hpp"
#include "strata/solvers/ca_lanczos.hpp"
#include "strata/solvers/cg.hpp"
#include "strata/solvers/chebyshev_filter.hpp"
#include "strata/solvers/chebyshev_iteration.hpp"
#include "strata/solvers/chebyshev_moments.hpp"
#include "strata/solvers/chebyshev_series.hpp"
#include "strata/solvers/dense.hpp"
#include "strata/solvers/diagonal.hpp"
#include "strata/solvers/exponential_polynomial.hpp"
#include "strata/solvers/fused_ca_gmres.hpp"
#include "strata/solvers/fused_cg.hpp"
#include "strata/solvers/fused_gmres.hpp"
#include "strata/solvers/fused_minres.hpp"
#include "strata/solvers/gmres.hpp"
#include "strata/solvers/hermitian.hpp"
#include "strata/solvers/hessenberg.hpp"
#include "strata/solvers/inverse_polynomial.hpp"
#include "strata/solvers/krylov_basis.hpp"
#include "strata/solvers/lanczos.hpp"
#include "strata/solvers/method.hpp"
#include "strata/solvers/minres.hpp"
#include "strata/solvers/power_iteration.hpp"
#include "strata/solvers/powers.hpp"
#include "strata/solvers/processor_powers.hpp"
#include "strata/solvers/processor_space.hpp"
#include "strata/solvers/spectrum_bounds.hpp"
#include "strata/solvers/swept_polynomial.hpp"
#include "strata/solvers/thick_restart.hpp"
#include "strata/solvers/timed_operator.hpp"
#include "strata/solvers/vector_program.hpp"

// Products: the reference of every format, and one step of a recurrence on a range of rows.
#include "strata/kernels/cpu/entry_parts.hpp"
#include "strata/kernels/cpu/levels.hpp"
#include "strata/kernels/cpu/line_windows.hpp"
#include "strata/kernels/cpu/parts.hpp"
#include "strata/kernels/cpu/step.hpp"
#include "strata/kernels/cpu/step_arguments.hpp"
#include "strata/kernels/cpu/stored_product.hpp"
#include "strata/kernels/cpu/team_product.hpp"
#include "strata/kernels/has_kernel.hpp"
#include "strata/kernels/product_spec.hpp"
#include "strata/kernels/reference/spmv.hpp"

// How fast machines are, what they may be asked, and what that predicts.
#include "strata/machine/cached_network.hpp"
#include "strata/machine/cached_profile.hpp"
#include "strata/machine/default_profile.hpp"
#include "strata/machine/gpu/cached_profile.hpp"
#include "strata/machine/gpu/profile.hpp"
#include "strata/machine/measure.hpp"
#include "strata/machine/profile.hpp"
#include "strata/machine/profile_policy.hpp"
#include "strata/machine/system.hpp"
#include "strata/model/balance.hpp"
#include "strata/model/cache_simulator.hpp"
#include "strata/model/network.hpp"
#include "strata/model/persistent_sweep_model.hpp"
#include "strata/model/power_model.hpp"
#include "strata/model/product_model.hpp"
#include "strata/model/rank_traffic.hpp"
#include "strata/model/scaling_model.hpp"
#include "strata/model/trace.hpp"
#include "strata/model/warp_model.hpp"

// Tuning: what is fastest for a matrix on this machine, and remembering it.
#include "strata/tune/block_table.hpp"
#include "strata/tune/fill_estimate.hpp"
#include "strata/tune/heat_map.hpp"
#include "strata/tune/product_prediction.hpp"
#include "strata/tune/product_search.hpp"
#include "strata/tune/register_profile.hpp"
#include "strata/tune/tuning_store.hpp"

// Timing, checking, and contests of ways to compute the same.
#include "strata/bench/timing.hpp"
#include "strata/measure/contest.hpp"
#include "strata/measure/json.hpp"
#include "strata/measure/matrix_analysis.hpp"
#include "strata/measure/peer.hpp"
#include "strata/measure/power_contest.hpp"
#include "strata/measure/power_formulas.hpp"
#include "strata/measure/power_result.hpp"
#include "strata/measure/product_contest.hpp"
#include "strata/measure/product_device.hpp"
#include "strata/measure/product_result.hpp"
#include "strata/measure/validation.hpp"
#include "strata/measure/vectors.hpp"
