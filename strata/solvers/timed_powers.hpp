// Powers whose time and products are counted, to say where a solver spends them.
#pragma once

#include "strata/solvers/powers.hpp"
#include "strata/solvers/timed_operator.hpp"

namespace strata::solvers {

template <class Space>
class TimedPowers final : public Powers<Space> {
 public:
  using typename Powers<Space>::Value;
  using typename Powers<Space>::View;
  using typename Powers<Space>::ConstView;

  explicit TimedPowers(Powers<Space>& powers) : powers_(powers) {}

  double seconds() const { return seconds_; }

  int power() const override { return powers_.power(); }
  void set_basis(const Basis& basis) override { powers_.set_basis(basis); }
  void multiply(ConstView x, View y) override {
    timed([&] { powers_.multiply(x, y); });
  }
  void apply_first(int count, ConstView x, View powers) override {
    timed([&] { powers_.apply_first(count, x, powers); });
  }
  void apply_sum(ConstView x, std::span<const Value> coefficients, View sum) override {
    timed([&] { powers_.apply_sum(x, coefficients, sum); });
  }

 private:
  template <class Work>
  void timed(const Work& work) {
    const ClockedScope clock(seconds_);
    work();
  }

  Powers<Space>& powers_;
  double seconds_ = 0;
};

}  // namespace strata::solvers
