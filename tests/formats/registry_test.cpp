// Formats that are known only when a program runs: by name, with parameters, as text.
#include "strata/formats/registry.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "strata/formats/statistics.hpp"
#include "tests/support/format_check.hpp"

namespace strata {
namespace {

// make() throws InvalidArgument with this message.
template <class Make>
void expect_refused(Make&& make, const std::string& message) {
  try {
    make();
    ADD_FAILURE() << "nothing thrown, expected: " << message;
  } catch (const InvalidArgument& error) {
    EXPECT_EQ(error.what(), message);
  }
}

// "there is no format 'word'; there are coo, csr, …"
std::string no_format(const std::string& word) {
  std::string message = "there is no format '" + word + "'; there are ";
  for (const Format format : kFormats) {
    message += std::string(name_of(format)) + ", ";
  }
  return message + "packed-sell-full";
}

std::vector<std::string> texts_of(const std::vector<FormatSpec>& specs) {
  std::vector<std::string> texts;
  for (const FormatSpec& spec : specs) texts.push_back(text_of(spec));
  return texts;
}

const MatrixStatistics kGeneral{};
const MatrixStatistics kSymmetric{.value_symmetry = Symmetry::symmetric};

TEST(FormatSpec, ParametersThatAreNotGivenHaveTheirDefaults) {
  const FormatSpec spec = parse_format_spec("sell:sort_window=64");
  EXPECT_EQ(spec.format(), Format::sell);
  EXPECT_EQ(spec.parameter("slice_height"), 32);
  EXPECT_EQ(spec.parameter("sort_window"), 64);
  EXPECT_EQ(spec.parameter("block_rows"), std::nullopt);
  EXPECT_EQ(spec, FormatSpec(Format::sell, {{"sort_window", 64}, {"slice_height", 32}}));
  EXPECT_EQ(FormatSpec(), parse_format_spec("csr"));
  EXPECT_EQ(FormatSpec(StoredFormat{Format::packed_sell, 8}),
            parse_format_spec("packed-sell:slice_height=8"));
  EXPECT_EQ(FormatSpec(StoredFormat{Format::packed_sell, 8, StoredValues::few}),
            parse_format_spec("packed-sell:slice_height=8,values=2"));
  EXPECT_EQ(FormatSpec(StoredFormat{Format::ell, 1}), parse_format_spec("ell"));
}

TEST(FormatSpec, WhatIsChosenForTheMatrixIsNoParameter) {
  EXPECT_TRUE(parse_format_spec("hyb").parameters().empty());
  EXPECT_EQ(text_of(parse_format_spec("hyb:width=0")), "hyb:width=0");
  EXPECT_EQ(options_of<HybOptions>(parse_format_spec("hyb")).width, kAutomaticWidth);
  EXPECT_EQ(options_of<HybOptions>(parse_format_spec("hyb:width=3")).width, 3);
}

TEST(FormatSpec, TextIsReadBackForEveryFormat) {
  std::set<Format> seen;
  for (const FormatSpec& spec : usual_specs(kSymmetric)) {
    EXPECT_EQ(parse_format_spec(text_of(spec)), spec) << text_of(spec);
    EXPECT_EQ(label_of(spec).find_first_of("{}"), std::string::npos) << label_of(spec);
    seen.insert(spec.format());
  }
  EXPECT_EQ(seen, std::set<Format>(kFormats.begin(), kFormats.end()));
  for (const Format format : kFormats) {
    EXPECT_EQ(parse_format_spec(name_of(format)), FormatSpec(format));
    EXPECT_EQ(text_of(FormatSpec(format)).substr(0, name_of(format).size()), name_of(format));
  }
}

TEST(FormatSpec, LabelsAreTheWordsOfTheField) {
  const auto label = [](const char* text) { return label_of(parse_format_spec(text)); };
  EXPECT_EQ(label("csr"), "CSR");
  EXPECT_EQ(label("bcsr:block_cols=3"), "BCSR 2x3");
  EXPECT_EQ(label("sell"), "SELL-32-1");
  EXPECT_EQ(label("packed-sell:slice_height=8"), "packed SELL-8");
  EXPECT_EQ(label("packed-sell:sort_window=64"), "packed SELL-32, sort_window 64");
  EXPECT_EQ(label("packed-sell-full"), "packed SELL-32, full values");
  EXPECT_EQ(label("packed-sell:values=1"), "packed SELL-32, constants encoded");
  EXPECT_EQ(label("hyb"), "HYB");
  EXPECT_EQ(label("hyb:width=2"), "HYB, width 2");
}

TEST(FormatSpec, PackedSellWithFullValuesHasANameOfItsOwn) {
  const FormatSpec full = parse_format_spec("packed-sell-full:slice_height=8");
  EXPECT_EQ(full, parse_format_spec("packed-sell:slice_height=8,values=0"));
  EXPECT_EQ(parse_format_spec(text_of(full)), full);
  EXPECT_EQ(name_of(full), "packed-sell-full");
  EXPECT_EQ(name_of(parse_format_spec("packed-sell:values=1")), "packed-sell");
  EXPECT_EQ(name_of(FormatSpec()), "csr");
  const auto specs = parse_format_list("packed-sell-full", kGeneral);
  EXPECT_EQ(specs.size(), 4U);
  for (const FormatSpec& spec : specs) EXPECT_EQ(name_of(spec), "packed-sell-full");
  for (const FormatSpec& spec : parse_format_list("packed-sell", kGeneral)) {
    EXPECT_EQ(spec.parameter("values"), 3) << text_of(spec);
  }
  expect_refused([] { parse_format_spec("packed-sell-full:values=3"); },
                 "values of the format packed-sell is given twice");
}

TEST(StoredFormat, ParametersCountWhereTheFormatHasThem) {
  const StoredFormat packed{Format::packed_sell, 32};
  const StoredFormat full{Format::packed_sell, 32, StoredValues::full};
  EXPECT_NE(packed, full);
  EXPECT_NE(packed, (StoredFormat{Format::packed_sell, 16}));
  EXPECT_EQ((StoredFormat{Format::sell, 32}), (StoredFormat{Format::sell, 32, StoredValues::full}));
  EXPECT_EQ((StoredFormat{Format::csr, 1}), (StoredFormat{Format::csr, 32, StoredValues::full}));
  EXPECT_EQ(text_of(packed), "packed-sell C=32");
  EXPECT_EQ(text_of(full), "packed-sell C=32, full values");
  EXPECT_EQ(text_of(StoredFormat{Format::sell, 32, StoredValues::full}), "sell C=32");
}

TEST(FormatSpec, WhatIsUnknownIsRefusedAndWhatThereIsIsSaid) {
  const auto expect_text_refused = [](const char* text, const std::string& message) {
    expect_refused([&] { parse_format_spec(text); }, message);
  };
  for (const char* name : {"", "CSR", "auto", "packed_sell", "sell "}) {
    expect_text_refused(name, no_format(name));
  }
  expect_text_refused("sell:height=8",
                      "the format sell has no parameter 'height'; it has slice_height and "
                      "sort_window");
  expect_text_refused("csr:width=8", "the format csr has no parameter 'width'; it has none");
  expect_text_refused("sell:slice_height=0", "slice_height of the format sell is 1 or more, not 0");
  expect_text_refused("packed-sell:slice_height=5",
                      "slice_height of the format packed-sell is 4, 8, 16 or 32, not 5");
  for (const char* level : {"-1", "4"}) {
    expect_text_refused((std::string("packed-sell:values=") + level).c_str(),
                        std::string("values of the format packed-sell is 0 (full), 1 (constants), "
                                    "2 (few) or 3 (all), not ") +
                            level);
  }
  expect_text_refused("hyb:width=-1", "width of the format hyb is 0 or more, not -1");
  expect_text_refused("bcsr:block_rows=2,block_rows=3",
                      "block_rows of the format bcsr is given twice");
  for (const char* word : {"", "slice_height", "slice_height=", "slice_height=8x",
                           "slice_height=9223372036854775808"}) {
    expect_text_refused((std::string("sell:") + word).c_str(),
                        std::string("'") + word +
                            "' of the format sell is not PARAMETER=NUMBER; its parameters are "
                            "slice_height and sort_window");
  }
  expect_refused([] { FormatSpec spec(Format::automatic); },
                 "a format is needed, not one that is to be chosen");
}

TEST(FormatSpec, AListHasTheUsualParametersOfNamesAndThoseThatAreGiven) {
  const auto list = [](const char* text) { return texts_of(parse_format_list(text, kGeneral)); };
  using Texts = std::vector<std::string>;
  EXPECT_EQ(list("csr"), Texts{"csr"});
  EXPECT_EQ(list("sell"),
            (Texts{"sell:slice_height=32,sort_window=1", "sell:slice_height=32,sort_window=256"}));
  EXPECT_EQ(list("sell:slice_height=8,sort_window=2,csr,bcsr:block_rows=4,csr"),
            (Texts{"csr", "bcsr:block_rows=4,block_cols=2", "sell:slice_height=8,sort_window=2"}));
  EXPECT_EQ(list("all"), texts_of(usual_specs(kGeneral)));
  expect_refused([&] { list("csr,slice_height=8"); }, no_format("slice_height=8"));
  EXPECT_THROW(list("csr,all"), InvalidArgument);
  EXPECT_THROW(list(""), InvalidArgument);
}

TEST(FormatSpec, FormatsThatDoNotSuitTheMatrixAreNotTried) {
  const auto has_symmetric = [](const MatrixStatistics& statistics) {
    return std::ranges::count(usual_specs(statistics), Format::symmetric_csr,
                              &FormatSpec::format) == 1;
  };
  EXPECT_TRUE(has_symmetric(kSymmetric));
  EXPECT_FALSE(has_symmetric(kGeneral));
  EXPECT_EQ(parse_format_list("symmetric-csr", kSymmetric).size(), 1U);
  expect_refused([] { parse_format_list("symmetric-csr", kGeneral); },
                 "there is no format symmetric-csr for this matrix");
}

TEST(Registry, ConversionsTakeTheParametersOfTheSpec) {
  const auto csr = test::staircase(7);
  const auto converted = convert(csr, parse_format_spec("sell:slice_height=3,sort_window=4"));
  const auto& sell = std::get<Sell<double, std::int32_t>>(converted);
  EXPECT_EQ(sell.slice_height(), 3);
  EXPECT_EQ(sell.sort_window(), 4);
  EXPECT_EQ(footprint(csr, parse_format_spec("sell:slice_height=3,sort_window=4")),
            sell.footprint());
}

TEST(Registry, ValuesAreEncodedAsFarAsTheSpecAndTheOptionsAllow) {
  const auto allowed = [](StoredValues values, const AllowedValues& also = {}) {
    return PackedSellOptions{.values = also, .stored_values = static_cast<Offset>(values)}
        .allowed_values();
  };
  for (const StoredValues values : kStoredValues) {
    EXPECT_EQ(allowed(values), AllowedValues::of(values));
  }
  EXPECT_EQ(allowed(StoredValues::few, {.constant = false, .most_codes = 3}),
            (AllowedValues{.constant = false, .dict16 = false, .most_codes = 3}));
  EXPECT_THROW(PackedSellOptions{.stored_values = 4}.allowed_values(), InvalidArgument);

  const auto csr = test::staircase(64);
  const auto packed = [&](const char* spec) {
    return std::get<PackedSell<double, std::int32_t>>(convert(csr, parse_format_spec(spec)));
  };
  EXPECT_TRUE(packed("packed-sell-full").has_full_values());
  EXPECT_EQ(footprint(csr, parse_format_spec("packed-sell-full")),
            packed("packed-sell-full").footprint());
}

TEST(Registry, HopelessFillIsRefusedUnlessItIsAllowed) {
  const Csr<double, std::int32_t> csr(100, 100, Array<Offset>(101, 0), {}, {});
  Array<Offset> offsets(101, 100);
  offsets[0] = 0;
  Array<std::int32_t> columns(100);
  for (std::int32_t j = 0; j < 100; ++j) columns[j] = j;
  const Csr<double, std::int32_t> one_row(100, 100, offsets, columns, Array<double>(100, 1.0));
  EXPECT_THROW(convert(one_row, parse_format_spec("ell")), InvalidArgument);
  EXPECT_EQ(convert(one_row, parse_format_spec("ell"), 100).index(),
            convert(csr, parse_format_spec("ell")).index());
}

TEST(Registry, ACsrMatrixIsUsedWhereItIs) {
  const auto csr = test::staircase(3);
  EXPECT_TRUE(with_format(csr, FormatSpec(), [&](const auto& matrix) {
    return static_cast<const void*>(&matrix) == &csr;
  }));
}

}  // namespace
}  // namespace strata
