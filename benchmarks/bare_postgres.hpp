// The floor of any PostgreSQL store: the driver's own tables, session and statements in a plain
// loop, without lanes, record machine or engine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bench.hpp"
#include "databases/postgres/store/rounds.hpp"
#include "databases/postgres/store/session.hpp"

namespace semel::bench {

// One thread at a time. Throws on every error.
class bare_postgres {
public:
    explicit bare_postgres(const postgres::session_options& options);

    // New keys from number `first` on, `group` per statement: one statement and commit for their
    // claims, another for their completions. Says how many it got done until time was up.
    [[nodiscard]] std::size_t run_first(std::uint64_t first, std::size_t group, seconds most);

    // Looks at records with numbers below `known`, one at a time.
    [[nodiscard]] std::size_t run_replays(std::size_t known, std::uint64_t seed, seconds most);

    // Finished records for the keys with numbers below `count`, in large transactions.
    void preload(std::size_t count);

private:
    struct claimed {
        std::uint64_t fence;
        std::string place;
    };

    static void add_claim(postgres::column_group& row, const record_id& id);
    void claim(std::uint64_t first, std::size_t group);
    void complete(std::uint64_t first, std::size_t group);
    [[nodiscard]] postgres::rows ask(postgres::batch_call& what);

    postgres::session session_;
    postgres::batch_call insert_new_;
    postgres::batch_call complete_;
    postgres::batch_call load_;
    postgres::pending nobody_; // a call wants to know whose its rows are
    std::vector<claimed> claims_;
};

} // namespace semel::bench
