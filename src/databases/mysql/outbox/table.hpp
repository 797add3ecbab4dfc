// An outbox table in MariaDB or MySQL, as a relay sees it.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "databases/mysql/client/connection.hpp"
#include "databases/mysql/client/target.hpp"
#include "semel/outbox/table.hpp"

namespace semel::outbox::my {

// One thread at a time. After a loss the next call reconnects.
class mysql_table final : public table {
public:
    mysql_table(mysql::target to, std::string prefix, const table_options& options)
        : to_(std::move(to)), prefix_(std::move(prefix)), options_(options) {}

    result<void> open();

    result<exchanged> exchange(const settlement& last,
                               const std::optional<claim_request>& next) override;
    result<std::size_t> renew(const row_lock& by, std::span<const std::int64_t> rows,
                              duration lease) override;
    result<std::size_t> release(std::int32_t shard, const row_lock& by) override;
    result<std::int32_t> shards_used() override;

    result<shards_seen> attend(const owner_id& owner, std::int32_t shards, duration lease) override;
    result<std::optional<taken_shard>> take(std::int32_t shard, const owner_id& owner,
                                            duration lease) override;
    result<void> give_back(const shard_lock& what) override;
    result<void> leave(const owner_id& owner) override;
    result<std::vector<std::string>> tidy_shard(const shard_lock& by) override;
    result<shard_read> advance(const shard_lock& by, const settlement& last,
                               const std::optional<read_request>& next) override;

    result<std::vector<row_view>> list(const row_query& which) override;
    result<std::optional<row_view>> show(std::int64_t row) override;
    result<std::size_t> requeue(std::span<const std::int64_t> rows) override;
    result<std::size_t> drop(std::span<const std::int64_t> rows) override;
    result<backlog> measure() override;

private:
    using answers = result<std::vector<mysql::rows>>;

    [[nodiscard]] local_time deadline() const { return local_clock::now() + to_.answer_timeout; }
    // Statements that write, as one transaction and one round trip, with the time in @n; what the
    // last `reads` of them read is the answer.
    [[nodiscard]] answers transact(const std::vector<std::string>& writes,
                                   const std::vector<std::string>& reads);
    [[nodiscard]] answers read(const std::string& sql);
    // How many rows one statement has changed.
    [[nodiscard]] result<std::size_t> count_of(const std::string& sql);
    [[nodiscard]] result<std::vector<row_view>> views(const std::string& where);

    const mysql::target to_;
    const std::string prefix_;
    const table_options options_;
    std::unique_ptr<mysql::connection> on_;
};

// The current row, with `columns` from this column on.
[[nodiscard]] message read_message(const mysql::rows& from, int first);

} // namespace semel::outbox::my
