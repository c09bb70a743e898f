#include "strata/machine/cached_network.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "strata/base/error.hpp"
#include "tests/machine/support.hpp"

namespace strata::test {
namespace {

namespace fs = std::filesystem;

NetworkProfile profile_of_two_nodes() {
  return {.network = {.in_node = {4e-7, 1.25e-10},
                      .between_nodes = {1.7e-6, 9e-11},
                      .reduction_seconds = 8.5e-6,
                      .ranks = 8},
          .host = "node1",
          .nodes = 2,
          .measured_at = "2026-11-17T18:00:00Z"};
}

class StoredNetwork : public testing::Test {
 protected:
  StoredNetwork() {
    std::string name = (fs::temp_directory_path() / "strata-network-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("cannot make a folder");
    folder_ = name;
  }
  ~StoredNetwork() override { fs::remove_all(folder_); }
  fs::path file() const { return folder_ / "network.json"; }

  fs::path folder_;
};

TEST_F(StoredNetwork, ComesBackAsItWas) {
  EXPECT_EQ(load_network(file()), std::nullopt);
  save_network(profile_of_two_nodes(), file());
  EXPECT_EQ(load_network(file()), profile_of_two_nodes());
}

TEST_F(StoredNetwork, KeepsWhatRanksOfOneNodeCannotMeasure) {
  save_network(profile_of_two_nodes(), file());
  NetworkProfile one_node = profile_of_two_nodes();
  one_node.network.in_node.latency = 5e-7;
  one_node.network.between_nodes = {};
  one_node.nodes = 1;
  save_network(one_node, file());
  const NetworkProfile stored = load_network(file()).value();
  EXPECT_EQ(stored.network.in_node.latency, 5e-7);
  EXPECT_EQ(stored.network.between_nodes, profile_of_two_nodes().network.between_nodes);
}

TEST_F(StoredNetwork, OfOneRankKnowsNothingAndSaysSo) {
  save_network({.network = {}, .host = "alone", .nodes = 1, .measured_at = "now"}, file());
  const NetworkProfile stored = load_network(file()).value();
  EXPECT_FALSE(stored.network.in_node.known());
  EXPECT_FALSE(stored.network.between_nodes.known());
}

TEST_F(StoredNetwork, RefusesWhatItDidNotWrite) {
  std::string text = to_json(profile_of_two_nodes());
  EXPECT_THROW(network_from_json("{", "a file"), FileError);
  EXPECT_THROW(network_from_json("{\"format\": 99}", "a file"), FileError);
  text.replace(text.find("4e-07"), 5, "-4e-7");
  EXPECT_THROW(network_from_json(text, "a file"), FileError);
  std::ofstream(file()) << "nonsense";
  EXPECT_THROW(load_network(file()), FileError);
  save_network(profile_of_two_nodes(), file());  // replaces it
  EXPECT_EQ(load_network(file()), profile_of_two_nodes());
}

}  // namespace
}  // namespace strata::test
