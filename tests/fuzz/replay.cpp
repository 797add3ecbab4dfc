// Shows each file of a folder to one target.
//
// usage: semel_fuzz_NAME FOLDER
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "target.hpp"

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fputs("usage: semel_fuzz_NAME FOLDER\n", stderr);
        return 2;
    }
    std::size_t count = 0;
    for (const auto& file : std::filesystem::directory_iterator{argv[1]}) {
        std::ifstream in{file.path(), std::ios::binary};
        const std::string text{std::istreambuf_iterator<char>{in}, {}};
        LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
        ++count;
    }
    std::printf("%zu inputs\n", count);
    return count > 0 ? 0 : 1;
}
