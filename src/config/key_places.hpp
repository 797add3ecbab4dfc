// Where the keys of a configuration stand, for messages about what they mean together.
#pragma once

#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace semel::config {

// Of a whole configuration keys are called "server.listen" and sections "server"; of a [[route]],
// an [[operation]] or a [[relay]] they are called "path".
struct key_places {
    std::string whole = {}; // the file, or the line of the entry: "semel.toml:12"
    std::map<std::string, std::string, std::less<>> lines = {};
    // Keys and sections that could not be read, and those that a mistyped name may mean. They have
    // their defaults, so that what is said about them would mislead.
    std::set<std::string, std::less<>> unreadable = {};

    // Of the first key that was given; else of its section; else the whole.
    [[nodiscard]] const std::string& of(std::initializer_list<std::string_view> keys) const {
        for (const std::string_view one : keys) {
            if (const auto at = lines.find(one); at != lines.end()) return at->second;
        }
        for (const std::string_view one : keys) {
            const auto at = lines.find(one.substr(0, one.find('.')));
            if (at != lines.end()) return at->second;
        }
        return whole;
    }

    [[nodiscard]] bool can_judge(std::initializer_list<std::string_view> keys) const {
        for (const std::string_view one : keys) {
            if (unreadable.contains(one)) return false;
            if (unreadable.contains(one.substr(0, one.find('.')))) return false;
        }
        return true;
    }
};

} // namespace semel::config
