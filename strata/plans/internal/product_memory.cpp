#include "strata/plans/internal/product_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace strata::detail {

bool ProductMemory::has_any(TuningMemory memory) {
  std::error_code unknown;
  return memory != TuningMemory::ignore && std::filesystem::exists(tuning_store_path(), unknown);
}

std::optional<TunedChoice> ProductMemory::look_up(std::vector<std::string>& remarks) const {
  if (memory_ == TuningMemory::ignore) return std::nullopt;
  TuningAnswer answer = TuningStore(tuning_store_path()).look_up(key_);
  if (!answer.problem.empty()) {
    remarks.push_back("what cannot be read of the tuning store is ignored: " + answer.problem);
  }
  return std::move(answer.choice);
}

std::string ProductMemory::refused_text(const TunedChoice& choice, const Error& refusal) {
  return fmt::format("the tuning store has {}, which does not take this matrix: {}",
                     label_of(choice.product()), refusal.what());
}

std::string ProductMemory::taken_text(const TunedChoice& choice) {
  return fmt::format("{} is in the tuning store as the fastest of {} that were timed on {}",
                     label_of(choice.product()), choice.candidates, choice.tuned_at);
}

void ProductMemory::remember(PlanRecord& record, double flops) const {
  const PowerCandidate& choice = record.choice();
  if (memory_ != TuningMemory::remember || choice.measured_seconds == 0) return;
  if (choice.order.moves_rows()) {
    record.remarks.emplace_back(
        "the choice is not in the tuning store, which has no orders of rows");
    return;
  }
  const auto timed = std::ranges::count_if(record.candidates, [](const PowerCandidate& candidate) {
    return candidate.measured_seconds > 0;
  });
  const ProductSpec spec = choice.spec();
  const std::string problem =
      TuningStore(tuning_store_path())
          .remember(key_, {.format = spec.format,
                           .kernel = spec.kernel,
                           .seconds = choice.measured_seconds,
                           .flops_per_second = flops / choice.measured_seconds,
                           .candidates = static_cast<int>(timed)});
  if (!problem.empty()) record.remarks.push_back("the choice is " + problem);
}

}  // namespace strata::detail
