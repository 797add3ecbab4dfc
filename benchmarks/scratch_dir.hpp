// A folder on a real disk for as long as a scenario runs.
#pragma once

#include <sys/vfs.h>
#include <unistd.h>

#include <filesystem>
#include <stdexcept>
#include <string>

namespace semel::bench {

class scratch_dir {
public:
    explicit scratch_dir(const std::filesystem::path& below)
        : path_(below / ("semel-bench-" + std::to_string(::getpid()))) {
        std::filesystem::create_directories(path_);
        constexpr long tmpfs = 0x01021994;
        struct statfs what {};
        if (::statfs(path_.c_str(), &what) == 0 && what.f_type == tmpfs) {
            std::filesystem::remove_all(path_);
            throw std::runtime_error{below.string() +
                                     " is kept in memory: name a folder on a disk with --dir"};
        }
    }
    scratch_dir(const scratch_dir&) = delete;
    scratch_dir& operator=(const scratch_dir&) = delete;
    ~scratch_dir() {
        std::error_code ignored; // a folder that stays behind is no reason to lose the report
        std::filesystem::remove_all(path_, ignored);
    }

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

private:
    const std::filesystem::path path_;
};

} // namespace semel::bench
