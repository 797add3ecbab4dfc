#include "databases/postgres/client/last_error.hpp"

#include <libpq-events.h>
#include <libpq-fe.h>

#include <memory>
#include <string>

namespace semel::postgres {

namespace {

// libpq reports every result, also of other code's queries. The copy lives as long as the
// connection.
int listen(PGEventId what, void* about, void* /*unused*/) {
    if (what == PGEVT_REGISTER) {
        PGconn* const on = static_cast<PGEventRegister*>(about)->conn;
        PQsetInstanceData(on, listen, std::make_unique<std::string>().release());
    } else if (what == PGEVT_RESULTCREATE) {
        const auto* made = static_cast<PGEventResultCreate*>(about);
        const char* const code = PQresultErrorField(made->result, PG_DIAG_SQLSTATE);
        auto* const last = static_cast<std::string*>(PQinstanceData(made->conn, listen));
        // That the transaction has failed already is not why it has.
        const bool tells = code != nullptr && std::string_view{code} != "25P02";
        if (tells && last != nullptr) *last = code;
    } else if (what == PGEVT_CONNDESTROY) {
        const PGconn* const on = static_cast<PGEventConnDestroy*>(about)->conn;
        const std::unique_ptr<std::string> gone{
            static_cast<std::string*>(PQinstanceData(on, listen))};
    }
    return 1;
}

} // namespace

void watch_errors(pg_conn* connection) {
    if (PQinstanceData(connection, listen) == nullptr) {
        PQregisterEventProc(connection, listen, "semel", nullptr);
    }
}

std::string_view last_error(const pg_conn* connection) {
    const auto* const last = static_cast<const std::string*>(PQinstanceData(connection, listen));
    return last == nullptr ? std::string_view{} : std::string_view{*last};
}

} // namespace semel::postgres
