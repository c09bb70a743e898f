// The profile of a machine that does not exist, with numbers that are easy to recognise.
#pragma once

#include "strata/machine/profile.hpp"
#include "strata/machine/system.hpp"

namespace strata::test {

inline constexpr Offset kKilo = 1000;
inline constexpr Offset kMega = 1000 * kKilo;
inline constexpr double kGiga = 1e9;

// One thread: 100 GB/s up to 1 MB, 40 up to 16 MB, 10 from memory; four threads: three times that
// up to four times as much, 60 up to 16 MB, 20 from memory. Its fingerprint is that of this
// machine.
inline MachineProfile imaginary_machine() {
  MachineProfile profile;
  profile.processor = "Imaginary 4000";
  profile.fingerprint = machine_fingerprint();
  profile.cores = 4;
  profile.caches = {{1, 32 * kKilo, 1}, {2, 1 * kMega, 1}, {3, 16 * kMega, 4}};
  profile.read = {{1, 100 * kKilo, 100 * kGiga}, {1, 1 * kMega, 100 * kGiga},
                  {1, 16 * kMega, 40 * kGiga},   {1, 100 * kMega, 10 * kGiga},
                  {4, 400 * kKilo, 300 * kGiga}, {4, 4 * kMega, 300 * kGiga},
                  {4, 16 * kMega, 60 * kGiga},   {4, 100 * kMega, 20 * kGiga}};
  profile.plateaus = {{1, 1 * kMega, 100 * kGiga},  {1, 16 * kMega, 40 * kGiga},
                      {1, 100 * kMega, 10 * kGiga}, {4, 4 * kMega, 300 * kGiga},
                      {4, 16 * kMega, 60 * kGiga},  {4, 100 * kMega, 20 * kGiga}};
  profile.stream = {21 * kGiga, 22 * kGiga, 23 * kGiga, 24 * kGiga, 25 * kGiga, 48 * kMega};
  profile.flops_per_second = 80 * kGiga;
  profile.fork_join_seconds = 1.25e-6;
  profile.handoff_seconds = 0.1e-6;
  profile.hockney = {2e-6, 1.0 / 3 * 60 * kGiga, 0.03};
  profile.measured_at = "2026-01-02T03:04:05Z";
  profile.measuring_seconds = 12.5;
  profile.spread = 1.25;
  return profile;
}

}  // namespace strata::test
