#include "config/load.hpp"
#include "config/schema.hpp"

namespace semel::config {
namespace {

void show_keys(std::string& to, const fields& keys) {
    for (const field& one : keys) {
        const std::string text = one.shown();
        // An empty choice has not been made.
        if (one.type.starts_with('"') && text == "\"\"") continue;
        to += one.name + " = " + text + "\n";
    }
}

std::string cell(std::string text) {
    for (auto at = text.find('|'); at != std::string::npos; at = text.find('|', at + 2)) {
        text.replace(at, 1, "\\|");
    }
    return text;
}

void describe(std::string& to, const std::string& title, std::string_view meaning,
              const fields& keys) {
    to += "## " + title + "\n\n" + std::string{meaning} + "\n\n";
    to += "| Key | Type | Default | Meaning |\n| --- | --- | --- | --- |\n";
    for (const field& one : keys) {
        const std::string text = one.shown();
        const std::string standard = text == "\"\"" || text == "[]" ? "" : "`" + text + "`";
        to += "| `" + one.name + "` | " + cell(one.type) + " | " + standard + " | " +
              cell(one.meaning) + " |\n";
    }
    to += "\n";
}

} // namespace

std::string show(config of) {
    std::string text;
    for (const section& one : sections_of(of)) {
        text += "[" + one.name + "]\n";
        show_keys(text, one.keys);
        text += "\n";
    }
    for (route_entry& one : of.routes) {
        text += "[[route]]\n";
        show_keys(text, fields_of(one));
        text += "\n";
    }
    for (operation_entry& one : of.operations) {
        text += "[[operation]]\n";
        show_keys(text, fields_of(one));
        text += "\n";
    }
    for (relay_entry& one : of.relays) {
        text += "[[relay]]\n";
        show_keys(text, fields_of(one));
        text += "\n";
    }
    text.pop_back();
    return text;
}

std::string reference() {
    config defaults;
    route_entry route;
    operation_entry operation;
    relay_entry relay;
    std::string text;
    for (const section& one : sections_of(defaults)) {
        describe(text, "[" + one.name + "]", one.meaning, one.keys);
    }
    describe(text, "[[route]]", route_meaning, fields_of(route));
    describe(text, "[[operation]]", operation_meaning, fields_of(operation));
    describe(text, "[[relay]]", relay_meaning, fields_of(relay));
    text.pop_back();
    return text;
}

} // namespace semel::config
