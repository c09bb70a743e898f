#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <sstream>
#include <unordered_set>

#include "strata/campaign/internal/case_list.hpp"
#include "strata/campaign/internal/matrix_list.hpp"
#include "strata/campaign/internal/template_text.hpp"

namespace strata::campaign::detail {

namespace fs = std::filesystem;

namespace {

// A campaign of more cases is a mistake, and would take all memory to find out.
constexpr std::size_t kMostCases = 1'000'000;

// One value that a parameter or an option may have.
struct Choice {
  std::string json;                  // as a setting
  std::optional<TemplateText> text;  // the word of an option; none: the option has no value
  bool present = true;               // whether the option is given at all
};

struct Parameter {
  std::string name;
  std::vector<std::string> texts;
  std::vector<std::string> jsons;
};

struct Option {
  std::string name;
  std::vector<Choice> choices;
};

struct Run {
  std::string command;
  bool takes_matrix = true;
  std::vector<TemplateText> matrices;
  std::vector<int> ranks;  // none: not asked about
  std::vector<Option> options;
  std::vector<TemplateText> flags;
};

TemplateText parse_template(const ValueReader& where, const std::string& text) {
  try {
    return TemplateText(text);
  } catch (const InvalidArgument& wrong) {
    where.refuse(wrong.what());
  }
}

std::vector<Parameter> read_parameters(const ValueReader& file) {
  std::vector<Parameter> parameters;
  if (!file.has("parameters")) return parameters;
  for (const auto& [name, values] : file.at("parameters").members()) {
    if (!is_variable_name(name)) values.refuse("is no name of letters, digits and _");
    Parameter parameter{.name = name, .texts = {}, .jsons = {}};
    for (const ValueReader& value : values.one_or_more()) {
      parameter.texts.push_back(value.word());
      parameter.jsons.push_back(value.json().dump());
    }
    parameters.push_back(std::move(parameter));
  }
  return parameters;
}

Choice read_choice(const ValueReader& value) {
  const OrderedJson& json = value.json();
  if (json.is_boolean()) {
    return {.json = json.dump(), .text = std::nullopt, .present = json.get<bool>()};
  }
  return {.json = json.dump(), .text = parse_template(value, value.word())};
}

// What the runner itself asks every case for.
void refuse_reserved(const ValueReader& where, const std::string& option) {
  for (const std::string_view reserved : {"--json", "--quiet"}) {
    if (option == reserved || option.starts_with(std::string(reserved) + "=")) {
      where.refuse(fmt::format("gives {}, which the campaign does by itself", reserved));
    }
  }
}

std::vector<Option> read_options(const ValueReader& run) {
  std::vector<Option> options;
  if (!run.has("options")) return options;
  for (const auto& [name, values] : run.at("options").members()) {
    if (!name.starts_with("-") || name.find('\0') != std::string::npos) {
      values.refuse("is no option: those begin with -");
    }
    refuse_reserved(values, name);
    Option option{.name = name, .choices = {}};
    for (const ValueReader& value : values.one_or_more()) {
      option.choices.push_back(read_choice(value));
    }
    options.push_back(std::move(option));
  }
  return options;
}

Run read_run(const ValueReader& run, const ValueReader& file, const fs::path& folder,
             const std::vector<KnownCommand>& commands) {
  run.require_object({"command", "options", "flags", "matrices", "ranks"});
  Run result;
  result.command = run.at("command").text();
  const auto known = std::ranges::find(commands, result.command, &KnownCommand::name);
  if (known == commands.end()) {
    std::string names;
    for (const KnownCommand& command : commands) names += " " + command.name;
    run.at("command").refuse(fmt::format("is '{}', which is none of:{}", result.command, names));
  }
  result.takes_matrix = known->takes_matrix;
  if (result.takes_matrix) {
    result.matrices = read_matrices((run.has("matrices") ? run : file).at("matrices"), folder);
  } else if (run.has("matrices")) {
    run.at("matrices").refuse(fmt::format("is given, and '{}' takes none", result.command));
  }
  if (run.has("ranks")) {
    for (const ValueReader& ranks : run.at("ranks").one_or_more()) {
      result.ranks.push_back(ranks.count());
    }
  }
  result.options = read_options(run);
  if (run.has("flags")) {
    for (const ValueReader& flag : run.at("flags").elements()) {
      refuse_reserved(flag, flag.text());
      result.flags.push_back(parse_template(flag, flag.text()));
    }
  }
  return result;
}

// The words between blanks.
std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream stream(text);
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

std::vector<Variable> read_environment(const ValueReader& file) {
  std::vector<Variable> environment;
  if (!file.has("environment")) return environment;
  for (const auto& [name, value] : file.at("environment").members()) {
    if (!is_variable_name(name)) value.refuse("is no name of a variable");
    environment.push_back({name, value.word()});
  }
  return environment;
}

// What starts so many ranks: words, in which {ranks} stands for their number.
std::vector<TemplateText> read_launcher(const ValueReader& file) {
  std::vector<std::string> words{"mpirun", "-n", "{ranks}"};
  if (file.has("launcher")) {
    const ValueReader given = file.at("launcher");
    words = given.json().is_array() ? given.texts() : words_of(given.text());
    if (words.empty()) given.refuse("has no words");
  }
  std::vector<TemplateText> launcher;
  bool counts = false;
  for (const std::string& word : words) {
    launcher.push_back(file.has("launcher") ? parse_template(file.at("launcher"), word)
                                            : TemplateText(word));
    for (const std::string& name : launcher.back().names()) {
      if (name != "ranks") {
        file.at("launcher").refuse(fmt::format("uses {{{}}}: {{ranks}} alone is known", name));
      }
      counts = true;
    }
  }
  if (!counts) file.at("launcher").refuse("does not say where {ranks} goes");
  return launcher;
}

// "--slice-height" is the setting slice-height.
std::string without_dashes(const std::string& option) {
  return option.substr(std::min(option.find_first_not_of('-'), option.size()));
}

// Counts through all combinations of some lists, the last changing fastest.
class Odometer {
 public:
  explicit Odometer(std::vector<std::size_t> sizes)
      : sizes_(std::move(sizes)), digits_(sizes_.size(), 0) {}
  std::size_t operator[](std::size_t place) const { return digits_[place]; }
  // False after the last combination.
  bool next() {
    for (std::size_t i = digits_.size(); i-- > 0;) {
      if (++digits_[i] < sizes_[i]) return true;
      digits_[i] = 0;
    }
    return false;
  }

