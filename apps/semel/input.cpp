#include "input.hpp"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "commands.hpp"

namespace semel::app {
namespace {

struct close_file {
    void operator()(std::FILE* file) const { std::fclose(file); }
};

[[noreturn]] void refuse(const std::string& name) {
    throw usage_error("cannot read " + name + ": " + std::strerror(errno));
}

std::string read_all(std::FILE* file, const std::string& name) {
    std::string text;
    std::array<char, 65536> chunk;
    while (const std::size_t count = std::fread(chunk.data(), 1, chunk.size(), file)) {
        text.append(chunk.data(), count);
    }
    if (std::ferror(file) != 0) refuse(name);
    return text;
}

} // namespace

std::string read_standard_input() {
    return read_all(stdin, "standard input");
}

std::string read_file(const std::string& path) {
    const std::unique_ptr<std::FILE, close_file> file{std::fopen(path.c_str(), "rb")};
    if (!file) refuse(path);
    return read_all(file.get(), path);
}

} // namespace semel::app
