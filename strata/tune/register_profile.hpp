// RegisterProfile: PERF(r, c), how fast this machine multiplies a dense matrix stored in blocks of
// r × c. Divided by the fill of a sparse matrix in the same blocks it says how fast that will be;
// the largest quotient is the shape to take (SPARSITY: Im, Yelick, Vuduc, Int. J. High Perform.
// Comput. Appl. 18(1), 2004; OSKI: Vuduc, Demmel, Yelick, J. Phys. Conf. Ser. 16, 2005).
//
//   const auto A = strata::generate<double, std::int32_t>("stencil27:40x40x40,dof=3");
//   const auto known = strata::cached_register_profile(strata::Precision::double_real);
//   const auto choice = strata::choose_block_size(known.profile.flops_per_second,
//                                                 strata::estimate_fill(A.pattern()).fill());
//   choice.best;                       // {3, 3} with default figures
//   choice.expected.at(choice.best);   // flops per second, those of the nonzeros alone
//
// A profile is measured once per machine, precision, width of indices, threads and level of
// instructions, and stored beside the machine profile by the same rules (cached_profile.hpp): the
// fingerprint of the machine, the profile policy, and a file that is missing, corrupt or out of
// date costs a measurement, not an error.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "strata/base/types.hpp"
#include "strata/formats/any_matrix.hpp"
#include "strata/machine/profile.hpp"
#include "strata/machine/profile_policy.hpp"
#include "strata/tune/block_table.hpp"

namespace strata {

struct RegisterProfile {
  std::string processor;
  MachineFingerprint fingerprint;
  Precision precision = Precision::double_real;
  int index_bits = 32;
  int threads = 1;
  std::string level;  // of instructions, see kernels/cpu/levels.hpp
  Offset order = 0;   // of the dense matrix
  BlockTable flops_per_second = {};
  // How many times as long the slower of two rounds took on average: near 1 on a machine that has
  // nothing else to do.
  double spread = 1;
  std::string measured_at;  // ISO 8601, UTC
  double measuring_seconds = 0;

  bool operator==(const RegisterProfile&) const = default;
};

struct RegisterOptions {
  Precision precision = Precision::double_real;
  int index_bits = 32;
  int threads = 0;  // 0: thread_count()
  // Of the dense matrix, a multiple of kCommonBlockMultiple; 0: as large as twice the last-level
  // cache, between 1008 and 3600.
  Offset order = 0;
  double seconds = 1.5;         // roughly how long all of it may take
  double largest_spread = 1.5;  // beyond it the machine was too busy, and nothing is stored
  // Called with what comes next and the share of the work that is done. May throw to stop.
  std::function<void(std::string_view what, double share_done)> progress = {};
};

// Seconds of one product of the dense matrix in blocks of this size.
using BlockTimer = std::function<double(BlockSize)>;

// Times the kernels of processors for BCSR, on the threads of the options. Throws InvalidArgument
// for options that make no sense, Unavailable where there is no such kernel.
BlockTimer dense_block_timer(const RegisterOptions& options);

// Asks the timer twice for every shape, in two rounds, and takes the shorter time. Throws
// InvalidArgument for options that make no sense, and if a time is not positive and finite.
RegisterProfile measure_register_profile(const RegisterOptions& options, const BlockTimer& timer);

// What the bytes alone say: every value comes from memory, with its share of an index. It has the
// proportions of a machine that is bound by memory and not the speed of this one.
RegisterProfile default_register_profile(const RegisterOptions& options);

std::string to_json(const RegisterProfile& profile);
// Throws FileError naming `source` if the text is anything but what to_json writes.
RegisterProfile register_profile_from_json(std::string_view text, const std::string& source);

// Where the profile of these options on this machine belongs; empty if there is no cache_folder().
std::filesystem::path register_profile_path(const RegisterOptions& options);

struct CachedRegisterProfile {
  RegisterProfile profile;
  std::string remark = {};  // as that of a CachedProfile
  bool measured = false;    // just now, rather than loaded
  bool stored = false;      // so that the next process finds it
};

// The stored profile; if there is none, or a useless one, measures with what make_timer() gives and
// stores; as far as the policy allows, else a default_register_profile().
CachedRegisterProfile load_or_measure_registers(const std::filesystem::path& path,
                                                const RegisterOptions& options,
                                                const std::function<BlockTimer()>& make_timer,
                                                const ProfilePolicy& policy = profile_policy());

// The profile of thread_count() threads, found once per process and policy; measured with
// dense_block_timer() if it has to be, whose errors are thrown. The reference stays good until the
// process ends. May be called from any thread.
const CachedRegisterProfile& cached_register_profile(Precision precision, int index_bits = 32);

// What PERF and fill say about every shape.
struct BlockChoice {
  BlockSize best;       // argmax PERF(r, c) / fill(r, c); of equal ones the smallest
  BlockTable expected;  // PERF / fill: flops of the nonzeros per second

  // How many times as fast as single values, 1 × 1.
  double speed_up() const { return expected.at(best) / expected.at({1, 1}); }
};
// Throws InvalidArgument unless both tables are positive and finite everywhere.
BlockChoice choose_block_size(const BlockTable& flops_per_second, const BlockTable& fill);

}  // namespace strata
