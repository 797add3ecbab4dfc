// The statements of a transaction on the caller's connection. All are one record's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "databases/mysql/client/literal.hpp"
#include "semel/base/time.hpp"
#include "semel/core/record.hpp"
#include "semel/databases/mysql.hpp"

namespace semel::mysql {

// Columns of `look`; those of the record follow.
namespace looked {
inline constexpr int now = 0;
inline constexpr int floor = 1;
inline constexpr int schema = 2;
inline constexpr int database = 3;
inline constexpr int version = 4;
inline constexpr int record = 5;
} // namespace looked

// Bytes are written so that they mean the same under every character set and SQL mode.
class transaction_texts {
public:
    explicit transaction_texts(std::string prefix) : prefix_(std::move(prefix)) {}

    // → 1, or not. Outlives COMMIT, so it is released behind it.
    [[nodiscard]] std::string take_lock(const record_id& id, duration wait,
                                        mysql_dialect spoken) const;
    // As it was taken in that default database; none: in the one of now.
    [[nodiscard]] std::string release_lock(const record_id& id,
                                           const std::optional<std::string>& database) const;

    // A condition: the session's time is the server's. One that was SET stands still, and is
    // believed by everything but SYSDATE(); and by that, too, on a server with --sysdate-is-now.
    [[nodiscard]] static std::string clock_goes();

    [[nodiscard]] static std::string default_database();                         // → its name
    [[nodiscard]] static std::string default_database_is(std::string_view name); // a condition
    // A condition: the session does not see what others have not committed.
    [[nodiscard]] static std::string sees_committed_only(std::string_view isolation_variable);
    [[nodiscard]] std::string schema_version() const;
    [[nodiscard]] std::string look(const record_id& id) const;
    [[nodiscard]] std::string checkpoints(const record_id& id) const; // → name, data
    [[nodiscard]] std::string forget_checkpoints(const record_id& id) const;

    // A record that was not there, and one that was: only if it still is what was seen. The fence
    // does not tell: a claim that has lapsed is still its owner's, who may complete it.
    [[nodiscard]] std::string insert(const record_id& id, const record& after) const;
    [[nodiscard]] std::string update(const record_id& id, const record& after,
                                     std::int64_t seen_version) const;

    [[nodiscard]] const std::string& prefix() const { return prefix_; }

private:
    [[nodiscard]] std::string lock_name(const record_id& id, std::string_view database) const;
    [[nodiscard]] std::string table(std::string_view name) const {
        return prefix_ + std::string{name};
    }

    const std::string prefix_;
};

} // namespace semel::mysql
