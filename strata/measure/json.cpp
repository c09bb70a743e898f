#include "strata/measure/json.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "strata/base/error.hpp"

namespace strata {

namespace {

using Tree = nlohmann::ordered_json;

bool is_member(const Json& json) {
  return json.kind() == Json::Kind::array && json.elements().size() == 2 &&
         json.elements().front().kind() == Json::Kind::string;
}

Tree tree_of(const Json& json) {
  switch (json.kind()) {
    case Json::Kind::null: return nullptr;
    case Json::Kind::boolean: return json.boolean();
    case Json::Kind::integer: return json.integer();
    case Json::Kind::real: return json.real();
    case Json::Kind::string: return json.string();
    case Json::Kind::array: {
      Tree tree = Tree::array();
      for (const Json& element : json.elements()) tree.push_back(tree_of(element));
      return tree;
    }
    case Json::Kind::object: {
      Tree tree = Tree::object();
      for (std::size_t i = 0; i < json.keys().size(); ++i) {
        tree[json.keys()[i]] = tree_of(json.elements()[i]);
      }
      return tree;
    }
  }
  return nullptr;
}

Json json_of(const Tree& tree) {
  if (tree.is_boolean()) return tree.get<bool>();
  if (tree.is_number_integer()) return tree.get<std::int64_t>();
  if (tree.is_number_float()) return tree.get<double>();
  if (tree.is_string()) return tree.get<std::string>();
  if (tree.is_array()) {
    Json json = Json::array();
    for (const Tree& element : tree) json.push_back(json_of(element));
    return json;
  }
  if (tree.is_object()) {
    Json json = Json::object();
    for (const auto& [key, value] : tree.items()) json[key] = json_of(value);
    return json;
  }
  return {};
}

std::string on_one_line(const Tree& tree) {
  return tree.dump(-1, ' ', false, Tree::error_handler_t::replace);
}

bool is_flat(const Tree& tree) {
  return std::none_of(tree.begin(), tree.end(),
                      [](const Tree& element) { return element.is_structured(); });
}

void write(std::string& text, const Tree& tree, std::size_t indent, std::size_t depth,
           bool in_list) {
  const bool whole =
      !tree.is_structured() || tree.empty() || (is_flat(tree) && (tree.is_array() || in_list));
  if (whole) {
    text += on_one_line(tree);
    return;
  }
  text += tree.is_array() ? '[' : '{';
  const char* separator = "\n";
  for (const auto& [key, element] : tree.items()) {
    text += separator;
    text.append((depth + 1) * indent, ' ');
    if (tree.is_object()) text += on_one_line(Tree(key)) + ": ";
    write(text, element, indent, depth + 1, tree.is_array());
    separator = ",\n";
  }
  text += '\n';
  text.append(depth * indent, ' ');
  text += tree.is_array() ? ']' : '}';
}

}  // namespace

Json::Json(std::initializer_list<Json> elements) : kind_(Kind::array) {
  if (std::ranges::all_of(elements, is_member)) {
    *this = object(elements);
  } else {
    elements_.assign(elements);
  }
}

Json Json::object(std::initializer_list<Json> members) {
  Json json = object();
  for (const Json& member : members) {
    if (!is_member(member))
      throw InvalidArgument("a member of a JSON object has a key and a value");
    json[member.elements().front().string()] = member.elements().back();
  }
  return json;
}

Json Json::of_kind(Kind kind) {
  Json json;
  json.kind_ = kind;
  return json;
}

Json& Json::operator[](std::string_view key) {
  if (kind_ == Kind::null) kind_ = Kind::object;
  if (kind_ != Kind::object) throw InvalidArgument("only JSON objects have members");
  const auto found = std::ranges::find(keys_, key);
  if (found != keys_.end()) return elements_[static_cast<std::size_t>(found - keys_.begin())];
  keys_.emplace_back(key);
  return elements_.emplace_back();
}

void Json::update(const Json& other) {
  for (std::size_t i = 0; i < other.keys_.size(); ++i) {
    (*this)[other.keys_[i]] = other.elements_[i];
  }
}

void Json::push_back(Json element) {
  if (kind_ == Kind::null) kind_ = Kind::array;
  if (kind_ != Kind::array) throw InvalidArgument("only JSON arrays have elements to add to");
  elements_.push_back(std::move(element));
}

std::string text_of(const Json& json, int indent) {
  const Tree tree = tree_of(json);
  if (indent < 0) return on_one_line(tree);
  std::string text;
  write(text, tree, static_cast<std::size_t>(indent), 0, false);
  return text;
}

Json parse_json(std::string_view text) {
  try {
    return json_of(Tree::parse(text));
  } catch (const nlohmann::json::exception& error) {
    throw InvalidArgument(error.what());
  }
}

}  // namespace strata
