// Shell completion, made from the tool's own description of itself so that it never falls behind.
#include <iostream>
#include <string>
#include <vector>

#include "choices.hpp"
#include "command_words.hpp"
#include "commands.hpp"

namespace semel::app {
namespace {

struct word {
    std::string text; // "serve", "--config"
    std::string about;
    bool takes_value = false;
    std::vector<std::string> values = {}; // empty: any value, a file for instance
};

// The words that may follow one command: "semel token" → new, list, revoke, --help.
struct command_words {
    std::string path;
    std::vector<word> words;
};

std::string first_line(const std::string& text) {
    return text.substr(0, text.find('\n'));
}

void collect(const CLI::App& from, const std::string& path, std::vector<command_words>& to) {
    command_words made{.path = path, .words = {}};
    for (const CLI::App* one : commands_of(from)) {
        made.words.push_back(
            {.text = one->get_name(), .about = first_line(one->get_description())});
    }
    for (const CLI::Option* one : from.get_options([](const CLI::Option*) { return true; })) {
        for (const std::string& name : one->get_lnames()) {
            made.words.push_back({.text = "--" + name,
                                  .about = first_line(one->get_description()),
                                  .takes_value = one->get_items_expected_min() > 0,
                                  .values = words_of(*one)});
        }
    }
    to.push_back(std::move(made));
    for (const CLI::App* one : commands_of(from)) {
        collect(*one, path + " " + one->get_name(), to);
    }
}

std::string in_quotes(const std::string& text) {
    std::string made = "'";
    for (const char c : text) made += c == '\'' ? std::string{"'\\''"} : std::string{c};
    return made + "'";
}

std::string with_spaces(const std::vector<std::string>& words) {
    std::string made;
    for (const std::string& one : words) made += (made.empty() ? "" : " ") + one;
    return made;
}

// A branch of a shell's `case` for every option with a value: what `branch` makes of its values.
template <class Branch>
std::string value_branches(const std::vector<command_words>& all, const Branch& branch) {
    std::string made;
    for (const command_words& one : all) {
        for (const word& each : one.words) {
            if (!each.takes_value) continue;
            made += "    " + in_quotes(one.path + " " + each.text) + ") " +
                    branch(with_spaces(each.values)) + " ;;\n";
        }
    }
    return made;
}

// ---- what all three shells do: follow the words so far to the command they name

std::string bash_script(const std::vector<command_words>& all) {
    std::string known;
    std::string choices;
    for (const command_words& one : all) {
        if (one.path.find(' ') != std::string::npos) {
            known += (known.empty() ? "" : " | ") + in_quotes(one.path);
        }
        std::string words;
        for (const word& each : one.words) words += (words.empty() ? "" : " ") + each.text;
        choices += "    " + in_quotes(one.path) + ") words=" + in_quotes(words) + " ;;\n";
    }
    return "# bash completion of semel: eval \"$(semel completion bash)\"\n"
           "_semel() {\n"
           "    local current=${COMP_WORDS[COMP_CWORD]} path=semel words='' word\n"
           "    for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
           "        case \"$path $word\" in\n"
           "        " +
           known +
           ") path=\"$path $word\" ;;\n"
           "        esac\n"
           "    done\n"
           "    case $path in\n" +
           choices +
           "    esac\n"
           "    case \"$path ${COMP_WORDS[COMP_CWORD-1]}\" in\n" +
           value_branches(all,
                          [](const std::string& values) { return "words=" + in_quotes(values); }) +
           "    esac\n"
           "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
           "}\n"
           "complete -o default -F _semel semel\n";
}

std::string zsh_script(const std::vector<command_words>& all) {
    const auto described = [](const word& one) {
        std::string about;
        for (const char c : one.about) about += c == ':' ? std::string{"\\:"} : std::string{c};
        return in_quotes(one.text + ":" + about);
    };
    std::string known;
    std::string choices;
    for (const command_words& one : all) {
        if (one.path.find(' ') != std::string::npos) {
            known += (known.empty() ? "" : " | ") + in_quotes(one.path);
        }
        choices += "    " + in_quotes(one.path) + ") choices=(";
        for (const word& each : one.words) choices += "\n        " + described(each);
        choices += ") ;;\n";
    }
    return "#compdef semel\n"
           "# zsh completion of semel: eval \"$(semel completion zsh)\"\n"
           "_semel() {\n"
           "    local so_far=semel each\n"
           "    local -a choices\n"
           "    for each in ${words[2,CURRENT-1]}; do\n"
           "        case \"$so_far $each\" in\n"
           "        " +
           known +
           ") so_far=\"$so_far $each\" ;;\n"
           "        esac\n"
           "    done\n"
           "    case \"$so_far ${words[CURRENT-1]}\" in\n" +
           value_branches(all,
                          [](const std::string& values) {
                              const std::string offer =
                                  values.empty() ? "_files" : "compadd -- " + values;
                              return offer + "; return";
                          }) +
           "    esac\n"
           "    case $so_far in\n" +
           choices +
           "    esac\n"
           "    _describe semel choices || _files\n"
           "}\n"
           "compdef _semel semel\n";
}

std::string fish_script(const std::vector<command_words>& all) {
    std::string known;
    std::string choices;
    for (const command_words& one : all) {
        if (one.path.find(' ') != std::string::npos) known += " " + in_quotes(one.path);
        const std::string here =
            "complete -c semel -n " + in_quotes("test (__semel_so_far) = \"" + one.path + "\"");
        for (const word& each : one.words) {
            const bool option = each.text.starts_with("--");
            choices += here + (option ? " -l " + each.text.substr(2) : " -f -a " + each.text);
            if (!each.values.empty()) {
                choices += " -x -a " + in_quotes(with_spaces(each.values));
            } else if (each.takes_value) {
                choices += " -r";
            }
            choices += " -d " + in_quotes(each.about) + "\n";
        }
    }
    return "# fish completion of semel: semel completion fish | source\n"
           "function __semel_so_far\n"
           "    set -l so_far semel\n"
           "    for each in (commandline -opc)[2..-1]\n"
           "        if contains -- \"$so_far $each\"" +
           known +
           "\n"
           "            set so_far \"$so_far $each\"\n"
           "        end\n"
           "    end\n"
           "    echo $so_far\n"
           "end\n" +
           choices;
}

} // namespace

void add_completion_command(CLI::App& tool) {
    CLI::App& command = *tool.add_subcommand("completion", "Print a script that completes words");
    command.require_subcommand(1);
    const auto add = [&](const char* shell,
                         std::string (*script)(const std::vector<command_words>&)) {
        CLI::App* const one = command.add_subcommand(shell, std::string{"The script for "} + shell);
        one->callback([&tool, script] {
            std::vector<command_words> all;
            collect(tool, "semel", all);
            std::cout << script(all);
        });
    };
    add("bash", bash_script);
    add("zsh", zsh_script);
    add("fish", fish_script);
}

} // namespace semel::app
