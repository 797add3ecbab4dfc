// Validates JSON against the part of JSON Schema that docs/openapi.json uses. A keyword it does not
// know is an error, so that the document cannot say more than is checked.
#pragma once

#include <regex>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace semel::edge::center_test {

class json_schema {
public:
    using json = nlohmann::json;

    explicit json_schema(const json& document) : document_(document) {}

    // What is wrong, each with the place of it; nothing: valid.
    [[nodiscard]] std::vector<std::string> check(const json& schema, const json& value) const {
        std::vector<std::string> found;
        check(schema, value, "", found);
        return found;
    }

private:
    using complaints = std::vector<std::string>;

    void check(const json& schema, const json& value, const std::string& at, complaints& to) const {
        static const std::set<std::string> notes = {"description", "format"};
        for (const auto& [keyword, rule] : schema.items()) {
            if (notes.contains(keyword)) continue;
            check_keyword(schema, keyword, rule, value, at, to);
        }
    }

    void check_keyword(const json& schema, const std::string& keyword, const json& rule,
                       const json& value, const std::string& at, complaints& to) const {
        if (keyword == "$ref") {
            check(document_.at(json::json_pointer{rule.get<std::string>().substr(1)}), value, at,
                  to);
        } else if (keyword == "oneOf") {
            check_one_of(rule, value, at, to);
        } else if (keyword == "type") {
            if (!is_of(rule, value)) to.push_back(at + ": is not of type " + rule.dump());
        } else if (keyword == "const") {
            if (value != rule) to.push_back(at + ": is not " + rule.dump());
        } else if (keyword == "enum") {
            if (std::find(rule.begin(), rule.end(), value) == rule.end()) {
                to.push_back(at + ": is none of " + rule.dump());
            }
        } else if (value.is_object()) {
            check_object(schema, keyword, rule, value, at, to);
        } else if (value.is_array()) {
            check_array(keyword, rule, value, at, to);
        } else {
            check_plain(keyword, rule, value, at, to);
        }
    }

    void check_one_of(const json& rule, const json& value, const std::string& at,
                      complaints& to) const {
        std::size_t fitting = 0;
        for (const json& one : rule) fitting += check(one, value).empty() ? 1U : 0U;
        if (fitting != 1) to.push_back(at + ": fits " + std::to_string(fitting) + " of oneOf");
    }

    void check_object(const json& schema, const std::string& keyword, const json& rule,
                      const json& value, const std::string& at, complaints& to) const {
        if (keyword == "properties") {
            for (const auto& [name, inner] : rule.items()) {
                if (value.contains(name)) check(inner, value.at(name), at + "/" + name, to);
            }
        } else if (keyword == "required") {
            for (const auto& name : rule) {
                if (!value.contains(name)) to.push_back(at + ": lacks " + name.dump());
            }
        } else if (keyword == "additionalProperties") {
            for (const auto& [name, inner] : value.items()) {
                const bool known = schema.at("properties").contains(name);
                if (!known && rule == false) to.push_back(at + ": has the unknown " + name);
            }
        } else {
            to.push_back(at + ": the keyword " + keyword + " is not known for objects");
        }
    }

    void check_array(const std::string& keyword, const json& rule, const json& value,
                     const std::string& at, complaints& to) const {
        if (keyword == "items") {
            for (std::size_t i = 0; i < value.size(); ++i) {
                check(rule, value[i], at + "/" + std::to_string(i), to);
            }
        } else if (keyword == "minItems") {
            if (value.size() < rule) to.push_back(at + ": too few items");
        } else {
            to.push_back(at + ": the keyword " + keyword + " is not known for arrays");
        }
    }

    static void check_plain(const std::string& keyword, const json& rule, const json& value,
                            const std::string& at, complaints& to) {
        bool fine = true;
        if (keyword == "minLength") {
            fine = !value.is_string() || value.get_ref<const std::string&>().size() >= rule;
        } else if (keyword == "maxLength") {
            fine = !value.is_string() || value.get_ref<const std::string&>().size() <= rule;
        } else if (keyword == "pattern") {
            fine = !value.is_string() ||
                   std::regex_search(value.get<std::string>(), std::regex{rule.get<std::string>()});
        } else if (keyword == "minimum") {
            fine = !value.is_number() || value >= rule;
        } else if (!is_of_others(keyword)) {
            to.push_back(at + ": the keyword " + keyword + " is not known");
        }
        if (!fine) to.push_back(at + ": does not meet " + keyword + " " + rule.dump());
    }

    // Keywords about objects and lists say nothing about plain values.
    static bool is_of_others(const std::string& keyword) {
        static const std::set<std::string> others = {"properties", "required",
                                                     "additionalProperties", "items", "minItems"};
        return others.contains(keyword);
    }

    static bool is_of(const json& type, const json& value) {
        if (type == "object") return value.is_object();
        if (type == "array") return value.is_array();
        if (type == "string") return value.is_string();
        return type == "integer" && value.is_number_integer();
    }

    const json& document_;
};

} // namespace semel::edge::center_test
