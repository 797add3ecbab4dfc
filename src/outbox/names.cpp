#include "semel/base/result.hpp"
#include "semel/outbox/table.hpp"

namespace semel::outbox {

std::string_view name(row_status status) {
    switch (status) {
    case row_status::pending: return "pending";
    case row_status::claimed: return "claimed";
    case row_status::dead: return "dead";
    case row_status::parked: return "parked";
    }
    SEMEL_ASSERT(false);
}

} // namespace semel::outbox
