// Options that take one of a few words, and flags for one of a few values.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

namespace semel::app {

// The words are in the option's help, shells complete them, and others are refused.
CLI::Option* one_of(CLI::Option* option, const std::vector<std::string>& words);

// The same for a value that each word stands for.
template <class T>
CLI::Option* choice(CLI::App& command, const std::string& name, T& to,
                    const std::vector<std::pair<std::string, T>>& choices,
                    const std::string& about) {
    const auto take = [&to, choices](const std::string& word) {
        for (const auto& [known, value] : choices) {
            if (word == known) to = value;
        }
    };
    CLI::Option* const made = command.add_option_function<std::string>(name, take, about);
    std::vector<std::string> words;
    for (const auto& [word, value] : choices) {
        words.push_back(word);
        if (value == to) made->default_str(word);
    }
    return one_of(made, words);
}

template <class T>
CLI::Option* flag(CLI::App& command, const std::string& name, T& to, T becomes,
                  const std::string& about) {
    return command.add_flag_callback(
        name, [&to, becomes] { to = becomes; }, about);
}

// The words of an option of one_of() or choice(); none if the option takes anything.
[[nodiscard]] std::vector<std::string> words_of(const CLI::Option& option);

} // namespace semel::app
