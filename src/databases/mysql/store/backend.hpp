// Multi-row statements: one transaction per batch of a lane.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "databases/mysql/store/rounds.hpp"
#include "databases/mysql/store/session.hpp"
#include "semel/base/result.hpp"
#include "semel/core/metrics.hpp"
#include "semel/core/search.hpp"
#include "store/lane.hpp"
#include "store/row_search.hpp"

namespace semel::mysql {

class backend final : public batch_backend {
public:
    // Options and counters are shared by all backends of one store and outlive them.
    static result<std::unique_ptr<backend>> open(const session_options& options,
                                                 store_counters& counters);

    // Every job is answered within the time-outs of the options, whatever the server does.
    void execute(std::span<job* const> batch) override;

    // A chunk of a sweep in a transaction of its own.
    [[nodiscard]] result<std::size_t> purge(std::size_t most, std::optional<time_point> now);
    [[nodiscard]] result<std::vector<audit_entry>> audit(const record_id& id);
    // Of a search.
    [[nodiscard]] result<rows_read> read(const record_query& query, const row_request& which);

private:
    backend(const session_options& options, store_counters& counters)
        : options_(options),
          counters_(counters),
          session_(options),
          rounds_(options.texts, counters) {}

    // How long a group waits for rows that others hold locked.
    enum class haste {
        first, // not at all: mostly no row is locked
        patient,
        brief, // for rows that were found locked a moment ago
        last,  // not at all: the group has waited long enough
    };
    void run(std::span<pending* const> group, haste how, local_time deadline);
    [[nodiscard]] result<void> go(connection& on, std::span<pending* const> group, haste how,
                                  local_time deadline);
    enum class course { again, answered };
    [[nodiscard]] course recover(std::span<pending* const> group, haste how, const failure& why,
                                 local_time deadline);
    void split(std::span<pending* const> group, haste how, local_time deadline);
    [[nodiscard]] duration lock_wait(haste how) const;
    void remember_locked(const job& one);
    [[nodiscard]] bool is_locked(const job& one);
    [[nodiscard]] result<std::vector<rows>> ask(const script& what);
    [[nodiscard]] result<std::size_t> purge(const std::string& find);

    const session_options& options_;
    store_counters& counters_;
    session session_;
    rounds rounds_;
    // The hashes of records that others held locked a moment ago, each with the time until which
    // the backend believes that.
    std::map<std::uint64_t, local_time> locked_;
};

} // namespace semel::mysql
