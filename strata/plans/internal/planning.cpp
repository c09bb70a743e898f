#include "strata/plans/internal/planning.hpp"

#include <fmt/format.h>

#include <chrono>
#include <utility>

#include "strata/base/checked.hpp"

namespace strata::detail {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

PartTimer::PartTimer(PlanRecord& record, PlanningPart::Kind kind, std::string subject)
    : record_(record), part_{kind, std::move(subject)}, started_(now()) {}

PartTimer::~PartTimer() {
  part_.seconds = now() - started_;
  const auto same = std::ranges::find_if(record_.parts, [&](const PlanningPart& other) {
    return other.kind == part_.kind && other.subject == part_.subject;
  });
  if (same == record_.parts.end()) {
    record_.parts.push_back(std::move(part_));
  } else {
    same->seconds += part_.seconds;
  }
}

std::string subject_of(const PowerCandidate& candidate) {
  return fmt::format("{}, rows {}", format_text(candidate), text_of(candidate.order));
}

std::vector<int> block_sizes(int power, int asked_for) {
  if (asked_for > 0) return {std::min(asked_for, power)};
  std::vector<int> sizes;
  for (const int parts : {1, 2, 3, 4}) {
    const int size = ceil_div(power, parts);
    if (size >= 2 && (sizes.empty() || sizes.back() != size)) sizes.push_back(size);
  }
  return sizes;
}

std::vector<int> blocks_of(int power, int block) {
  const int count = ceil_div(power, block);
  std::vector<int> blocks(static_cast<std::size_t>(count), power / count);
  for (int i = 0; i < power % count; ++i) ++blocks[static_cast<std::size_t>(i)];
  return blocks;
}

Offset level_group_bytes(Offset window_bytes, int block) {
  return std::max<Offset>(window_bytes / (Offset{block} + 1), 1);
}

Offset window_budget(const PowerOptions& options, Offset measured_bytes, double default_share) {
  const Offset bytes = options.cache_bytes > 0 ? options.cache_bytes : measured_bytes;
  const double share = options.cache_share > 0 ? options.cache_share : default_share;
  constexpr double kMost = 0x1p62;  // that an Offset holds, with room for sums
  return static_cast<Offset>(std::min(share * static_cast<double>(bytes), kMost));
}

double copy_bytes(const PowerOptions& options, bool reordered, double rows, double row_bytes,
                  double index_bytes) {
  if (options.vector_order == VectorOrder::plan || !reordered) return 0;
  return rows * (options.power + 1) * (3 * row_bytes + index_bytes);
}

namespace {

PlainReason plain_reason(const PlanRecord& record, const PowerOptions& options,
                         bool affords_sweeps) {
  if (!record.choice().plain()) return PlainReason::none;
  if (options.strategy == PowerStrategy::spmv) return PlainReason::asked_for;
  if (options.power == 1) return PlainReason::one_power;
  if (!affords_sweeps) return PlainReason::few_processors;
  const bool others = std::ranges::any_of(
      record.candidates, [](const PowerCandidate& candidate) { return !candidate.plain(); });
  if (others) return PlainReason::slower_otherwise;
  if (record.spreads_fast) return PlainReason::fast_expansion;
  return record.levels > 0 ? PlainReason::few_levels : PlainReason::in_cache;
}

// Seconds of plain products, of rows that move or do not; 0 if there are none.
double fastest_plain(const PlanRecord& record, bool moved) {
  double fastest = 0;
  for (const PowerCandidate& candidate : record.candidates) {
    if (!candidate.plain() || candidate.order.moves_rows() != moved) continue;
    fastest = fastest == 0 ? candidate.seconds() : std::min(fastest, candidate.seconds());
  }
  return fastest;
}

}  // namespace

void record_candidates(PlanRecord& record, std::vector<PowerCandidate> candidates,
                       const PowerOptions& options, bool affords_sweeps) {
  record.candidates = std::move(candidates);
  record.plain_seconds = fastest_plain(record, false);
  if (record.plain_seconds == 0) record.plain_seconds = fastest_plain(record, true);
  record.plain_reason = plain_reason(record, options, affords_sweeps);
}

double csr_seconds(const PlanRecord& record) {
  const auto csr = std::ranges::find_if(record.candidates, [](const PowerCandidate& candidate) {
    return is_csr_product(candidate) && candidate.measured_seconds > 0;
  });
  return csr == record.candidates.end() ? 0 : csr->measured_seconds;
}

void compare_with_csr(PlanRecord& record) {
  if (const double seconds = csr_seconds(record); seconds > 0) record.plain_seconds = seconds;
}

}  // namespace strata::detail
