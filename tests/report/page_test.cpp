#include "strata/report/page.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "strata/base/error.hpp"
#include "tests/support/temporary_folder.hpp"

namespace strata::report {
namespace {

using nlohmann::json;

// What a browser makes of the text in the page.
std::string decoded(const std::string& text) {
  const std::string letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  unsigned bits = 0;
  int held = 0;
  for (const char letter : text) {
    if (letter == '=') break;
    bits = bits << 6 | static_cast<unsigned>(letters.find(letter));
    held += 6;
    if (held >= 8) {
      held -= 8;
      bytes += static_cast<char>(bits >> held & 255);
    }
  }
  std::string plain(1 << 20, '\0');
  z_stream stream{};
  stream.next_in = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(plain.data());
  stream.avail_out = static_cast<uInt>(plain.size());
  inflateInit2(&stream, MAX_WBITS + 16);
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  plain.resize(stream.total_out);
  inflateEnd(&stream);
  return plain;
}

class Page : public test::FolderTest {
 protected:
  std::string written(const std::string& name, const std::string& text) {
    std::ofstream(file(name)) << text;
    return file(name);
  }
  json data_of(const std::vector<std::filesystem::path>& files) {
    return json::parse(page_data(files, {.title = "Title", .made = "now"}, problems_));
  }

  std::vector<std::string> problems_;
};

TEST_F(Page, CollectionsAreRunsThatKnowTheirMachine) {
  const json collected{{"commit", "abc"},
                       {"machine", {{"processor", "P"}}},
                       {"runs",
                        {{{"matrix", {{"name", "a"}}}, {"results", json::array()}},
                         {{"matrix", {{"name", "b"}}},
                          {"machine", {{"processor", "Q"}}},
                          {"results", json::array()}}}}};
  const json data = data_of({written("all.json", collected.dump())});
  EXPECT_EQ(data["strata_report"], 1);
  EXPECT_EQ(data["title"], "Title");
  EXPECT_EQ(data["made"], "now");
  ASSERT_EQ(data["sources"].size(), 1U);
  EXPECT_EQ(data["sources"][0]["name"], "all.json");
  ASSERT_EQ(data["runs"].size(), 2U);
  EXPECT_EQ(data["runs"][0]["document"]["machine"]["processor"], "P");
  EXPECT_EQ(data["runs"][0]["document"]["commit"], "abc");
  EXPECT_EQ(data["runs"][1]["document"]["machine"]["processor"], "Q");
  EXPECT_EQ(data["runs"][1]["status"], "done");
}

TEST_F(Page, NamesOfMatricesCannotLeaveTheData) {
  const std::string name = "</script><script>alert(1)</script>\n\"'\xF0\x9F\x98\x80 \xFF";
  json document{{"matrix", {{"name", "x"}}}, {"results", json::array()}};
  std::string text = document.dump();
  text.replace(text.find("\"x\""), 3,
               "\"<\\/script><script>alert(1)<\\/script>\\n\\\"'\xF0\x9F\x98\x80\"");
  const std::string data = page_data({written("a.json", text)}, {.made = "now"}, problems_);
  const std::string page =
      page_with("<script id=\"strata-data\"><!--STRATA-DATA--></script>", data);
  EXPECT_EQ(page.find("alert"), std::string::npos);
  const std::size_t begin = page.find('>') + 1;
  const std::string inside = page.substr(begin, page.find('<', begin) - begin);
  EXPECT_EQ(decoded(inside), data);
  EXPECT_EQ(json::parse(data)["runs"][0]["document"]["matrix"]["name"],
            "</script><script>alert(1)</script>\n\"'\xF0\x9F\x98\x80");
}

TEST_F(Page, ATemplateWithoutAPlaceForDataIsRefused) {
  EXPECT_THROW(page_with("<html></html>", "{}"), InvalidArgument);
}

TEST_F(Page, TheTemplateIsFoundWhereTheEnvironmentSays) {
  setenv("STRATA_REPORT_TEMPLATE", "/somewhere/page.html", 1);
  EXPECT_EQ(template_path("/usr/bin/strata"), "/somewhere/page.html");
  unsetenv("STRATA_REPORT_TEMPLATE");
}

}  // namespace
}  // namespace strata::report
