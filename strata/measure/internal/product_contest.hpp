// What the product benchmark does on every device and for all types: who takes part, timing in
// turn, speed-ups, and what the models say of a time. All contenders read the same x and write the
// same y.
#pragma once

#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "strata/machine/gpu/profile.hpp"
#include "strata/machine/profile.hpp"
#include "strata/measure/contest.hpp"
#include "strata/measure/matrix_analysis.hpp"
#include "strata/measure/product_device.hpp"
#include "strata/measure/product_result.hpp"

namespace strata::internal {

// A product that is ready to run.
struct MadeProduct {
  Offset bytes = 0;  // of its matrix, without vectors
  std::function<void()> multiply = {};
};

// Of the device that products run on.
using DeviceProfile = std::variant<const MachineProfile*, const gpu::GpuProfile*>;

class ProductContest {
 public:
  // `check` judges y.
  ProductContest(ProductWork work, ContestVectors vectors, std::function<Check()> check,
                 ContestOptions options, DeviceProfile profile);

  const ContestOptions& options() const { return options_; }
  // What results say was predicted for the matrix.
  void set_predicted_alpha(std::optional<double> alpha) { predicted_alpha_ = alpha; }

  // Makes a product, which takes the time of its set-up. `make` may say more about it in the
  // result; an Error that it throws is why the product takes no part.
  void enter(ProductResult result, const std::function<MadeProduct(ProductResult& result)>& make);
  // One that is made already, or was refused.
  template <class Peer>
  void enter_peer(ProductResult result, const Peer& peer, std::function<void()> multiply) {
    result.backend = "vendor";
    result.format = peer.parameters.empty() ? FormatSpec(peer.format)
                                            : FormatSpec(peer.format.format, peer.parameters);
    result.label = peer.name;
    const double seconds = peer.setup_seconds;
    enter(std::move(result), [&](ProductResult&) {
      if (peer.refusal) std::rethrow_exception(peer.refusal);
      return MadeProduct{peer.bytes, std::move(multiply)};
    });
    entered_.back().result.setup_seconds = seconds;
  }

  // Times and checks those that have entered since the last time. If none of them runs for another
  // reason than that formats refuse the matrix, that is thrown.
  std::vector<ProductResult> hold();

 private:
  struct Entered {
    ProductResult result;
    std::function<void()> multiply;  // none if it was refused
  };

  void count(Entered& entered) const;
  void compare();
  void compare_with_csr(ProductResult& result) const;
  void infer_alpha(ProductResult& result) const;
  ProductDevice device_of(const ProductResult& result) const;

  ProductWork work_;
  ContestVectors vectors_;
  std::function<Check()> check_;
  ContestOptions options_;
  DeviceProfile profile_;
  std::optional<double> predicted_alpha_;
  std::vector<Entered> entered_;
  double fastest_peer_ = 0;             // in seconds; 0 until one has run
  std::optional<SetupAndProduct> csr_;  // the first kernel of CSR that has run
  std::exception_ptr failure_;          // the first that was no mere refusal
};

}  // namespace strata::internal
