#include <utility>
#include <vector>

#include "databases/mysql/client/schema.hpp"
#include "databases/mysql/outbox/texts.hpp"
#include "databases/mysql/transaction/caller_connection.hpp"
#include "semel/databases/mysql/outbox.hpp"

namespace semel::outbox {

namespace {

// Text grows to twice its size, and the server takes 16 MiB by default.
constexpr std::size_t text_bytes_max = std::size_t{4} << 20;

failure refused(std::string detail) {
    return {.code = errc::invalid_argument,
            .possible = effect::none,
            .detail = "mysql: " + std::move(detail)};
}

failure explain(failure why) {
    if (why.code != errc::transaction_broken) return why;
    return refused(mysql::no_transaction_any_more);
}

std::size_t size_of(const stored_event& one) {
    return 256 + 2 * (one.key.size() + one.headers.size() + one.trace_context.size() +
                      one.payload.size() + one.topic.size());
}

} // namespace

mysql_writer::mysql_writer(st_mysql* in, std::string table_prefix)
    : in_(in), statement_(mysql::valid_prefix(table_prefix) ? my::insert_head(table_prefix) : "") {}

result<void> mysql_writer::insert(std::span<const stored_event> all) {
    if (statement_.empty()) return refused("that is not a table prefix");
    mysql::caller_connection on{in_};
    if (!on.idle()) return refused("the result of a query is not fetched yet on this connection");
    // Without autocommit every statement is in a transaction.
    if (!on.in_transaction() && on.autocommits()) {
        return refused("append an event in a transaction: begin one, or use transact");
    }
    while (!all.empty()) {
        std::size_t count = 0;
        std::size_t bytes = 0;
        while (count < all.size() && (count == 0 || bytes < text_bytes_max)) {
            bytes += size_of(all[count++]);
        }
        std::vector<mysql::statement> one;
        mysql::add_transaction_check(one);
        one.push_back({my::insert_text(all.first(count), statement_)});
        if (auto done = on.run(one); !done) return explain(std::move(done).error());
        all = all.subspan(count);
    }
    return {};
}

} // namespace semel::outbox
