#include "cli/parts/campaign_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/parts/terminal.hpp"

namespace strata::cli {

using campaign::LostHost;
using campaign::SelectedCase;
using campaign::Status;

namespace {

// A table of thousands of failures helps nobody.
constexpr std::ptrdiff_t kMostFailures = 40;

std::string state_text(const SelectedCase& each) {
  return each.open ? "open" : std::string(name_of(each.past.status));
}

std::string failures_text(const std::vector<CaseReport>& reports) {
  Table table({"failed", "host", "", "why"}, 4);
  std::ptrdiff_t count = 0;
  for (const CaseReport& report : reports) {
    if (!report.failed() || ++count > kMostFailures) continue;
    table.add({printable(report.key), printable(report.host),
               std::string(name_of(report.result.status)), printable(report.result.reason)});
  }
  if (count == 0) return "";
  std::string text = "\n" + table.text(2);
  if (count > kMostFailures) text += fmt::format("  and {} more\n", count - kMostFailures);
  return text;
}

}  // namespace

std::string printable(const std::string& text) {
  std::string line = text;
  std::ranges::replace_if(
      line, [](char letter) { return static_cast<unsigned char>(letter) < 0x20 || letter == 0x7f; },
      ' ');
  return line;
}

std::string list_text(const campaign::Campaign& campaign,
                      const std::vector<SelectedCase>& selected) {
  const bool with_host = !campaign.hosts.empty();
  std::string text;
  std::size_t open = 0;
  for (const SelectedCase& each : selected) {
    open += each.open ? 1 : 0;
    text += fmt::format(
        "{:>7}  {:<8}{}{}\n", each.index + 1, state_text(each),
        with_host ? fmt::format("{:<12}", each.host.empty() ? "any" : printable(each.host)) : "",
        printable(campaign.cases[each.index].key()));
  }
  return text + fmt::format("{}: {} cases, {} of them open\n", printable(campaign.name),
                            grouped(static_cast<Offset>(selected.size())),
                            grouped(static_cast<Offset>(open)));
}

std::string summary_text(const std::string& name, const std::string& results,
                         const std::vector<CaseReport>& reports,
                         const std::vector<LostHost>& lost) {
  const auto count = [&](auto&& what) {
    return std::to_string(std::ranges::count_if(reports, what));
  };
  const auto done = [](const CaseReport& r) { return r.known && r.result.status == Status::done; };
  Table table({"campaign", "cases", "done now", "done before", "failed", "open"});
  table.add({printable(name), std::to_string(reports.size()),
             count([&](const CaseReport& r) { return done(r) && !r.before; }),
             count([&](const CaseReport& r) { return done(r) && r.before; }),
             count([](const CaseReport& r) { return r.failed(); }),
             count([](const CaseReport& r) { return !r.known; })});
  std::string text = table.text(2) + failures_text(reports);
  for (const LostHost& host : lost) {
    text += fmt::format("\n  {} was lost: {}. Its cases stay open.\n", printable(host.name),
                        printable(host.reason));
  }
  return text + fmt::format("\nResults are in {}.\n", printable(results));
}

Json json_of(const CaseReport& report) {
  Json json{{"kernel", "bench"}, {"case", report.key}};
  if (!report.host.empty()) json["host"] = report.host;
  if (!report.matrix.empty()) json["matrix"] = report.matrix;
  json["status"] = report.known ? name_of(report.result.status) : std::string_view("open");
  if (!report.known) return json;
  json["exit"] = report.result.exit;
  if (!report.result.reason.empty()) json["reason"] = report.result.reason;
  json["seconds"] = report.result.seconds;
  json["before"] = report.before;
  return json;
}

}  // namespace strata::cli
