// A store in an SQLite file of its own as a subject.
#pragma once

#include <sqlite3.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "semel/conformance.hpp"
#include "semel/open.hpp"

namespace semel::conformance {

// A folder that goes with all that is in it. In memory where there is such a place: what the disk
// has to keep is not the matter of this suite, and it would take ten times as long.
class scratch_folder {
public:
    scratch_folder() {
        const std::filesystem::path memory = "/dev/shm";
        const auto place = exists(memory) ? memory : std::filesystem::temp_directory_path();
        std::string name = (place / "semel-XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder for a test");
        path_ = name;
    }
    scratch_folder(const scratch_folder&) = delete;
    scratch_folder& operator=(const scratch_folder&) = delete;
    ~scratch_folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }

    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
};

// A connection that only looks whether others have written.
class sqlite_observer {
public:
    explicit sqlite_observer(const std::string& path) {
        sqlite3_open_v2(path.c_str(), &file_, SQLITE_OPEN_READONLY, nullptr);
    }
    sqlite_observer(const sqlite_observer&) = delete;
    sqlite_observer& operator=(const sqlite_observer&) = delete;
    ~sqlite_observer() { sqlite3_close(file_); }

    // Another number whenever somebody has committed a change.
    std::uint64_t version() {
        sqlite3_stmt* ask = nullptr;
        sqlite3_prepare_v2(file_, "PRAGMA data_version", -1, &ask, nullptr);
        sqlite3_step(ask);
        const auto value = static_cast<std::uint64_t>(sqlite3_column_int64(ask, 0));
        sqlite3_finalize(ask);
        return value;
    }

private:
    sqlite3* file_ = nullptr;
};

class sqlite_backing final : public backing {
public:
    result<std::unique_ptr<store>> open() override { return semel::open_store("sqlite:" + path_); }

    std::optional<std::uint64_t> writes() override {
        if (!observer_) observer_ = std::make_unique<sqlite_observer>(path_);
        return observer_->version();
    }

private:
    const scratch_folder folder_;
    const std::string path_ = (folder_.path() / "records.db").string();
    std::unique_ptr<sqlite_observer> observer_;
};

inline subject sqlite_subject() {
    return {.name = "sqlite",
            .make = [] { return std::make_unique<sqlite_backing>(); },
            .opens = instances::many};
}

} // namespace semel::conformance
