// An outbox table in PostgreSQL, as a relay sees it.
#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "databases/postgres/client/connection.hpp"
#include "databases/postgres/client/target.hpp"
#include "databases/postgres/outbox/statements.hpp"
#include "semel/outbox/table.hpp"

namespace semel::outbox::pg {

// The values of one call, in binary form; they live as long as this.
class arguments {
public:
    arguments& add(std::int64_t number);
    arguments& add(const owner_id& owner);
    arguments& add(std::string_view bytes);
    arguments& add(std::span<const std::int64_t> numbers); // bigint[]
    arguments& add(const std::vector<returned_row>& rows); // five arrays
    [[nodiscard]] postgres::call of(const text& what) const;

private:
    std::vector<std::string> values_;
};

// One thread at a time. After a loss the next call reconnects.
class postgres_table final : public table {
public:
    postgres_table(postgres::target to, std::string prefix, const table_options& options)
        : to_(std::move(to)), prefix_(std::move(prefix)), texts_(prefix_, options.ack) {}

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
    using answers = result<std::vector<postgres::rows>>;

    [[nodiscard]] local_time deadline() const { return local_clock::now() + to_.answer_timeout; }
    // One round trip, one transaction.
    [[nodiscard]] answers ask(std::span<const postgres::call> calls);
    [[nodiscard]] answers ask(const text& what, const arguments& with);
    [[nodiscard]] result<std::size_t> count_of(const text& what, const arguments& with);

    const postgres::target to_;
    const std::string prefix_;
    const statement_texts texts_;
    std::unique_ptr<postgres::connection> on_;
};

// The row with `columns` from this column on.
[[nodiscard]] message read_message(const postgres::rows& from, int row, int first);

} // namespace semel::outbox::pg
