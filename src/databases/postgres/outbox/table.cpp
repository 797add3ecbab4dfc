#include "databases/postgres/outbox/table.hpp"

#include <algorithm>
#include <array>

#include "databases/postgres/client/binary.hpp"
#include "databases/postgres/client/schema.hpp"
#include "databases/postgres/store/session.hpp"
#include "outbox/header_text.hpp"
#include "semel/databases/postgres/outbox.hpp"

namespace semel::outbox {

namespace pg {

namespace {

using postgres::type;

const std::vector<type> returned_types{type::int8, type::int8, type::int8, type::int8, type::bytea};

std::string bytes_of(std::int64_t number) {
    const auto made = postgres::big_endian(number);
    return {made.data(), made.size()};
}

failure refused(errc code, std::string detail) {
    return {.code = code, .possible = effect::none, .detail = "postgres: " + std::move(detail)};
}

// RETURNING has no order.
void sort(std::vector<message>& all) {
    std::sort(all.begin(), all.end(),
              [](const message& one, const message& other) { return one.row < other.row; });
}

} // namespace

// ---- arguments ----------------------------------------------------------------------------------

arguments& arguments::add(std::int64_t number) {
    values_.push_back(bytes_of(number));
    return *this;
}

arguments& arguments::add(const owner_id& owner) {
    values_.push_back(bytes_of(static_cast<std::int64_t>(owner.high)) +
                      bytes_of(static_cast<std::int64_t>(owner.low)));
    return *this;
}

arguments& arguments::add(std::string_view bytes) {
    values_.emplace_back(bytes);
    return *this;
}

arguments& arguments::add(std::span<const std::int64_t> numbers) {
    postgres::column made{type::int8};
    for (const std::int64_t one : numbers) made.add(one);
    values_.emplace_back(made.bytes());
    return *this;
}

arguments& arguments::add(const std::vector<returned_row>& rows) {
    postgres::column_group made{returned_types};
    for (const auto& one : rows) {
        made.add(one.row).add(static_cast<std::int64_t>(one.as)).add(one.delay);
        made.add(std::int64_t{one.tries}).add(std::string_view{one.error});
    }
    for (auto& column : made.columns()) values_.emplace_back(column.bytes());
    return *this;
}

postgres::call arguments::of(const text& what) const {
    return {what.name, {values_.begin(), values_.end()}};
}

message read_message(const postgres::rows& from, int row, int first) {
    message made;
    made.row = from.integer(row, first);
    made.shard = static_cast<std::int32_t>(from.integer(row, first + 1));
    made.attempts = static_cast<std::int32_t>(from.integer(row, first + 2));
    made.created_at = from.time(row, first + 3);
    made.event.id = from.bytes(row, first + 4);
    made.event.topic = from.bytes(row, first + 5);
    made.event.key = from.bytes(row, first + 6);
    read_header_lines(from.bytes(row, first + 7), made.event.headers);
    read_header_lines(from.bytes(row, first + 8), made.event.headers);
    made.event.payload = from.bytes(row, first + 9);
    return made;
}

// ---- the connection -----------------------------------------------------------------------------

result<void> postgres_table::open() {
    if (on_ != nullptr && !on_->lost()) return {};
    on_.reset();
    auto started = postgres::connection::start(to_);
    if (!started) return std::move(started).error();
    const auto got = (*started)->advance(local_clock::now() + to_.connect_timeout);
    if (!got) return got.error();
    if (*got == postgres::connection::progress::pending) {
        return refused(errc::unavailable, "no connection in time; check host, port and firewalls");
    }
    if (auto ready = postgres::set_up(**started, to_); !ready) return ready;
    if (auto there = postgres::check_schema(**started, prefix_, deadline()); !there) return there;
    std::vector<postgres::preparation> all;
    for (const text* one : texts_.all()) all.push_back({one->name, one->sql});
    if (auto ready = (*started)->prepare(all, deadline()); !ready) return ready;
    on_ = *std::move(started);
    return {};
}

postgres_table::answers postgres_table::ask(std::span<const postgres::call> calls) {
    if (auto ready = open(); !ready) return std::move(ready).error();
    return on_->pipeline(calls, deadline());
}

postgres_table::answers postgres_table::ask(const text& what, const arguments& with) {
    const std::array<postgres::call, 1> one{with.of(what)};
    return ask(one);
}

result<std::size_t> postgres_table::count_of(const text& what, const arguments& with) {
    auto got = ask(what, with);
    if (!got) return std::move(got).error();
    return static_cast<std::size_t>(got->front().count());
}

// ---- parallel mode ------------------------------------------------------------------------------

result<exchanged> postgres_table::exchange(const settlement& last,
                                           const std::optional<claim_request>& next) {
    std::vector<postgres::call> calls;
    arguments back;
    arguments rest;
    if (!last.back.empty()) {
        back.add(last.of.owner).add(last.of.token).add(last.back);
        calls.push_back(back.of(texts_.give_back));
    }
    if (next) {
        rest.add(std::int64_t{next->shard}).add(next->by.owner).add(next->by.token);
        rest.add(next->lease.count()).add(next->after);
        rest.add(static_cast<std::int64_t>(next->rows_max)).add(last.done).add(last.of.token);
        calls.push_back(rest.of(texts_.claim[static_cast<std::size_t>(next->range)]));
    } else {
        rest.add(last.of.owner).add(last.of.token).add(last.done);
        calls.push_back(rest.of(texts_.settle));
    }
    auto got = ask(calls);
    if (!got) return std::move(got).error();
    const postgres::rows& answer = got->back();
    exchanged made;
    if (!last.back.empty()) made.back = static_cast<std::size_t>(got->front().count());
    made.done = static_cast<std::size_t>(answer.integer(0, 0));
    if (!next) return made;
    made.selected = static_cast<std::size_t>(answer.integer(0, 1));
    made.claimed.reserve(static_cast<std::size_t>(answer.count()));
    for (int row = 0; row < answer.count(); ++row) {
        if (!answer.is_null(row, 2)) made.claimed.push_back(read_message(answer, row, 2));
    }
    sort(made.claimed);
    return made;
}

result<std::size_t> postgres_table::renew(const row_lock& by, std::span<const std::int64_t> rows,
                                          duration lease) {
    arguments with;
    with.add(by.owner).add(by.token).add(rows).add(lease.count());
    return count_of(texts_.renew, with);
}

result<std::size_t> postgres_table::release(std::int32_t shard, const row_lock& by) {
    arguments with;
    with.add(std::int64_t{shard}).add(by.owner).add(by.token);
    return count_of(texts_.release, with);
}

result<std::int32_t> postgres_table::shards_used() {
    auto got = ask(texts_.shards_used, {});
    if (!got) return std::move(got).error();
    return static_cast<std::int32_t>(got->front().integer(0, 0));
}

} // namespace pg

result<std::unique_ptr<table>> open_postgres_table(const postgres_store_options& store,
                                                   const table_options& options) {
    if (!postgres::valid_prefix(store.table_prefix)) {
        return pg::refused(errc::invalid_argument,
                           "'" + store.table_prefix + "' is not a table prefix");
    }
    auto to = postgres::read_target({.url = store.url,
                                     .connect_timeout = store.connect_timeout,
                                     .answer_timeout = store.statement_timeout,
                                     .lock_timeout = store.lock_timeout,
                                     .mode = store.mode});
    if (!to) return std::move(to).error();
    auto made = std::make_unique<pg::postgres_table>(*std::move(to), store.table_prefix, options);
    if (auto opened = made->open(); !opened) return std::move(opened).error();
    return std::unique_ptr<table>{std::move(made)};
}

} // namespace semel::outbox