 private:
  std::vector<std::size_t> sizes_;
  std::vector<std::size_t> digits_;
};

class CaseMaker {
 public:
  CaseMaker(const ValueReader& file, std::vector<Parameter> parameters,
            std::vector<Variable> environment, std::vector<TemplateText> launcher)
      : file_(file),
        parameters_(std::move(parameters)),
        environment_(std::move(environment)),
        launcher_(std::move(launcher)) {}

  void add(const Run& run) {
    if (!run.takes_matrix) return add(run, nullptr);
    for (const TemplateText& matrix : run.matrices) add(run, &matrix);
  }

  // Parameters that appear nowhere are mistakes.
  std::vector<Case> finish() {
    for (const Parameter& parameter : parameters_) {
      if (used_.contains(parameter.name)) continue;
      file_.at("parameters").refuse(fmt::format("has '{}', which is used nowhere", parameter.name));
    }
    return std::move(cases_);
  }

 private:
  void add(const Run& run, const TemplateText* matrix) {
    const std::vector<const Parameter*> swept = parameters_of(run, matrix);
    std::vector<std::size_t> sizes;
    for (const Parameter* parameter : swept) sizes.push_back(parameter->texts.size());
    sizes.push_back(std::max<std::size_t>(run.ranks.size(), 1));
    for (const Option& option : run.options) sizes.push_back(option.choices.size());
    count(sizes);
    Odometer odometer(std::move(sizes));
    do {
      keep(case_of(run, matrix, swept, odometer));
    } while (odometer.next());
  }

