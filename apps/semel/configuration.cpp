#include "configuration.hpp"

#include <filesystem>
#include <iostream>

#include "commands.hpp"

namespace semel::app {

config::config load_config(const std::string& file) {
    config::surroundings around = config::this_process();
    around.folder = std::filesystem::path{file}.parent_path().string();
    const auto text = around.read_file(file);
    if (!text) throw usage_error(text.error().detail);
    auto got = config::load(*text, file, around);
    if (const auto* wrong = std::get_if<config::complaints>(&got)) {
        for (const std::string& one : *wrong) std::cerr << "semel: " << one << '\n';
        throw CLI::RuntimeError{2};
    }
    return std::get<config::config>(std::move(got));
}

} // namespace semel::app
