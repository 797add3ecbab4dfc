#include "databases/mysql/client/errors.hpp"

#include <algorithm>
#include <iterator>
#include <string>

namespace semel::mysql {

namespace {

struct meaning {
    unsigned number;
    errc as;
    std::string_view advice = {};
};

constexpr std::string_view check_user =
    "check the user name and the password of the store URL, and add tls=verify if this user must "
    "use TLS";
constexpr std::string_view migrate = "run `semel migrate --store URL`";
constexpr std::string_view grant = "grant this user SELECT, INSERT, UPDATE and DELETE on the "
                                   "tables of semel (who migrates them also "
                                   "needs CREATE, ALTER, INDEX and DROP)";
constexpr std::string_view primary =
    "this server takes no writes (a replica, or read_only=ON); name the primary";
constexpr std::string_view reach =
    "check that the server runs and that host and port of the store URL are right";
constexpr std::string_view certificate =
    "check tls= and ca_file= of the store URL, and that the server's certificate names this host";
constexpr std::string_view shorter = "the value is too large for the server: raise its "
                                     "max_allowed_packet";
constexpr std::string_view repair = "the server's data are damaged; restore a backup";

// 1000 and above are the server's, 2000 and above the client library's, 3000 again the server's.
constexpr meaning meanings[]{
    {1021, errc::no_space, "free space on the server's disk"},
    {1034, errc::corrupt, repair},
    {1037, errc::no_space, "the server is out of memory"},
    {1038, errc::no_space, "the server is out of memory"},
    {1040, errc::unavailable,
     "the server has no connection left; raise max_connections, or lower lanes="},
    {1041, errc::no_space, "the server is out of memory"},
    {1044, errc::invalid_argument, "grant this user the database of the store URL"},
    {1045, errc::invalid_argument, check_user},
    {1049, errc::invalid_argument,
     "check the database of the store URL, or create it with CREATE DATABASE"},
    {1046, errc::invalid_argument, "name a database: mysql://user@host/database"},
    {1020, errc::conflict},
    {1053, errc::unavailable, "the server is going down"},
    {1054, errc::schema_missing,
     "the tables are not those of this version: run `semel migrate --store URL`"},
    {1077, errc::unavailable, "the server is going down"},
    {1079, errc::unavailable, "the server is going down"},
    {1114, errc::no_space, "free space on the server's disk"},
    {1129, errc::unavailable, "the server has blocked this host: FLUSH HOSTS there"},
    {1130, errc::invalid_argument, "the server does not let this host in: grant it to the user"},
    {1142, errc::read_only, grant},
    {1143, errc::read_only, grant},
    {number::no_such_table, errc::schema_missing, migrate},
    {1153, errc::limit_exceeded, shorter},
    {1158, errc::unavailable},
    {1159, errc::unavailable},
    {1160, errc::unavailable},
    {1161, errc::unavailable},
    {number::commit_failed, errc::unavailable, "the server could not commit"},
    {1194, errc::corrupt, repair},
    {1203, errc::unavailable, "this user has no connection left; lower lanes="},
    {number::lock_timeout, errc::timed_out, "another transaction holds this record locked; end it"},
    {number::deadlock, errc::conflict},
    {1226, errc::unavailable, "this user has used up what the server grants it"},
    {1227, errc::read_only, grant},
    {number::forgotten, errc::unavailable, "the session is not the one it was"},
    {1251, errc::invalid_argument, check_user},
    {number::read_only, errc::read_only, primary},
    {1301, errc::limit_exceeded, shorter},
    {number::no_savepoint, errc::transaction_broken},
    {1317, errc::unavailable, "the query was stopped from another session"},
    {1406, errc::limit_exceeded, "a value does not fit its column"},
    {1461, errc::unavailable,
     "the server keeps no more prepared statements; raise max_prepared_stmt_count"},
    {1467, errc::conflict},
    {1665, errc::unsupported, "set binlog_format to ROW or MIXED: READ COMMITTED needs it"},
    {1698, errc::invalid_argument, check_user},
    {1712, errc::corrupt, repair},
    {1792, errc::read_only, primary},
    {1820, errc::invalid_argument, "the user's password has expired; set a new one"},
    {1836, errc::read_only, primary},
    {1862, errc::invalid_argument, "the user's password has expired; set a new one"},
    {1877, errc::corrupt, repair},
    {1927, errc::unavailable, "the server has ended the connection"},
    {number::statement_timeout, errc::timed_out,
     "the server did not finish in time; look for locks and load, or raise statement_timeout_ms"},
    {2002, errc::unavailable, reach},
    {2003, errc::unavailable, reach},
    {2005, errc::unavailable, "the host of the store URL has no address; check its name"},
    {number::gone, errc::unavailable},
    {2008, errc::no_space, "this process is out of memory"},
    {2012, errc::unavailable, reach},
    {number::lost, errc::unavailable},
    {2020, errc::limit_exceeded, shorter},
    {2026, errc::invalid_argument, certificate},
    {2027, errc::unavailable, "what answers there does not speak MySQL's protocol"},
    {2055, errc::unavailable},
    {2059, errc::invalid_argument,
     "this client cannot log in the way the server wants for that "
     "user; choose another authentication plugin"},
    {3024, errc::timed_out, "the server did not finish in time; look for locks and load"},
    {3058, errc::conflict},
    {3101, errc::conflict},
    {3159, errc::invalid_argument,
     "the server takes encrypted connections only; add tls=verify or ca_file= to the store URL"},
    {3572, errc::timed_out, "another transaction holds this record locked; end it"},
    {number::idle, errc::unavailable, "the server has ended the connection"},
};

constexpr meaning nameless{0, errc::internal};

const meaning& meaning_of(unsigned number) {
    for (const auto& one : meanings) {
        if (one.number == number) return one;
    }
    return nameless;
}

} // namespace

bool undoes(unsigned number) {
    constexpr unsigned sure[]{1020, 1021, 1046, 1048, 1054, 1062, 1064, 1114,        1142,
                              1143, 1146, 1153, 1205, 1213, 1227, 1264, 1290,        1305,
                              1406, 1467, 1644, 1665, 1792, 1836, 3101, number::idle};
    return std::find(std::begin(sure), std::end(sure), number) != std::end(sure);
}

failure failure_of(const native_error& error, ending how) {
    const meaning& what = meaning_of(error.number);
    std::string detail = "mysql: " + std::string{error.message};
    if (error.number != 0) detail += " (" + std::to_string(error.number) + ")";
    if (!what.advice.empty()) detail += "; " + std::string{what.advice};
    return {.code = what.as,
            .possible = how == ending::unknown ? effect::unknown : effect::none,
            .detail = std::move(detail)};
}

} // namespace semel::mysql
