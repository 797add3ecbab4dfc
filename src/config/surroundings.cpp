#include "config/surroundings.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include <unistd.h>

#include "net/in_folder.hpp"

namespace semel::config {
namespace {

constexpr std::string_view file_scheme = "file:";
constexpr std::string_view variable_scheme = "env:";

result<std::string> read_whole(const std::string& path) {
    errno = 0;
    try {
        std::ifstream in(path, std::ios::binary);
        std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
        if (in.is_open()) return text;
    } catch (const std::ios_base::failure&) { // a directory, for instance
    }
    const char* const why = errno != 0 ? std::strerror(errno) : "it cannot be read";
    return failure{.code = errc::invalid_argument, .detail = path + ": " + why};
}

std::string without_line_end(std::string text) {
    if (text.ends_with('\n')) text.pop_back();
    if (text.ends_with('\r')) text.pop_back();
    return text;
}

} // namespace

surroundings this_process() {
    surroundings made{.read_file = read_whole};
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        const std::string_view text = *entry;
        const auto equals = text.find('=');
        if (equals == std::string_view::npos) continue;
        made.variables.emplace(text.substr(0, equals), text.substr(equals + 1));
    }
    return made;
}

std::string in_folder(std::string_view reference, const surroundings& around) {
    if (!reference.starts_with(file_scheme)) return std::string{reference};
    const std::string path =
        net::path_in_folder(reference.substr(file_scheme.size()), around.folder);
    return std::string{file_scheme} + path;
}

bool is_reference(std::string_view written) {
    return written.starts_with(file_scheme) || written.starts_with(variable_scheme);
}

result<std::string> look_up(std::string_view reference, const surroundings& around) {
    if (reference.starts_with(file_scheme)) {
        const std::string path{reference.substr(file_scheme.size())};
        auto text = around.read_file(path);
        if (!text) return text;
        return without_line_end(*std::move(text));
    }
    const std::string name{reference.substr(variable_scheme.size())};
    const auto found = around.variables.find(name);
    if (found != around.variables.end()) return found->second;
    return failure{.code = errc::invalid_argument,
                   .detail = "the environment variable " + name + " is not set"};
}

} // namespace semel::config
