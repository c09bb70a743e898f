// TuningStore: what was found to be fastest for a matrix on a machine, kept in a file, so that the
// next process does not time the same candidates again.
//
//   const auto A = strata::generate<double, std::int32_t>("stencil7:64x64x64");
//   const auto& machine = strata::cached_machine_profile().profile;
//   const strata::TuningKey key{.matrix = strata::fingerprint_of(A.pattern()),
//                               .machine = strata::machine_key(machine),
//                               .precision = strata::Precision::double_real,
//                               .threads = strata::thread_count(),
//                               .encoded_eighths = strata::encoded_eighths(A)};
//   const strata::TuningStore store(strata::tuning_store_path());
//   std::optional<strata::TunedChoice> choice = store.find(key);
//   if (!choice) {
//     choice = strata::TunedChoice{.format = strata::parse_format_spec("sell:slice_height=8"),
//                                  .seconds = 1e-3, .flops_per_second = 3.5e9,
//                                  .candidates = 12};  // after timing twelve of them
//     store.remember(key, *choice);
//   }
//
// The file is JSON, the oldest entry first, and is replaced whole. Entries that cannot be read
// (corrupt, of another version, with a format that is not known) count as absent and go when the
// file is next written; so does a file that is none of ours. When there are more entries than the
// capacity, the oldest go. Two processes that write at the same time may lose one's entry, which
// costs timing again. The profile policy holds: what may not be read is not found, what may not be
// written is not kept.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "strata/base/types.hpp"
#include "strata/formats/any_matrix.hpp"
#include "strata/formats/csr.hpp"
#include "strata/formats/fingerprint.hpp"
#include "strata/formats/format_spec.hpp"
#include "strata/kernels/product_spec.hpp"
#include "strata/machine/gpu/profile.hpp"
#include "strata/machine/profile.hpp"
#include "strata/machine/profile_policy.hpp"

namespace strata {

// What a choice depends on.
struct TuningKey {
  Fingerprint matrix;   // of its pattern
  std::string machine;  // machine_key()
  Precision precision = Precision::double_real;
  int threads = 0;          // of a processor; 0 on a GPU
  int vectors = 1;          // right-hand sides
  int encoded_eighths = 8;  // encoded_eighths()

  bool operator==(const TuningKey&) const = default;
};

// How far the values can be encoded, which decides about formats as the pattern does: the bytes
// that packed SELL takes for encoded values of a sample of rows, in eighths of those of full
// values.
template <Value V, Index I>
int encoded_eighths(const Csr<V, I>& matrix);

// A text that is another one wherever a profile would be out of date: of the fingerprint, the
// processor and its caches; of a GPU and its driver; and where there are other products to choose
// from, as in another version of the library. The same text for profiles measured twice.
std::string machine_key(const MachineProfile& profile);
std::string machine_key(const gpu::GpuProfile& profile);

struct TunedChoice {
  FormatSpec format;
  std::string kernel = {};                   // of the format's, as in ProductSpec
  std::vector<NamedNumber> parameters = {};  // of the kernel, besides those of the format
  double seconds = 0;                        // of one product
  double flops_per_second = 0;
  std::string tuned_at = {};  // ISO 8601, UTC; empty: when it is remembered
  int candidates = 0;         // that were timed

  ProductSpec product() const { return {format, kernel}; }
  bool operator==(const TunedChoice&) const = default;
};

// What a store knows about a key, and what it could not read meanwhile.
struct TuningAnswer {
  std::optional<TunedChoice> choice = {};
  std::string problem = {};  // why the store, or some of it, is ignored; empty: nothing is wrong
};

// In the cache_folder(); empty if there is none.
std::filesystem::path tuning_store_path();

class TuningStore {
 public:
  static constexpr std::size_t kDefaultCapacity = 1000;

  // An empty path keeps and finds nothing. Throws InvalidArgument for a capacity of 0.
  explicit TuningStore(std::filesystem::path path, ProfilePolicy policy = profile_policy(),
                       std::size_t capacity = kDefaultCapacity);

  // None if there is no entry for the key, or none that can be read.
  std::optional<TunedChoice> find(const TuningKey& key) const { return look_up(key).choice; }
  // The same, saying what is wrong with the store. No file yet is not wrong.
  TuningAnswer look_up(const TuningKey& key) const;

  // Replaces the entry of the same key, if there is one, and makes the new one the youngest.
  // Returns why it was not stored, empty if it was: the policy, no folder, one that cannot be
  // written or that is not the user's own. Throws InvalidArgument for a choice that could not have
  // been measured.
  std::string remember(const TuningKey& key, const TunedChoice& choice) const;

  // Of the entries that can be read.
  std::size_t size() const;

 private:
  std::filesystem::path path_;
  ProfilePolicy policy_;
  std::size_t capacity_;
};

}  // namespace strata
