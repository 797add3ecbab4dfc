#include "config/load.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <set>

#include "base/nearest.hpp"
#include "config/schema.hpp"
#include "config/toml_reader.hpp"
#include "net/in_folder.hpp"

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
                to.where.lines.emplace(one.name, one.is.where);
                read_table(one.is, section->keys, {one.name, one.name + ".", to.where});
            } else if (one.name == "route") {
                read_entries(one, to.routes, to.where);
            } else if (one.name == "operation") {
                read_entries(one, to.operations, to.where);
            } else if (one.name == "relay") {
                read_entries(one, to.relays, to.where);
            } else {
                unknown_section(one, sections, to.where);
            }
        }
    }

    void read_variables(config& to) {
        for (const section& one : sections_of(to)) {
            const std::string prefix = "SEMEL_" + upper(one.name) + "_";
            for (auto at = around_.variables.lower_bound(prefix);
                 at != around_.variables.end() && at->first.starts_with(prefix); ++at) {
                read_variable(at->first, at->second, prefix, one, to.where);
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
                       const section& of, key_places& where) {
        std::vector<std::string> known;
        for (const field& one : of.keys) {
            known.push_back(prefix + upper(one.name));
            if (known.back() != name) continue;
            const std::string key = of.name + "." + one.name;
            where.lines.insert_or_assign(key, name);
            const value from{.is = text, .where = name, .how = value::form::text};
            if (auto wrong = one.take(from, around_)) {
                where.unreadable.insert(key);
                found.push_back(name + ": " + *wrong);
            }
            return;
        }
        found.push_back(name + ": no such key" + did_you_mean(name, known));
    }

    // What a table is called in messages, and where its keys are noted under which names.
    struct table_place {
        const std::string& name;
        std::string prefix;
        key_places& where;
    };

    void read_table(const value& from, const fields& keys, const table_place& at) {
        const auto* table = std::get_if<value::table>(&from.is);
        if (table == nullptr) {
            found.push_back(from.where + ": " + at.name + ": must be a table: [" + at.name + "]");
            at.where.unreadable.insert(at.name);
            return;
        }
        for (const member& one : *table) read_member(one, keys, at);
    }

    void read_member(const member& one, const fields& keys, const table_place& at) {
        const std::string text = one.is.where + ": " + at.name + "." + printable(one.name) + ": ";
        const auto known = std::find_if(keys.begin(), keys.end(),
                                        [&](const field& key) { return key.name == one.name; });
        if (known == keys.end()) {
            const auto names = names_of(keys);
            at.where.unreadable.insert(at.prefix + nearest(one.name, names));
            found.push_back(text + "unknown key" + did_you_mean(one.name, names));
            return;
        }
        at.where.lines.insert_or_assign(at.prefix + one.name, one.is.where);
        if (auto wrong = known->take(one.is, around_)) {
            at.where.unreadable.insert(at.prefix + one.name);
            found.push_back(text + *wrong);
        }
    }

    template <class Entry>
    void read_entries(const member& from, std::vector<Entry>& to, key_places& where) {
        const auto* list = std::get_if<value::list>(&from.is.is);
        if (list == nullptr) {
            where.unreadable.insert(from.name);
            found.push_back(from.is.where + ": " + from.name + ": must be written as [[" +
                            from.name + "]]");
            return;
        }
        to.reserve(list->size()); // fields are bound to the entries
        for (const value& one : *list) {
            Entry& entry = to.emplace_back();
            entry.where.whole = one.where;
            read_table(one, fields_of(entry), {from.name, "", entry.where});
        }
    }

    void unknown_section(const member& one, const std::vector<section>& sections,
                         key_places& where) {
        std::vector<std::string> known = {"route", "operation", "relay"};
        for (const section& each : sections) known.push_back(each.name);
        where.unreadable.insert(nearest(one.name, known));
        found.push_back(one.is.where + ": " + printable(one.name) + ": unknown section" +
                        did_you_mean(one.name, known));
    }

    const surroundings& around_;
};

// A default is no mistake where the limit is lower.
void fit(operation_policy& policy, const key_places& where, const limits& bounds) {
    if (where.lines.contains("result_bytes_max")) return;
    policy.result_bytes_max = std::min(policy.result_bytes_max, bounds.result_bytes_max);
}

} // namespace

reading read(std::string_view text, const std::string& name, const surroundings& around) {
    reading got{.made = {.where = {.whole = name}}};
    auto file = read_toml(text, name);
    if (auto* wrong = std::get_if<syntax_error>(&file)) {
        got.found.push_back(std::move(wrong->text));
        got.is_whole = false;
        return got;
    }
    secret& store = got.made.store.url;
    store.written = store.text = net::url_in_folder(store.text, around.folder);
    reader into{around};
    into.read_file(std::get<value::table>(file), got.made);
    into.read_variables(got.made);
    got.found = std::move(into.found);
    for (route_entry& one : got.made.routes) fit(one.route.policy, one.where, got.made.limits);
    for (operation_entry& one : got.made.operations) fit(one.policy, one.where, got.made.limits);
    for (std::string& one : check(got.made)) got.found.push_back(std::move(one));
    return got;
}

std::variant<config, complaints> load(std::string_view text, const std::string& name,
                                      const surroundings& around) {
    reading got = read(text, name, around);
    if (!got.found.empty()) return std::move(got.found);
    return std::move(got.made);
}

} // namespace semel::config
