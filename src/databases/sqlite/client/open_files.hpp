// Which files this process has open through SQLite, and which its parent had when it was forked.
//
// SQLite keeps in memory which locks the process holds on a file, for all its connections together.
// A forked child inherits that memory and not the locks. A connection of the child's own would go
// without them: when the parent closes the file, what the child commits is lost.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <utility>

#include "base/home_process.hpp"
#include "semel/base/result.hpp"

namespace semel::sqlite {

// Marks a file as open as long as this object lives. Does nothing if the path names no file.
class open_file {
public:
    open_file() = default;
    explicit open_file(const std::string& path);
    open_file(open_file&& other) noexcept
        : home_(other.home_), id_(std::exchange(other.id_, std::nullopt)) {}
    open_file& operator=(open_file&& other) noexcept {
        std::swap(home_, other.home_);
        std::swap(id_, other.id_);
        return *this;
    }
    ~open_file();

private:
    home_process home_;
    std::optional<std::pair<dev_t, ino_t>> id_;
};

// errc::unsupported if it was open when this process was forked.
[[nodiscard]] result<void> check_not_inherited(const std::string& path);

} // namespace semel::sqlite
