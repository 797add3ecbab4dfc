#include "command_words.hpp"

#include "base/nearest.hpp"
#include "commands.hpp"
#include "net/shown_url.hpp"

namespace semel::app {
namespace {

std::vector<std::string> names_of(const CLI::App& of) {
    std::vector<std::string> names;
    for (const CLI::App* one : commands_of(of)) names.push_back(one->get_name());
    return names;
}

std::string listed(const std::vector<std::string>& names) {
    std::string made;
    for (const std::string& one : names) made += (made.empty() ? "" : ", ") + one;
    return made;
}

const CLI::App* command_named(const CLI::App& of, const std::string& word) {
    const auto is_it = [&](const CLI::App* one) { return one->get_name() == word; };
    const auto found = of.get_subcommands(is_it);
    return found.empty() ? nullptr : found.front();
}

// A word may be a URL with a password in the wrong place.
std::string unknown_command(const CLI::App& in, const std::string& path, const std::string& word) {
    const auto names = names_of(in);
    const std::string meant = nearest(word, names);
    std::string text = "there is no command '" + path + " " + net::shown_url(word) + "'; ";
    if (!meant.empty()) return text + "did you mean '" + path + " " + meant + "'?";
    return text + "there are: " + listed(names);
}

// The command that was parsed, as far as it goes.
const CLI::App& innermost(const CLI::App& tool, std::string& path) {
    const CLI::App* at = &tool;
    while (!at->get_subcommands().empty()) {
        at = at->get_subcommands().front();
        path += " " + at->get_name();
    }
    return *at;
}

std::vector<std::string> options_of(const CLI::App& of) {
    std::vector<std::string> names;
    for (const CLI::Option* one : of.get_options([](const CLI::Option*) { return true; })) {
        for (const std::string& name : one->get_lnames()) names.push_back("--" + name);
    }
    return names;
}

} // namespace

std::vector<const CLI::App*> commands_of(const CLI::App& of) {
    return of.get_subcommands([](const CLI::App*) { return true; });
}

void check_command_words(const CLI::App& tool, const std::vector<std::string>& words) {
    const CLI::App* at = &tool;
    std::string path = tool.get_name();
    for (const std::string& word : words) {
        if (commands_of(*at).empty() || word.starts_with('-')) return;
        const CLI::App* const next = command_named(*at, word);
        if (next == nullptr) throw usage_error(unknown_command(*at, path, word));
        at = next;
        path += " " + word;
    }
    const bool is_missing = at != &tool && !commands_of(*at).empty();
    if (is_missing) {
        throw usage_error("'" + path + "' needs a command: " + listed(names_of(*at)));
    }
}

std::string unexpected_word(const CLI::App& tool) {
    const std::string word = tool.remaining(true).front();
    std::string path = tool.get_name();
    const CLI::App& command = innermost(tool, path);
    const std::string name = word.substr(0, word.find('='));
    if (!name.starts_with("--"))
        return "'" + path + "' does not expect '" + net::shown_url(word) + "'";
    const std::string meant = nearest(name, options_of(command));
    return "'" + path + "' has no option " + net::shown_url(name) +
           (meant.empty() ? "; see '" + path + " --help'" : "; did you mean " + meant + "?");
}

} // namespace semel::app
