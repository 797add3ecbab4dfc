// An outbox table in an SQLite file, as a relay sees it.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "databases/sqlite/client/connection.hpp"
#include "semel/outbox/table.hpp"

namespace semel::outbox::lite {

// SQL with the prefix in it, as the statements of this file are written. The relay's plans are
// tested with it.
[[nodiscard]] std::string claim_text(claim_range which);
[[nodiscard]] std::string read_text();

// One thread at a time.
class sqlite_table final : public table {
public:
    sqlite_table(std::unique_ptr<sqlite::connection> on, std::string prefix,
                 const table_options& options)
        : prefix_(std::move(prefix)), options_(options), on_(std::move(on)) {}

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
    // A parameter: a number or bytes.
    struct value {
        value(std::int64_t number) : number(number) {}
        value(std::string_view bytes) : bytes(bytes), is_bytes(true) {}
        std::int64_t number = 0;
        std::string_view bytes = {};
        bool is_bytes = false;
    };
    using values = std::vector<value>;
    using on_row = std::function<void(const sqlite::query& row)>;

    // Runs a statement within the transaction that is open; how many rows it changed. Statements
    // are prepared once, and `semel_` becomes the prefix.
    result<std::size_t> run(const std::string& sql, const values& with, const on_row& each = {});
    // The same in a transaction of its own.
    template <class Work> auto transact(sqlite::access how, const Work& work) -> decltype(work());
    result<std::size_t> write(const std::string& sql, const values& with);
    result<std::size_t> write_each(const std::string& sql, std::span<const std::int64_t> rows,
                                   const values& with);

    [[nodiscard]] result<void> settle(const settlement& last, const std::string& guard,
                                      const values& guarded, exchanged& to);
    [[nodiscard]] result<exchanged> exchange_within(const settlement& last,
                                                    const std::optional<claim_request>& next);
    [[nodiscard]] result<void> claim_within(const claim_request& next, exchanged& to);
    [[nodiscard]] result<shards_seen> attend_within(const owner_id& owner, std::int32_t shards,
                                                    duration lease);
    [[nodiscard]] result<std::optional<taken_shard>>
    take_within(std::int32_t shard, const owner_id& owner, duration lease);
    [[nodiscard]] result<shard_read> advance_within(const shard_lock& by, const settlement& last,
                                                    const std::optional<read_request>& next);
    [[nodiscard]] result<std::vector<std::string>> tidy_within(const shard_lock& by);
    [[nodiscard]] result<std::vector<row_view>> views(const std::string& where, const values& with);

    const std::string prefix_;
    const table_options options_;
    std::unique_ptr<sqlite::connection> on_;
    std::map<std::string, sqlite::statement> prepared_; // gone before the connection
};

template <class Work>
auto sqlite_table::transact(sqlite::access how, const Work& work) -> decltype(work()) {
    if (auto begun = on_->begin(how); !begun) return std::move(begun).error();
    auto made = work();
    if (made) {
        auto done = on_->commit();
        if (done) return made;
        on_->rollback();
        return std::move(done).error();
    }
    on_->rollback();
    return made;
}

[[nodiscard]] std::string owner_text(const owner_id& owner); // 16 bytes
[[nodiscard]] std::int64_t now();
[[nodiscard]] std::string columns();
// The current row, with `columns` from this column on.
[[nodiscard]] message read_message(const sqlite::query& from, int first);

} // namespace semel::outbox::lite
