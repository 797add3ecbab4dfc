#include "databases/postgres/transaction/transaction_failures.hpp"

#include <utility>

#include "databases/postgres/transaction/transaction_texts.hpp"

namespace semel::postgres {

failure refused(errc code, std::string detail) {
    return says.of(code, std::move(detail));
}

failure broken(std::string detail) {
    return says.broken(std::move(detail));
}

result<void> check_isolation(std::string_view level) {
    if (level == "read committed" || level == "read uncommitted") return {};
    return refused(errc::unsupported,
                   "the transaction is " + std::string{level} +
                       ", where a look-up may miss what others have committed; use READ COMMITTED");
}

bool has_forgotten(const native_failure& why) {
    return why.state == "26000";
}

// The row's type is another one ("cached plan must not change result type"), or the lock's is not
// there any more ("cache lookup failed"). The words are in the server's language.
bool knows_other_tables(const native_failure& why) {
    return why.state == "0A000" || why.state == "XX000";
}

failure explained(failure why, const native_failure& error, const std::string& table_prefix) {
    if (error.of_work) {
        // A deadlock is not the work's fault: transact() begins again.
        if (why.code == errc::conflict) return why;
        return broken("a statement that the work has queued failed: " + why.detail);
    }
    // Our guards stand before the last statement.
    const bool of_guard = !error.of_last;
    if (of_guard && error.state == broken_state) {
        return broken("the work has ended the transaction it ran in, or rolled it back to a point "
                      "before it began, or has changed the search_path to other tables of semel");
    }
    const bool is_there_now =
        error.state == "23505" && error.constraint == table_prefix + "record_pkey";
    if (is_there_now || (of_guard && error.state == changed_state)) {
        return refused(errc::conflict, "the record was changed meanwhile, without a transaction");
    }
    if (error.state == "25P02") {
        return broken("a statement of the work has failed, and with it the transaction");
    }
    return why;
}

} // namespace semel::postgres
