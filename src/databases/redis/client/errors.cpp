#include "databases/redis/client/errors.hpp"

#include <exception>
#include <new>
#include <string>

namespace semel::redis {

namespace {

struct meaning {
    std::string_view starts; // of the message; longer ones come first
    errc as;
    effect possible;
    connection_use after;
    std::string_view advice;
};

constexpr auto none = effect::none;
constexpr auto keep = connection_use::keep;
constexpr auto replace = connection_use::replace;

constexpr std::string_view rights =
    "allow this user what semel does: ~<prefix>* &<prefix>* +eval +evalsha +time +get +set "
    "+getrange +setrange +rpush +ltrim +lrange +pexpire +publish +scan +unlink "
    "+subscribe +unsubscribe +select +info +client|setname";

// A refusal by name comes before the server has done anything; scripts write last, and all or
// nothing.
constexpr meaning meanings[]{
    // A script that may not go on has done what it did before.
    {"ERR The user executing the script", errc::invalid_argument, effect::unknown, keep, rights},
    {"ERR max number of clients", errc::unavailable, none, replace,
     "raise maxclients of the server, or open fewer stores"},
    {"ERR invalid password", errc::invalid_argument, none, replace, "check the password"},
    {"ERR AUTH", errc::invalid_argument, none, replace,
     "the server has no password; leave it out, or set one there"},
    {"ERR Client sent AUTH", errc::invalid_argument, none, replace,
     "the server has no password; leave it out, or set one there"},
    {"ERR DB index is out of range", errc::invalid_argument, none, replace,
     "the server has fewer databases; see `databases` in its configuration"},
    {"ERR invalid DB index", errc::invalid_argument, none, replace, "check the database's number"},
    {"ERR SELECT is not allowed", errc::unsupported, none, replace,
     "a cluster has only database 0, and clusters are not supported"},
    {"ERR unknown command", errc::not_a_store, none, replace,
     "the server lacks a command semel needs; use Redis 7.0 or newer"},

    {"NOAUTH", errc::invalid_argument, none, replace,
     "the server wants a password: redis://user:password@host"},
    {"WRONGPASS", errc::invalid_argument, none, replace, "check user and password"},
    {"NOPERM", errc::invalid_argument, none, keep, rights},
    {"DENIED", errc::unavailable, none, replace,
     "the server is in protected mode; set a password or bind address there"},
    {"LOADING", errc::unavailable, none, keep, "the server is loading its data; try again later"},
    {"READONLY", errc::read_only, none, replace, "this is a replica; name the primary"},
    {"MASTERDOWN", errc::unavailable, none, replace,
     "this is a replica that has lost its primary; name the primary"},
    {"MISCONF", errc::unavailable, none, keep,
     "the server cannot write to its disk and refuses changes; see its log"},
    {"NOREPLICAS", errc::unavailable, none, keep,
     "fewer replicas are there than min-replicas-to-write asks for"},
    {"OOM", errc::no_space, none, keep,
     "the server's memory is full: raise maxmemory or shorten retentions; nothing was stored"},
    {"BUSY", errc::unavailable, none, keep, "the script of another client blocks the server"},
    {"UNKILLABLE", errc::unavailable, none, keep, "the script of another client blocks the server"},
    {"CLUSTERDOWN", errc::unavailable, none, replace, "the cluster is down"},
    {"TRYAGAIN", errc::unavailable, none, keep, "the cluster is moving keys; try again later"},
    {"MOVED", errc::unsupported, none, keep, "this is a cluster, which is not supported"},
    {"ASK", errc::unsupported, none, keep, "this is a cluster, which is not supported"},
    {"CROSSSLOT", errc::unsupported, none, keep, "this is a cluster, which is not supported"},
    {"WRONGTYPE", errc::not_a_store, none, keep,
     "something else is kept under this prefix; choose another one"},
    {"NOSCRIPT", errc::unavailable, none, keep, "the server forgets scripts as they are loaded"},
};

constexpr meaning nameless{"", errc::internal, effect::unknown, replace, ""};

const meaning& meaning_of(std::string_view message) {
    for (const auto& one : meanings) {
        if (message.starts_with(one.starts)) return one;
    }
    return nameless;
}

failure thrown(std::string_view what) {
    return {.code = errc::internal,
            .possible = none,
            .detail = "redis: an exception was thrown: " + std::string{what}};
}

} // namespace

verdict verdict_of(std::string_view message) {
    const meaning& what = meaning_of(message);
    std::string detail = "redis: " + std::string{message};
    if (!what.advice.empty()) detail += "; " + std::string{what.advice};
    return {.why = {.code = what.as, .possible = what.possible, .detail = std::move(detail)},
            .after = what.after};
}

failure once_open(failure why) {
    if (why.code == errc::invalid_argument || why.code == errc::unsupported) {
        why.code = errc::unavailable;
    }
    return why;
}

bool lacks_script(std::string_view message) {
    return message.starts_with("NOSCRIPT");
}

failure in_redis(failure why) {
    why.detail.insert(0, "redis: ");
    return why;
}

failure caught_failure() {
    try {
        throw;
    } catch (const std::bad_alloc&) {
        return {.code = errc::no_space,
                .possible = effect::none,
                .detail = "redis: this process is out of memory"};
    } catch (const std::exception& error) {
        return thrown(error.what());
    } catch (...) {
        return thrown("something that is no std::exception");
    }
}

} // namespace semel::redis
