// ProductMemory: what a product plan has to do with the tuning store, on every device.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "strata/base/error.hpp"
#include "strata/plans/candidate.hpp"
#include "strata/plans/plan_options.hpp"
#include "strata/tune/tuning_store.hpp"

namespace strata::detail {

class ProductMemory {
 public:
  // Whether there is anything to recall: the key of a matrix takes longer to find.
  static bool has_any(TuningMemory memory);

  ProductMemory(TuningMemory memory, TuningKey key) : memory_(memory), key_(std::move(key)) {}

  // The fastest of an earlier search, if the store may be asked, knows one, and propose(spec) takes
  // it. Remarks say what was found, and why something was not taken.
  template <class Propose>
  std::optional<TunedChoice> recall(std::vector<std::string>& remarks,
                                    const Propose& propose) const {
    std::optional<TunedChoice> choice = look_up(remarks);
    if (!choice) return std::nullopt;
    try {
      propose(choice->product());
    } catch (const Error& refusal) {
      remarks.push_back(refused_text(*choice, refusal));
      return std::nullopt;
    }
    remarks.push_back(taken_text(*choice));
    return choice;
  }

  // The choice of the plan, if it may be stored and was timed. `flops`: of a product.
  void remember(PlanRecord& record, double flops) const;

 private:
  std::optional<TunedChoice> look_up(std::vector<std::string>& remarks) const;
  static std::string refused_text(const TunedChoice& choice, const Error& refusal);
  static std::string taken_text(const TunedChoice& choice);

  TuningMemory memory_;
  TuningKey key_;
};

// The floating-point operations of a product.
template <Value V>
double product_flops(Offset entries, int vectors) {
  constexpr double kFlops = is_complex<V> ? 8 : 2;  // of an entry and a vector
  return kFlops * static_cast<double>(entries) * vectors;
}

}  // namespace strata::detail
