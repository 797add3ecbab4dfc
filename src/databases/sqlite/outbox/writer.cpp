#include <sqlite3.h>

#include <chrono>
#include <utility>

#include "databases/sqlite/client/schema.hpp"
#include "databases/sqlite/outbox/table.hpp"
#include "semel/databases/sqlite/outbox.hpp"

namespace semel::outbox {

namespace {

constexpr std::int64_t full = 2; // of PRAGMA synchronous

failure refused(errc code, std::string detail) {
    return {.code = code, .possible = effect::none, .detail = "sqlite: " + std::move(detail)};
}

result<void> check_usable(sqlite::connection& on) {
    if (sqlite3_get_autocommit(on.native()) != 0) {
        return refused(errc::invalid_argument,
                       "append an event in a transaction: begin one, or use transact");
    }
    auto pragma = on.prepare("PRAGMA synchronous");
    if (!pragma) return std::move(pragma).error();
    sqlite::query ask{*pragma};
    const auto stepped = ask.step();
    if (!stepped) return stepped.error();
    if (ask.integer(0) >= full) return {};
    return refused(errc::unsupported, "synchronous is below FULL: a power cut could undo rows "
                                      "whose event has gone out");
}

} // namespace

sqlite_writer::sqlite_writer(sqlite3* in, std::string table_prefix)
    : in_(in),
      statement_(!sqlite::valid_prefix(table_prefix)
                     ? ""
                     : sqlite::with_prefix(
                           "INSERT INTO semel_outbox (shard_id, event_id, topic, message_key, "
                           "headers, trace_context, payload, created_at, updated_at) VALUES (?1, "
                           "CAST(?2 AS TEXT), CAST(?3 AS TEXT), ?4, ?5, ?6, ?7, ?8, ?8)",
                           table_prefix)) {}

result<void> sqlite_writer::insert(std::span<const stored_event> all) {
    if (statement_.empty()) {
        return refused(errc::invalid_argument, "that is not a table prefix");
    }
    const auto on = sqlite::connection::borrow(in_);
    if (auto usable = check_usable(*on); !usable) return usable;
    auto prepared = on->prepare(statement_);
    if (!prepared) return std::move(prepared).error();
    for (const auto& one : all) {
        sqlite::query put{*prepared};
        put.bind(1, std::int64_t{one.shard}).bind(2, one.id).bind(3, one.topic).bind(4, one.key);
        put.bind(5, one.headers).bind(6, one.trace_context).bind(7, one.payload);
        put.bind(8, lite::now());
        if (auto done = put.run(); !done) return std::move(done).error();
    }
    return {};
}

} // namespace semel::outbox
