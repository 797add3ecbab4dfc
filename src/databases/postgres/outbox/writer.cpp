#include <libpq-fe.h>

#include <array>
#include <memory>
#include <string_view>

#include "databases/postgres/client/binary.hpp"
#include "databases/postgres/client/errors.hpp"
#include "databases/postgres/client/schema.hpp"
#include "databases/postgres/outbox/statements.hpp"
#include "semel/databases/postgres/outbox.hpp"

namespace semel::outbox {

namespace {

using postgres::type;

const std::vector<type> insert_types{type::int8,  type::text,  type::text, type::bytea,
                                     type::bytea, type::bytea, type::bytea};

failure refused(errc code, std::string detail) {
    return {.code = code, .possible = effect::none, .detail = "postgres: " + std::move(detail)};
}

result<void> check_usable(PGconn* in) {
    // libpq does not know which statements the server has executed. Without BEGIN, all statements
    // up to the sync are one transaction.
    if (PQpipelineStatus(in) == PQ_PIPELINE_ON) return {};
    if (PQpipelineStatus(in) == PQ_PIPELINE_ABORTED) {
        return refused(errc::transaction_broken, "a statement in the pipeline has failed");
    }
    switch (PQtransactionStatus(in)) {
    case PQTRANS_INTRANS: return {};
    case PQTRANS_INERROR:
        return refused(errc::transaction_broken, "the transaction has failed; roll it back");
    case PQTRANS_IDLE:
        return refused(errc::invalid_argument,
                       "append an event in a transaction: begin one, or use transact");
    default: return refused(errc::invalid_argument, "the connection is busy or lost");
    }
}

struct clear {
    void operator()(PGresult* it) const { PQclear(it); }
};

} // namespace

postgres_writer::postgres_writer(pg_conn* in, std::string table_prefix)
    : in_(in),
      statement_(postgres::valid_prefix(table_prefix) ? pg::insert_text(table_prefix) : "") {}

result<void> postgres_writer::insert(std::span<const stored_event> all) {
    if (statement_.empty()) {
        return refused(errc::invalid_argument, "that is not a table prefix");
    }
    if (auto usable = check_usable(in_); !usable) return usable;
    postgres::column_group rows{insert_types};
    for (const auto& one : all) {
        rows.add(std::int64_t{one.shard}).add(one.id).add(one.topic).add(one.key);
        rows.add(one.headers).add(one.trace_context).add(one.payload);
    }
    std::array<const char*, 7> values{};
    std::array<int, 7> lengths{};
    std::array<int, 7> formats{};
    for (std::size_t i = 0; i < values.size(); ++i) {
        const std::string_view bytes = rows.columns()[i].bytes();
        values[i] = bytes.data();
        lengths[i] = static_cast<int>(bytes.size());
        formats[i] = 1;
    }
    const int count = static_cast<int>(values.size());
    if (PQpipelineStatus(in_) == PQ_PIPELINE_ON) {
        const int queued = PQsendQueryParams(in_, statement_.c_str(), count, nullptr, values.data(),
                                             lengths.data(), formats.data(), 1);
        if (queued == 1) return {};
        return postgres::failure_of({.state = "", .message = PQerrorMessage(in_)},
                                    postgres::ending::rolled_back);
    }
    const std::unique_ptr<PGresult, clear> got{PQexecParams(
        in_, statement_.c_str(), count, nullptr, values.data(), lengths.data(), formats.data(), 1)};
    if (PQresultStatus(got.get()) == PGRES_COMMAND_OK) return {};
    const char* const state = PQresultErrorField(got.get(), PG_DIAG_SQLSTATE);
    // Whatever it was, the transaction is not committed.
    return postgres::failure_of(
        {.state = state == nullptr ? "" : state, .message = PQerrorMessage(in_)},
        postgres::ending::rolled_back);
}

} // namespace semel::outbox
