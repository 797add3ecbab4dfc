#include "databases/postgres/client/errors.hpp"

#include <string_view>

namespace semel::postgres {

namespace {

struct meaning {
    std::string_view state; // five characters, or the two of a whole class
    errc as;
    std::string_view advice;
};

// Single codes before their classes.
constexpr meaning meanings[]{
    {"28P01", errc::invalid_argument, "check the user name and the password of the store URL"},
    {"28", errc::invalid_argument,
     "check the user name of the store URL and the server's pg_hba.conf"},
    {"3D000", errc::invalid_argument,
     "check the database of the store URL, or create it with CREATE DATABASE"},
    {"3F000", errc::invalid_argument, "set a search_path that names a schema which exists"},
    {"42P01", errc::schema_missing, "the tables are not there: run `semel migrate --store URL`"},
    {"42704", errc::schema_missing,
     "something of semel's is not there: run `semel migrate --store URL`"},
    {"42703", errc::schema_missing,
     "the tables are not those of this version: run `semel migrate --store URL`"},
    {"42501", errc::read_only,
     "grant this user SELECT, INSERT, UPDATE and DELETE on the tables of semel (who migrates them "
     "must own them, and may CREATE in their schema)"},
    {"25006", errc::read_only,
     "this server takes no writes (a standby, or read-only by default); name the primary"},
    {"25P03", errc::unavailable, "the server ended an idle transaction"},
    {"53100", errc::no_space, "free space on the server's disk"},
    {"53200", errc::no_space, "the server is out of memory"},
    {"53300", errc::unavailable,
     "the server has no connection left; raise max_connections, or "
     "lower lanes="},
    {"53", errc::unavailable, "the server is short of resources"},
    {"40001", errc::conflict, ""},
    {"40P01", errc::conflict, ""},
    {"40", errc::conflict, ""},
    {"55P03", errc::timed_out, "another transaction holds this record locked; end it"},
    {"57014", errc::timed_out,
     "the server did not finish in time; look for locks and load, or raise statement_timeout_ms"},
    {"57P", errc::unavailable, "the server is going down or coming up"},
    {"26000", errc::unavailable,
     "a prepared statement is gone: connect directly, or through a pooler in session mode"},
    {"08", errc::unavailable, ""},
    {"58", errc::unavailable, "the server cannot read or write its files"},
    {"54", errc::limit_exceeded, "the value is too large for the server"},
    {"XX001", errc::corrupt, "the server's data are damaged; restore a backup"},
    {"XX002", errc::corrupt, "an index is damaged: REINDEX it"},
};

constexpr meaning lost{"", errc::unavailable, ""};
constexpr meaning nameless{"", errc::internal, ""};

const meaning& meaning_of(std::string_view state) {
    if (state.empty()) return lost;
    for (const auto& one : meanings) {
        if (state.starts_with(one.state)) return one;
    }
    return nameless;
}

// libpq ends its messages with a line feed, and some have several lines, further ones indented.
std::string one_line(std::string_view words) {
    std::string made;
    for (const char one : words) {
        if (one != '\n' && one != '\t') {
            made += one;
        } else if (!made.empty() && made.back() != ' ') {
            made += ' ';
        }
    }
    while (!made.empty() && made.back() == ' ') made.pop_back();
    return made;
}

} // namespace

failure failure_of(const native_failure& error, ending how) {
    const meaning& what = meaning_of(error.state);
    std::string detail = "postgres: " + one_line(error.message);
    if (!error.state.empty()) detail += " (" + error.state + ")";
    if (!error.of_work && !what.advice.empty()) detail += "; " + std::string{what.advice};
    return {.code = what.as,
            .possible = how == ending::unknown ? effect::unknown : effect::none,
            .detail = std::move(detail)};
}

} // namespace semel::postgres
