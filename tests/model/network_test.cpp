#include "strata/model/network.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "strata/base/error.hpp"

namespace strata {
namespace {

constexpr MessageCost kTrue{.latency = 2e-6, .seconds_per_byte = 1e-10};

std::vector<TimedMessage> messages_of(const MessageCost& cost) {
  std::vector<TimedMessage> messages;
  for (const double bytes : {0.0, 8.0, 64.0, 512.0, 4096.0, 32'768.0, 262'144.0, 2'097'152.0}) {
    messages.push_back({bytes, cost.seconds(bytes)});
  }
  return messages;
}

TEST(FitOfMessages, FindsTheLineThatTimesLieOn) {
  const MessageCost fit = fit_messages(messages_of(kTrue));
  EXPECT_NEAR(fit.latency, kTrue.latency, 1e-12);
  EXPECT_NEAR(fit.seconds_per_byte, kTrue.seconds_per_byte, 1e-16);
}

TEST(FitOfMessages, IsNotMovedByOneThatWasInterrupted) {
  auto messages = messages_of(kTrue);
  for (std::size_t i = 0; i < messages.size(); ++i) {
    messages[i].seconds *= i % 2 == 0 ? 1.01 : 0.99;
  }
  messages[2].seconds = 1e-3;
  const MessageCost fit = fit_messages(messages);
  EXPECT_NEAR(fit.latency, kTrue.latency, 0.05 * kTrue.latency);
  EXPECT_NEAR(fit.seconds_per_byte, kTrue.seconds_per_byte, 0.05 * kTrue.seconds_per_byte);
}

TEST(FitOfMessages, HasNoNegativeNumbers) {
  const MessageCost falling = fit_messages(std::vector<TimedMessage>{{0, 3e-6}, {1000, 1e-6}});
  EXPECT_GT(falling.latency, 0);
  EXPECT_EQ(falling.seconds_per_byte, 0);
  const MessageCost steep = fit_messages(std::vector<TimedMessage>{{100, 1e-6}, {200, 3e-6}});
  EXPECT_GT(steep.latency, 0);
  EXPECT_GT(steep.seconds_per_byte, 0);
}

TEST(FitOfMessages, OfOneSizeIsLatencyAlone) {
  const MessageCost fit = fit_messages(std::vector<TimedMessage>{{64, 3e-6}, {64, 3e-6}});
  EXPECT_NEAR(fit.latency, 3e-6, 1e-15);
  EXPECT_EQ(fit.seconds_per_byte, 0);
}

TEST(FitOfMessages, RefusesNothingAndTimesThatAreImpossible) {
  EXPECT_THROW(fit_messages({}), InvalidArgument);
  EXPECT_THROW(fit_messages(std::vector<TimedMessage>{{8, 0}}), InvalidArgument);
  EXPECT_THROW(fit_messages(std::vector<TimedMessage>{{-8, 1}}), InvalidArgument);
}

TEST(NetworkModel, ReductionsGrowWithTheLogarithmOfRanks) {
  Network network{.in_node = {1e-6, 0}, .between_nodes = {3e-6, 0}};
  EXPECT_EQ(network.reduction(1), 0);
  EXPECT_DOUBLE_EQ(network.reduction(2), 3e-6);
  EXPECT_DOUBLE_EQ(network.reduction(5), 9e-6);
  EXPECT_DOUBLE_EQ(network.reduction(65536), 48e-6);
  network.reduction_seconds = 10e-6;
  network.ranks = 4;
  EXPECT_DOUBLE_EQ(network.reduction(4), 10e-6);
  EXPECT_DOUBLE_EQ(network.reduction(16), 20e-6);
  network.between_nodes = {};
  network.reduction_seconds = 0;
  EXPECT_DOUBLE_EQ(network.reduction(4), 2e-6);
}

}  // namespace
}  // namespace strata
