// semel-bench: measures semel beside its references. Exit codes: 0 every bar holds, 1 a bar was
// missed or a measurement failed, 2 wrong usage.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "bench.hpp"

namespace semel::bench {

namespace {

struct arguments {
    std::vector<std::string> names;
    std::string json_file;
    settings how;
};

std::vector<scenario> chosen(const std::vector<std::string>& names) {
    std::vector<scenario> made;
    for (const auto& one : scenarios()) {
        const bool usual = names.empty() && one.when == scenario::runs::always;
        const bool named = std::find(names.begin(), names.end(), one.name) != names.end();
        if (usual || named) made.push_back(one);
    }
    return made;
}

// Before anything is measured: minutes must not end in a file that cannot be written.
void check_writable(const std::string& file) {
    if (!file.empty() && !std::ofstream{file, std::ios::app}) {
        throw CLI::ValidationError{"--json", "cannot write " + file};
    }
}

int measure(const arguments& given) {
    report made;
    for (const auto& one : chosen(given.names)) one.run(given.how, made);
    if (!given.json_file.empty()) {
        std::ofstream file{given.json_file, std::ios::trunc};
        file << made.json();
        if (!file.flush()) throw std::runtime_error{"cannot write " + given.json_file};
    }
    if (!made.all_ok()) std::cout << "a bar was missed\n";
    return made.all_ok() ? 0 : 1;
}

void list() {
    for (const auto& one : scenarios()) std::cout << one.name << ": " << one.summary << '\n';
}

std::vector<std::string> names_of_all() {
    std::vector<std::string> made;
    for (const auto& one : scenarios()) made.emplace_back(one.name);
    return made;
}

int run(int argc, char** argv) {
    arguments given;
    double per_measurement = given.how.per_measurement.count();
    bool only_list = false;
    given.how.work_dir = std::filesystem::absolute(argv[0]).parent_path();

    CLI::App tool{"semel-bench: semel beside its references", "semel-bench"};
    tool.add_option("scenario", given.names, "which to run; all if none is named")
        ->check(CLI::IsMember(names_of_all()));
    tool.add_option("--seconds", per_measurement, "how long one round of one side may take")
        ->check(CLI::Range(0.01, 3600.0))
        ->capture_default_str();
    tool.add_option("--rounds", given.how.rounds,
                    "how often each scenario is repeated; the median counts")
        ->check(CLI::Range(1, 1'000))
        ->capture_default_str();
    tool.add_option("--json", given.json_file, "write the rows to this file as well");
    tool.add_option("--dir", given.how.work_dir, "a folder on a disk for files of stores")
        ->check(CLI::ExistingDirectory);
    tool.add_flag("--list", only_list, "show the scenarios and end");
    try {
        tool.parse(argc, argv);
        check_writable(given.json_file);
    } catch (const CLI::Success& asked) {
        return tool.exit(asked);
    } catch (const CLI::ParseError& wrong) {
        std::string message = wrong.what();
        std::replace(message.begin(), message.end(), '\n', ' ');
        std::cerr << "semel-bench: " << message << '\n';
        return 2;
    }
    if (only_list) {
        list();
        return 0;
    }
    given.how.per_measurement = seconds{per_measurement};
    return measure(given);
}

} // namespace

} // namespace semel::bench

int main(int argc, char** argv) {
    try {
        return semel::bench::run(argc, argv);
    } catch (const std::exception& broken) {
        std::cerr << "semel-bench: " << broken.what() << '\n';
        return 1;
    }
}
