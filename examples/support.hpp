// What the examples share: a folder that is gone afterwards, and claims that are checked.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace example {

class scratch {
public:
    scratch() {
        std::string name = std::filesystem::temp_directory_path() / "semel-example-XXXXXX";
        if (mkdtemp(name.data()) == nullptr) throw std::runtime_error{"cannot make " + name};
        folder_ = name;
    }
    scratch(const scratch&) = delete;
    scratch& operator=(const scratch&) = delete;
    ~scratch() {
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
    }

    [[nodiscard]] std::string file(std::string_view name) const { return folder_ / name; }
    [[nodiscard]] std::string url() const { return "sqlite:" + file("records.db"); }

private:
    std::filesystem::path folder_;
};

// An example is a test: it ends with an error if what it says is not so.
inline void claim(bool holds, std::string_view what) {
    std::cout << (holds ? "so it is: " : "NOT SO: ") << what << '\n';
    if (!holds) std::exit(1);
}

} // namespace example