  Case case_of(const Run& run, const TemplateText* matrix,
               const std::vector<const Parameter*>& swept, const Odometer& odometer) const {
    const auto value_of = [&](const std::string& name) -> const std::string& {
      std::size_t place = 0;
      while (swept[place]->name != name) ++place;
      return swept[place]->texts[odometer[place]];
    };
    Case result;
    result.environment = environment_;
    result.words = {run.command};
    if (matrix != nullptr) {
      result.matrix = matrix->with(value_of);
      result.words.push_back(result.matrix);
    }
    for (std::size_t i = 0; i < swept.size(); ++i) {
      result.settings.push_back({swept[i]->name, swept[i]->jsons[odometer[i]]});
    }
    if (!run.ranks.empty()) add_ranks(result, run.ranks[odometer[swept.size()]]);
    for (std::size_t i = 0; i < run.options.size(); ++i) {
      const Option& option = run.options[i];
      const Choice& choice = option.choices[odometer[swept.size() + 1 + i]];
      if (choice.present) result.words.push_back(option.name);
      if (choice.text) result.words.push_back(choice.text->with(value_of));
      add_setting(result, without_dashes(option.name), choice, result.words.back());
    }
    for (const TemplateText& flag : run.flags) result.words.push_back(flag.with(value_of));
    return result;
  }

  // One rank needs no launcher.
  void add_ranks(Case& result, int ranks) const {
    const std::string number = std::to_string(ranks);
    result.settings.push_back({"ranks", number});
    if (ranks == 1) return;
    for (const TemplateText& word : launcher_) {
      result.launcher.push_back(word.with([&](const std::string&) { return number; }));
    }
  }

  // Parameters of the same name say it already. A text with parameters in it is what they make of
  // it.
  static void add_setting(Case& result, const std::string& name, const Choice& choice,
                          const std::string& word) {
    if (std::ranges::find(result.settings, name, &Setting::name) != result.settings.end()) return;
    const bool made = choice.text && !choice.text->names().empty();
    result.settings.push_back({name, made ? OrderedJson(word).dump() : choice.json});
  }

  // In the order in which the file lists them.
  std::vector<const Parameter*> parameters_of(const Run& run, const TemplateText* matrix) {
    std::set<std::string> names;
    const auto take = [&](const TemplateText& text) {
      names.insert(text.names().begin(), text.names().end());
    };
    if (matrix != nullptr) take(*matrix);
    for (const Option& option : run.options) {
      for (const Choice& choice : option.choices) {
        if (choice.text) take(*choice.text);
      }
    }
    for (const TemplateText& flag : run.flags) take(flag);
    std::vector<const Parameter*> parameters;
    for (const Parameter& parameter : parameters_) {
      if (names.erase(parameter.name) > 0) parameters.push_back(&parameter);
    }
    if (!names.empty()) {
      file_.refuse(fmt::format("uses {{{}}}, which 'parameters' does not have", *names.begin()));
    }
    for (const Parameter* parameter : parameters) used_.insert(parameter->name);
    return parameters;
  }

  // Before any of them is made. Those that are the same count, too.
  void count(const std::vector<std::size_t>& sizes) {
    std::size_t combinations = 1;
    for (const std::size_t size : sizes) {
      if (size > (kMostCases - counted_) / combinations) {
        file_.refuse(fmt::format("makes more than {} cases", kMostCases));
      }
      combinations *= size;
    }
    counted_ += combinations;
  }

  void keep(Case each) {
    if (keys_.insert(each.key()).second) cases_.push_back(std::move(each));
  }

  const ValueReader& file_;
  std::vector<Parameter> parameters_;
  std::vector<Variable> environment_;
  std::vector<TemplateText> launcher_;
  std::set<std::string> used_;
  std::unordered_set<std::string> keys_;
  std::size_t counted_ = 0;
  std::vector<Case> cases_;
};

}  // namespace

std::vector<Case> read_cases(const ValueReader& file, const fs::path& folder,
                             const std::vector<KnownCommand>& commands) {
  CaseMaker maker(file, read_parameters(file), read_environment(file), read_launcher(file));
  for (const ValueReader& run : file.at("runs").elements()) {
    maker.add(read_run(run, file, folder, commands));
  }
  std::vector<Case> cases = maker.finish();
  if (cases.empty()) file.refuse("has no cases: none of its matrices is there");
  return cases;
}

}  // namespace strata::campaign::detail
