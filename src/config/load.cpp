#include "config/load.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <set>

#include "base/in_folder.hpp"
#include "base/nearest.hpp"
#include "config/schema.hpp"
#include "config/toml_reader.hpp"

namespace semel::config {
namespace {

std::string did_you_mean(std::string_view wrong, const std::vector<std::string>& known) {
    const std::string best = nearest(wrong, known);
    return best.empty() ? "" : "; did you mean '" + best + "'?";
}

std::vector<std::string> names_of(const fields& keys) {
    std::vector<std::string> names;
    for (const field& one : keys) names.push_back(one.name);
    return names;
}

// A name as it may stand in a message: whatever a file holds, it stays one line.
std::string printable(std::string_view name) {
    std::string text;
    for (const char c : name) text += static_cast<unsigned char>(c) < ' ' ? '?' : c;
    return text;
}

class reader {
public:
    explicit reader(const surroundings& around) : around_(around) {}

    void read_file(const value::table& file, config& to) {
        auto sections = sections_of(to);
        for (const member& one : file) {
            const auto section =
                std::find_if(sections.begin(), sections.end(),
                             [&](const auto& known) { return known.name == one.name; });
            if (section != sections.end()) {
                read_table(one.is, section->keys, one.name);
            } else if (one.name == "route") {
                read_entries(one, to.routes);
            } else if (one.name == "operation") {
                read_entries(one, to.operations);
            } else if (one.name == "relay") {
                read_entries(one, to.relays);
            } else {
                unknown_section(one, sections);
            }
        }
    }

    void read_variables(config& to) {
        for (const section& one : sections_of(to)) {
            const std::string prefix = "SEMEL_" + upper(one.name) + "_";
            for (auto at = around_.variables.lower_bound(prefix);
                 at != around_.variables.end() && at->first.starts_with(prefix); ++at) {
                read_variable(at->first, at->second, prefix, one);
            }
        }
    }

    complaints found;

private:
    static std::string upper(std::string text) {
        std::transform(text.begin(), text.end(), text.begin(),
                       [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
        return text;
    }

    void read_variable(const std::string& name, const std::string& text, const std::string& prefix,
                       const section& of) {
        std::vector<std::string> known;
        for (const field& one : of.keys) {
            known.push_back(prefix + upper(one.name));
            if (known.back() != name) continue;
            const value from{.is = text, .where = name, .how = value::form::text};
            if (auto wrong = one.take(from, around_)) {
                found.push_back(name + ": " + *wrong);
            }
            return;
        }
        found.push_back(name + ": no such key" + did_you_mean(name, known));
    }

    void read_table(const value& from, const fields& keys, const std::string& path) {
        const auto* table = std::get_if<value::table>(&from.is);
        if (table == nullptr) {
            found.push_back(from.where + ": " + path + ": must be a table: [" + path + "]");
            return;
        }
        for (const member& one : *table) read_member(one, keys, path);
    }

    void read_member(const member& one, const fields& keys, const std::string& path) {
        const std::string at = one.is.where + ": " + path + "." + printable(one.name) + ": ";
        const auto known = std::find_if(keys.begin(), keys.end(),
                                        [&](const field& key) { return key.name == one.name; });
        if (known == keys.end()) {
            found.push_back(at + "unknown key" + did_you_mean(one.name, names_of(keys)));
        } else if (auto wrong = known->take(one.is, around_)) {
            found.push_back(at + *wrong);
        }
    }

    template <class Entry> void read_entries(const member& from, std::vector<Entry>& to) {
        const auto* list = std::get_if<value::list>(&from.is.is);
        if (list == nullptr) {
            found.push_back(from.is.where + ": " + from.name + ": must be written as [[" +
                            from.name + "]]");
            return;
        }
        to.reserve(list->size()); // fields are bound to the entries
        for (const value& one : *list) {
            Entry& entry = to.emplace_back();
            entry.where = one.where;
            read_table(one, fields_of(entry), from.name);
        }
    }

    void unknown_section(const member& one, const std::vector<section>& sections) {
        std::vector<std::string> known = {"route", "operation", "relay"};
        for (const section& each : sections) known.push_back(each.name);
        found.push_back(one.is.where + ": " + printable(one.name) + ": unknown section" +
                        did_you_mean(one.name, known));
    }

    const surroundings& around_;
};

} // namespace

std::variant<config, complaints> load(std::string_view text, const std::string& name,
                                      const surroundings& around) {
    auto file = read_toml(text, name);
    if (auto* wrong = std::get_if<syntax_error>(&file)) return complaints{std::move(wrong->text)};

    config made;
    made.store.url.written = made.store.url.text =
        url_in_folder(made.store.url.text, around.folder);
    reader into{around};
    into.read_file(std::get<value::table>(file), made);
    into.read_variables(made);
    // Values that could not be read are defaults here: what is said about them could mislead.
    if (into.found.empty()) into.found = check(made, name);
    if (!into.found.empty()) return std::move(into.found);
    return made;
}

} // namespace semel::config
