// Shell completion, made from the tool's own description of itself so that it never falls behind.
#include <iostream>
#include <string>
#include <vector>

#include "commands.hpp"

namespace semel::app {
namespace {

struct word {
    std::string text; // "serve", "--config"
    std::string about;
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
    for (const CLI::App* one : from.get_subcommands([](const CLI::App*) { return true; })) {
        made.words.push_back({one->get_name(), first_line(one->get_description())});
    }
    for (const CLI::Option* one : from.get_options([](const CLI::Option*) { return true; })) {
        for (const std::string& name : one->get_lnames()) {
            made.words.push_back({"--" + name, first_line(one->get_description())});
        }
    }
    to.push_back(std::move(made));
    for (const CLI::App* one : from.get_subcommands([](const CLI::App*) { return true; })) {
        collect(*one, path + " " + one->get_name(), to);
    }
}

std::string in_quotes(const std::string& text) {
    std::string made = "'";
    for (const char c : text) made += c == '\'' ? std::string{"'\\''"} : std::string{c};
    return made + "'";
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
            choices += here + (option ? " -l " + each.text.substr(2) : " -f -a " + each.text) +
                       " -d " + in_quotes(each.about) + "\n";
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
