// Json: what results describe themselves with.

#include "strata/measure/json.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "strata/base/error.hpp"

namespace strata::test {
namespace {

TEST(Json, PairsThatBeginWithAStringAreAnObjectAndAnythingElseAnArray) {
  EXPECT_EQ(text_of(Json{{"rows", 3}, {"name", "x"}}), R"({"rows":3,"name":"x"})");
  EXPECT_EQ(text_of(Json{1, 2, 3}), "[1,2,3]");
  EXPECT_EQ(text_of(Json{{1, 2}, {"b", 2}}), R"([[1,2],["b",2]])");
  EXPECT_EQ(text_of(Json{"a", "b", "c"}), R"(["a","b","c"])");
  EXPECT_EQ(text_of(Json::object({{"only", Json::array()}})), R"({"only":[]})");
  EXPECT_EQ(text_of(Json{{"outer", {{"inner", true}, {"none", Json()}}}, {"n", 1}}),
            R"({"outer":{"inner":true,"none":null},"n":1})");
}

TEST(Json, MembersKeepTheirPlaceWhenTheyAreReplaced) {
  Json json{{"a", 1}, {"b", 2}};
  json["c"] = 3;
  json["a"] = "new";
  json.update({{"b", 5}, {"d", {1, 2, 3}}});
  EXPECT_EQ(text_of(json), R"({"a":"new","b":5,"c":3,"d":[1,2,3]})");
}

TEST(Json, NullBecomesWhatIsAddedToIt) {
  Json object;
  object["key"] = 1;
  EXPECT_EQ(text_of(object), R"({"key":1})");
  Json array;
  array.push_back({{"first", 1}, {"last", 2}});
  EXPECT_EQ(text_of(array), R"([{"first":1,"last":2}])");
}

TEST(Json, OnlyContainersTakeElements) {
  Json number = 1;
  EXPECT_THROW(number["key"], InvalidArgument);
  EXPECT_THROW(number.push_back(2), InvalidArgument);
  EXPECT_THROW(Json::object({{"no value"}}), InvalidArgument);
}

TEST(Json, WholeNumbersStayWholeAndRealOnesReal) {
  EXPECT_EQ(text_of(Json{std::int64_t{1} << 62, 5.0, 0.1, -2}), "[4611686018427387904,5.0,0.1,-2]");
}

TEST(Json, WhatJsonDoesNotHaveIsReplaced) {
  EXPECT_EQ(text_of(Json{std::numeric_limits<double>::infinity(), 1, 2}), "[null,1,2]");
  EXPECT_EQ(text_of(Json(std::string("caf\xe9"))), "\"caf\xEF\xBF\xBD\"");
}

TEST(Json, TextIsReadBackAsItWasWritten) {
  const std::string text =
      R"({"b":[1,-2.5,true,false,null,"é\n"],"a":{"x":{},"y":[]},"e":1e-300,"big":123456789012345})";
  EXPECT_EQ(text_of(parse_json(text)), text);
  EXPECT_EQ(text_of(parse_json(text_of(parse_json(text), 2))), text);
  EXPECT_THROW(parse_json("{\"open\": "), InvalidArgument);
}

TEST(Json, IndentedListsOfPlainValuesAndTheirObjectsAreOneLine) {
  const Json json = parse_json(
      R"({"a":[1,2.5,null],"b":{"x":1},"c":[{"k":"v","n":1},{"k":[],"n":2}],"d":{},"e":[]})");
  EXPECT_EQ(text_of(json, 2), R"({
  "a": [1,2.5,null],
  "b": {
    "x": 1
  },
  "c": [
    {"k":"v","n":1},
    {
      "k": [],
      "n": 2
    }
  ],
  "d": {},
  "e": []
})");
  EXPECT_EQ(text_of(Json(7), 2), "7");
}

}  // namespace
}  // namespace strata::test
