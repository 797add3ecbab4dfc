#include "semel/base/result.hpp"

namespace semel {

std::string_view name(errc code) {
    switch (code) {
    case errc::invalid_argument: return "invalid_argument";
    case errc::limit_exceeded: return "limit_exceeded";
    case errc::unknown_store: return "unknown_store";
    case errc::not_a_store: return "not_a_store";
    case errc::schema_missing: return "schema_missing";
    case errc::schema_newer: return "schema_newer";
    case errc::read_only: return "read_only";
    case errc::no_space: return "no_space";
    case errc::overloaded: return "overloaded";
    case errc::unavailable: return "unavailable";
    case errc::timed_out: return "timed_out";
    case errc::conflict: return "conflict";
    case errc::corrupt: return "corrupt";
    case errc::unsupported: return "unsupported";
    case errc::stopped: return "stopped";
    case errc::transaction_broken: return "transaction_broken";
    case errc::address_in_use: return "address_in_use";
    case errc::internal: return "internal";
    }
    return "internal";
}

std::string describe(const failure& why) {
    std::string text{name(why.code)};
    if (why.possible == effect::unknown) text += " (may have been applied)";
    if (!why.detail.empty()) text += ": " + why.detail;
    return text;
}

failure_error::failure_error(failure why)
    : std::runtime_error(describe(why)), why_(std::move(why)) {}

void throw_failure(failure why) {
    throw failure_error(std::move(why));
}

} // namespace semel
