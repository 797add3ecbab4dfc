#include "configuration.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <iostream>
#include <limits>

#include "commands.hpp"
#include "refusals.hpp"

namespace semel::app {
namespace {

// The file itself may be a link: its paths begin where the link is.
std::string folder_of(const std::string& file) {
    namespace fs = std::filesystem;
    std::error_code unknown;
    const fs::path folder = fs::absolute(file).parent_path();
    const fs::path real = fs::canonical(folder, unknown);
    return unknown ? folder.string() : real.string();
}

config::reading read(const std::string& file) {
    config::surroundings around = config::this_process();
    // Absolute: what `check-config` prints means the same when it is loaded from another place.
    around.folder = folder_of(file);
    const auto text = around.read_file(file);
    if (!text) throw usage_error(text.error().detail);
    return config::read(*text, file, around);
}

// "semel.toml:12: …": 12. What has no line comes first, variables last.
int line_of(const std::string& complaint, const std::string& file) {
    if (!complaint.starts_with(file + ":")) return std::numeric_limits<int>::max();
    int line = 0;
    std::from_chars(complaint.data() + file.size() + 1, complaint.data() + complaint.size(), line);
    return line;
}

config::config sound(config::reading got, const std::string& file) {
    if (got.found.empty()) return std::move(got.made);
    std::stable_sort(got.found.begin(), got.found.end(), [&](const auto& one, const auto& other) {
        return line_of(one, file) < line_of(other, file);
    });
    for (const std::string& one : got.found) std::cerr << "semel: " << one << '\n';
    throw CLI::RuntimeError{2};
}

} // namespace

config::config load_config(const std::string& file) {
    return sound(read(file), file);
}

config::config load_service(const std::string& file) {
    config::reading got = read(file);
    if (!got.is_whole) return sound(std::move(got), file);
    for (std::string& one : refusals(got.made, got.found.empty())) {
        got.found.push_back(std::move(one));
    }
    return sound(std::move(got), file);
}

} // namespace semel::app
