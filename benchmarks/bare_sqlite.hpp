// The floor of any SQLite store: the driver's own file, pragmas and statements in a plain loop,
// without lanes, batches that form by themselves, record machine or engine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "bench.hpp"
#include "databases/sqlite/client/connection.hpp"
#include "semel/core/record.hpp"

namespace semel::bench {

// One thread at a time. Throws on every error.
class bare_sqlite {
public:
    // The file must have the driver's tables.
    explicit bare_sqlite(const std::filesystem::path& file);

    // New keys from number `first` on, `group` per commit: one commit for their claims, another for
    // their completions. Says how many it got done until time was up.
    [[nodiscard]] std::size_t run_first(std::uint64_t first, std::size_t group, seconds most);

    // Looks up keys with numbers below `known`, each in a transaction of its own.
    [[nodiscard]] std::size_t run_replays(std::size_t known, std::uint64_t seed, seconds most);

    // Finished records for the keys with numbers below `count`, in large transactions.
    void preload(std::size_t count);

private:
    void claim(const record_id& id, const record& it);
    void complete(const record_id& id, const semel::claim& by);
    void look_up(const record_id& id);

    std::unique_ptr<sqlite::connection> on_;
    sqlite::statement insert_;
    sqlite::statement complete_;
    sqlite::statement load_;
};

} // namespace semel::bench
