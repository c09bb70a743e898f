// What a plan records of its set-up.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <initializer_list>

#include "strata/plans/candidate.hpp"

namespace strata::test {

// Has parts of these kinds, each once, the longest first, that take no longer than all.
inline void expect_parts(const PlanRecord& record,
                         std::initializer_list<PlanningPart::Kind> kinds) {
  EXPECT_TRUE(std::ranges::is_sorted(record.parts, std::ranges::greater{}, &PlanningPart::seconds));
  double sum = 0;
  for (const PlanningPart& part : record.parts) sum += part.seconds;
  EXPECT_LE(sum, record.setup_seconds);
  for (const PlanningPart::Kind kind : kinds) {
    EXPECT_NE(std::ranges::count(record.parts, kind, &PlanningPart::kind), 0) << name_of(kind);
  }
  for (const PlanningPart& part : record.parts) {
    const auto same = [&](const PlanningPart& other) {
      return other.kind == part.kind && other.subject == part.subject;
    };
    EXPECT_EQ(std::ranges::count_if(record.parts, same), 1) << name_of(part.kind) << part.subject;
  }
}

}  // namespace strata::test
