#include "databases/mysql/outbox/table.hpp"

#include <algorithm>

#include "databases/mysql/client/literal.hpp"
#include "databases/mysql/client/schema.hpp"
#include "databases/mysql/outbox/texts.hpp"
#include "databases/mysql/store/session.hpp"
#include "outbox/header_text.hpp"
#include "semel/databases/mysql/outbox.hpp"

namespace semel::outbox {

namespace my {

namespace {

// Rows of a claim are locked only for the time of a statement: by this relay's keeper, or by
// another relay that has just skipped them. Claims skip locked rows and do not wait at all.
constexpr const char* patience = "SET SESSION innodb_lock_wait_timeout=1";

failure refused(errc code, std::string detail) {
    return {.code = code, .possible = effect::none, .detail = "mysql: " + std::move(detail)};
}

const std::string set_clock = "SET @n=" + std::string{clock} + ",@d=0";
// FOUND_ROWS is on: an UPDATE counts what it found.
const std::string add_count = "SET @d=@d+ROW_COUNT()";

std::string joined(const std::vector<std::string>& all) {
    std::string made;
    for (const auto& one : all) made += (made.empty() ? "" : ";") + one;
    return made;
}

} // namespace

message read_message(const mysql::rows& from, int first) {
    message made;
    made.row = from.integer(first);
    made.shard = static_cast<std::int32_t>(from.integer(first + 1));
    made.attempts = static_cast<std::int32_t>(from.integer(first + 2));
    made.created_at = from.time(first + 3);
    made.event.id = from.bytes(first + 4);
    made.event.topic = from.bytes(first + 5);
    made.event.key = from.bytes(first + 6);
    read_header_lines(from.bytes(first + 7), made.event.headers);
    read_header_lines(from.bytes(first + 8), made.event.headers);
    made.event.payload = from.bytes(first + 9);
    return made;
}

// ---- the connection -----------------------------------------------------------------------------

result<void> mysql_table::open() {
    if (on_ != nullptr && !on_->lost()) return {};
    on_.reset();
    auto made = mysql::connect(to_);
    if (!made) return std::move(made).error();
    const auto spoken = mysql::find_dialect(**made, deadline());
    if (!spoken) return spoken.error();
    if (auto ready = mysql::set_up(**made, to_, *spoken); !ready) return ready;
    if (auto set = (*made)->query(patience, deadline()); !set) return std::move(set).error();
    const auto version = mysql::schema_version(**made, prefix_, deadline());
    if (!version) return version.error();
    if (auto fits = mysql::check_version(*version, prefix_); !fits) return fits;
    on_ = *std::move(made);
    return {};
}

mysql_table::answers mysql_table::transact(const std::vector<std::string>& writes,
                                           const std::vector<std::string>& reads) {
    if (auto ready = open(); !ready) return std::move(ready).error();
    std::vector<std::string> all{"START TRANSACTION", set_clock};
    for (const auto& one : writes) {
        all.push_back(one);
        // Copies into the archive are not counted twice.
        if (!one.starts_with("INSERT")) all.push_back(add_count);
    }
    const std::size_t before_commit = all.size();
    all.push_back("SELECT @d");
    all.insert(all.end(), reads.begin(), reads.end());
    all.push_back("COMMIT");
    return on_->run({.text = mysql::with_prefix(joined(all), prefix_),
                     .what = mysql::script::writes::at_commit,
                     .before_commit = before_commit,
                     .in_transaction = true},
                    deadline());
}

mysql_table::answers mysql_table::read(const std::string& sql) {
    if (auto ready = open(); !ready) return std::move(ready).error();
    return on_->run({.text = mysql::with_prefix(sql, prefix_)}, deadline());
}

result<std::size_t> mysql_table::count_of(const std::string& sql) {
    auto got = transact({sql}, {});
    if (!got) return std::move(got).error();
    got->front().next();
    return static_cast<std::size_t>(got->front().integer(0));
}

// ---- parallel mode ------------------------------------------------------------------------------

result<exchanged> mysql_table::exchange(const settlement& last,
                                        const std::optional<claim_request>& next) {
    std::vector<std::string> writes = settle(last, lock_guard(last.of), options_.ack);
    std::vector<std::string> reads;
    if (next) {
        writes.push_back("SET @c=@d");
        writes.push_back(claim(*next));
        reads = {"SELECT @c", claimed(*next)};
    }
    auto got = transact(writes, reads);
    if (!got) return std::move(got).error();
    (*got)[0].next();
    exchanged made;
    auto settled = static_cast<std::size_t>((*got)[0].integer(0));
    if (next) {
        (*got)[1].next();
        const auto before = static_cast<std::size_t>((*got)[1].integer(0));
        made.selected = settled - before;
        settled = before;
        while ((*got)[2].next()) made.claimed.push_back(read_message((*got)[2], 0));
    }
    made.back = std::min(settled, last.back.size());
    made.done = settled - made.back;
    return made;
}

result<std::size_t> mysql_table::renew(const row_lock& by, std::span<const std::int64_t> rows,
                                       duration lease) {
    if (rows.empty()) return std::size_t{0};
    return count_of("UPDATE semel_outbox FORCE INDEX (PRIMARY) SET lock_until=@n+" +
                    mysql::number_text(lease.count()) + ",updated_at=@n WHERE id IN " +
                    id_list(rows) + lock_guard(by));
}

result<std::size_t> mysql_table::release(std::int32_t shard, const row_lock& by) {
    return count_of(
        "UPDATE semel_outbox FORCE INDEX (idx_claim) SET status=0,lock_until=0,attempts="
        "attempts-1 WHERE "
        "shard_id=" +
        mysql::number_text(shard) + " AND next_retry_time=0" + lock_guard(by));
}

result<std::int32_t> mysql_table::shards_used() {
    auto got = read("SELECT COALESCE(MAX(shard_id)+1,0) FROM semel_outbox");
    if (!got) return std::move(got).error();
    got->front().next();
    return static_cast<std::int32_t>(got->front().integer(0));
}

} // namespace my

result<std::unique_ptr<table>> open_mysql_table(const mysql_store_options& store,
                                                const table_options& options) {
    if (!mysql::valid_prefix(store.table_prefix)) {
        return my::refused(errc::invalid_argument,
                           "'" + store.table_prefix + "' is not a table prefix");
    }
    auto to = mysql::read_target(store);
    if (!to) return std::move(to).error();
    auto made = std::make_unique<my::mysql_table>(*std::move(to), store.table_prefix, options);
    if (auto opened = made->open(); !opened) return std::move(opened).error();
    return std::unique_ptr<table>{std::move(made)};
}

} // namespace semel::outbox
