// The statements of a transaction on the caller's connection. All are one record's.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "databases/mysql/client/literal.hpp"
#include "semel/base/time.hpp"
#include "semel/core/record.hpp"

namespace semel::mysql {

// Columns of `facts`.
namespace fact {
inline constexpr int now = 0;
inline constexpr int floor = 1;
inline constexpr int schema = 2;
inline constexpr int database = 3;
} // namespace fact

// Columns of `look`; those of the record follow.
namespace looked {
inline constexpr int version = 0;
inline constexpr int record = 1;
} // namespace looked

// Bytes are written so that they mean the same under every character set and SQL mode.
class transaction_texts {
public:
    explicit transaction_texts(std::string prefix) : prefix_(std::move(prefix)) {}

    // A condition: the session's time is the server's. One that was SET stands still, and is
    // believed by everything but SYSDATE(); and by that, too, on a server with --sysdate-is-now.
    [[nodiscard]] static std::string clock_goes();

    [[nodiscard]] static std::string default_database(); // → its name
    // → its name, if the server tells the client when it changes; else NULL
    [[nodiscard]] static std::string default_database_if_told();
    [[nodiscard]] static std::string default_database_is(std::string_view name); // a condition
    // A condition: the session does not see what others have not committed.
    [[nodiscard]] static std::string sees_committed_only(std::string_view isolation_variable);
    [[nodiscard]] std::string schema_version() const;

    // `now` is an expression: the time that the record will have. Read after the key is locked: a
    // removal of the key has raised the floor before.
    [[nodiscard]] std::string facts(std::string_view now) const; // without the database
    [[nodiscard]] std::string facts() const;

    enum class with { nothing, lock };
    [[nodiscard]] std::string look(const record_id& id, with what) const;
    // Fails at once where another transaction holds the row. Not for MariaDB.
    [[nodiscard]] std::string find_unlocked(const record_id& id) const;
    [[nodiscard]] std::string checkpoints(const record_id& id) const; // → name, data
    [[nodiscard]] std::string forget_checkpoints(const record_id& id) const;

    // The row that locks a new key: tenant, operation, key, version, lease, retention,
    // on_lease_expiry, attempts_max, grace, processing_max. It is a finished record with the index
    // entries of the one that follows. Until then its retention is over: if the work commits the
    // row, everyone finds a key without a record.
    [[nodiscard]] std::string claim(const row_buffer& row, std::string_view now) const;
    // Of a row of `claim`, what else its first attempt has written: fence, owner, fingerprint,
    // expires_at, kind, checksum, type, ref, body; tenant, operation, key, version.
    [[nodiscard]] std::string finish() const;
    // The whole record, if it still is the one that was seen. The fence does not tell: a claim that
    // has lapsed is still its owner's, who may complete it.
    [[nodiscard]] std::string update(const record_id& id, const record& after,
                                     std::int64_t seen_version) const;
    // The row of `claim`, where it is still there.
    [[nodiscard]] std::string find_claim(const record_id& id, std::int64_t version) const;
    [[nodiscard]] std::string remove_claim(const record_id& id, std::int64_t version) const;

private:
    [[nodiscard]] std::string table(std::string_view name) const {
        return prefix_ + std::string{name};
    }

    std::string prefix_;
};

} // namespace semel::mysql
