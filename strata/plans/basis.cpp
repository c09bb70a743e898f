#include "strata/plans/basis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>
#include <utility>

#include "strata/base/error.hpp"
#include "strata/kernels/cpu/arithmetic.hpp"

namespace strata {

namespace {

void require_scale(double sigma) {
  // Too close to 0 the factor 1/σ is not finite.
  if (!std::isfinite(sigma) || !std::isfinite(1 / sigma)) {
    throw InvalidArgument(fmt::format("a basis cannot be scaled by {}", sigma));
  }
}

// 2/w, the factor of most steps, is not finite for the narrowest intervals.
bool is_interval(double low, double high) {
  return low < high && std::isfinite(high - low) && std::isfinite(2 / ((high - low) / 2));
}

}  // namespace

Basis Basis::monomial() {
  return {};
}

Basis Basis::scaled(double sigma) {
  require_scale(sigma);
  Basis basis;
  basis.kind_ = Kind::scaled;
  basis.sigma_ = sigma;
  return basis;
}

Basis Basis::newton(std::vector<std::complex<double>> shifts, double sigma) {
  require_scale(sigma);
  for (const auto& shift : shifts) {
    if (!std::isfinite(shift.real()) || !std::isfinite(shift.imag())) {
      throw InvalidArgument("a shift of a Newton basis is not finite");
    }
  }
  Basis basis;
  basis.kind_ = Kind::newton;
  basis.sigma_ = sigma;
  basis.shifts_ = std::move(shifts);
  return basis;
}

Basis Basis::chebyshev(double low, double high) {
  if (!is_interval(low, high)) {
    throw InvalidArgument(
        fmt::format("[{}, {}] is no interval for Chebyshev polynomials", low, high));
  }
  Basis basis;
  basis.kind_ = Kind::chebyshev;
  basis.low_ = low;
  basis.high_ = high;
  return basis;
}

template <Value V>
void Basis::require_shifts(int power) const {
  if (static_cast<std::size_t>(power) > shifts_.size()) {
    throw InvalidArgument(fmt::format("{} powers need as many shifts, the Newton basis has {}",
                                      power, shifts_.size()));
  }
  if constexpr (!is_complex<V>) {
    for (std::size_t k = 0; k < static_cast<std::size_t>(power); ++k) {
      if (shifts_[k].imag() == 0) continue;
      // Also where the last power is the first of a pair: its step takes the second for granted.
      const bool paired = k + 1 < shifts_.size() && shifts_[k + 1] == std::conj(shifts_[k]);
      if (!paired) {
        throw InvalidArgument(fmt::format(
            "shift {} is complex and not followed by its conjugate; real vectors need pairs",
            k + 1));
      }
      ++k;
    }
  }
}

template <Value V>
void Basis::require_steps(int power) const {
  if (kind_ == Kind::newton) require_shifts<V>(power);
  // Without shifts all steps from the second on are alike.
  const int different = kind_ == Kind::newton ? power : std::min(power, 2);
  for (int k = 1; k <= different; ++k) step<V>(k);
}

template <Value V>
cpu::StepCoefficients<V> Basis::coefficients(int k) const {
  using Real = decltype(std::abs(V{}));
  const auto real = [](double number) { return V(static_cast<Real>(number)); };
  switch (kind_) {
    case Kind::monomial: return {};
    case Kind::scaled: return {.alpha = real(1 / sigma_)};
    case Kind::newton: {
      const std::complex<double> shift = shifts_[k - 1];
      if constexpr (is_complex<V>) {
        return {.alpha = real(1 / sigma_),
                .shift = V(static_cast<Real>(shift.real()), static_cast<Real>(shift.imag()))};
      } else {
        // Pairs are next to each other, so counting complex shifts tells the first from the second.
        int complex_before = 0;
        for (int j = 0; j + 1 < k; ++j) complex_before += shifts_[j].imag() != 0 ? 1 : 0;
        const bool second = shift.imag() != 0 && complex_before % 2 == 1;
        const double scaled = shift.imag() / sigma_;
        return {.alpha = real(1 / sigma_),
                .shift = real(shift.real()),
                .beta = second ? real(scaled * scaled) : V{}};
      }
    }
    case Kind::chebyshev: {
      const double half_width = (high_ - low_) / 2;
      return {.alpha = real((k == 1 ? 1 : 2) / half_width),
              .shift = real(std::midpoint(low_, high_)),
              .beta = k == 1 ? V{} : real(-1)};
    }
  }
  return {};
}

template <Value V>
cpu::StepCoefficients<V> Basis::step(int k) const {
  using Real = decltype(std::abs(V{}));
  const auto refuse = [](std::string_view what) {
    throw InvalidArgument(fmt::format("{} in {} precision", what,
                                      sizeof(Real) == sizeof(float) ? "single" : "double"));
  };
  if (kind_ == Kind::chebyshev && static_cast<Real>(low_) == static_cast<Real>(high_)) {
    refuse(fmt::format("the interval [{}, {}] is a single number", low_, high_));
  }
  const cpu::StepCoefficients<V> step = coefficients<V>(k);
  if (!std::isnormal(std::real(step.alpha))) {
    refuse(fmt::format("step {} of the basis {} has a factor that is no normal number", k, name()));
  }
  if (!cpu::is_finite(step.shift) || !cpu::is_finite(step.beta)) {
    refuse(fmt::format("step {} of the basis {} has a coefficient that overflows", k, name()));
  }
  return step;
}

std::string Basis::name() const {
  switch (kind_) {
    case Kind::monomial: return "monomial";
    case Kind::scaled: return fmt::format("scaled by {}", sigma_);
    case Kind::newton: return fmt::format("Newton with {} shifts", shifts_.size());
    case Kind::chebyshev: return fmt::format("Chebyshev on [{}, {}]", low_, high_);
  }
  return {};
}

#define STRATA_INSTANTIATE(V)                       \
  template void Basis::require_steps<V>(int) const; \
  template cpu::StepCoefficients<V> Basis::step<V>(int) const
STRATA_INSTANTIATE(float);
STRATA_INSTANTIATE(double);
STRATA_INSTANTIATE(std::complex<float>);
STRATA_INSTANTIATE(std::complex<double>);

}  // namespace strata
