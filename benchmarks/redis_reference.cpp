#include "redis_reference.hpp"

#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <utility>
#include <vector>

#include "databases/redis/client/keys.hpp"
#include "databases/redis/client/opening.hpp"
#include "databases/redis/client/scripts.hpp"
#include "databases/redis/store/record_codec.hpp"
#include "workload.hpp"

namespace semel::bench {

namespace {

using redis::script;

constexpr std::uint32_t raw_database = 1; // emptied in between
constexpr std::uint32_t bare_database = 2;
// About what the server does of the quickest of them in a second: runs last about as long as asked.
constexpr double usual_rate = 200'000;

const claim somebody{.fence = 1, .owner = {.high = 0x6f776e6572206f66, .low = 0x2074686973206f6e}};

redis_store_options in_database(std::uint32_t number, redis_store_options server) {
    server.database = number;
    return server;
}

// As long as a key of the store, with one part that redis-benchmark replaces.
std::string key_with(const std::string& middle) {
    return "bench:{0123456789abcdef}:r:4:acme12:ORDER_CREATE" + middle + "-0123456789abcdef0123";
}

// What the scripts pass on without reading it may be any bytes; a command line cannot hold zeros.
std::string without_zeros(std::string bytes) {
    std::replace(bytes.begin(), bytes.end(), '\0', 'z');
    return bytes;
}

std::string quoted(const std::string& bytes) {
    std::string made = "'";
    for (const char one : bytes) made += one == '\'' ? std::string{"'\\''"} : std::string{one};
    return made + "'";
}

std::string sha1_of(script one) {
    return std::string{redis::text_of(one).sha1};
}

commands::begin begin_command() {
    return {.content = content_of(key_of(1)),
            .owner = somebody.owner,
            .lease = std::chrono::seconds{30}};
}

stored_result answer_result() {
    stored_result made{.body = answer_body()};
    seal(made);
    return made;
}

record running(const claim& by) {
    record made{.content = content_of(key_of(1)), .holder = by, .attempts = 1};
    return made;
}

record finished() {
    record made = running(somebody);
    made.state = record_state::succeeded;
    made.result = answer_result();
    return made;
}

void load_scripts(redis::link& on) {
    for (const auto& one : redis::scripts()) {
        require(on.ask({"SCRIPT", "LOAD", one.text}).has_value(), "reference: SCRIPT LOAD");
    }
}

} // namespace

// ---- redis-benchmark ----------------------------------------------------------------------------

redis_benchmark::redis_benchmark(const redis_store_options& server)
    : server_(server), on_(redis::link_options_of(in_database(raw_database, server)).value()) {
    load_scripts(on_);
}

double redis_benchmark::claims(seconds most) {
    const auto what = begin_command();
    const double found =
        rate(sha1_of(script::begin) + " 1 " + quoted(key_with("__rand_int__")) + " '' gs " +
                 quoted(without_zeros(redis::encode_owner(what.owner))) + " 30000000 86460000 " +
                 quoted(without_zeros(redis::encode_rest(what))),
             most);
    require(on_.ask({"FLUSHDB", "ASYNC"}).has_value(), "reference: FLUSHDB");
    return found;
}

// On one key, which stays what it was as far as the script can tell.
double redis_benchmark::completions(seconds most) {
    const std::string key = key_with("completion");
    std::string value = redis::encode(running(somebody), 1);
    const std::string owned = without_zeros(value.substr(0, redis::owned_bytes));
    value.replace(0, owned.size(), owned);
    require(on_.ask({"SET", key, value}).has_value(), "reference: SET");
    return rate(sha1_of(script::finish) + " 1 " + quoted(key) + " '' " + quoted(owned) + " " +
                    quoted(owned.substr(1, 1)) + " 3600000000 '' 3660000 drop publish " +
                    quoted(without_zeros(redis::encode_end({}, answer_result()))),
                most);
}

double redis_benchmark::replays(seconds most) {
    const std::string key = key_with("replay");
    require(on_.ask({"SET", key, redis::encode(finished(), 2)}).has_value(), "reference: SET");
    return rate(sha1_of(script::begin) + " 1 " + quoted(key) + " '' gs owner 30000000 1 rest",
                most);
}

double redis_benchmark::rate(const std::string& script_and_arguments, seconds most) const {
    const auto requests = static_cast<long long>(usual_rate * most.count());
    const std::string command =
        "redis-benchmark -h " + server_.host + " -p " + std::to_string(server_.port) + " --dbnum " +
        std::to_string(raw_database) + " -c 50 -P 32 -r 100000000 --csv -n " +
        std::to_string(requests) + " EVALSHA " + script_and_arguments + " 2>&1";
    FILE* const from = ::popen(command.c_str(), "r");
    if (from == nullptr) throw std::runtime_error{"redis-benchmark does not run"};
    std::string all;
    char line[4'096];
    while (std::fgets(line, sizeof line, from) != nullptr) all += line;
    const bool ended = ::pclose(from) == 0;
    // "EVALSHA …","175438.59","0.5",…: the rate is the second of the last eight.
    double found = 0;
    std::size_t at = all.size();
    for (int i = 0; i < 7 && at != std::string::npos; ++i) at = all.rfind(",\"", at - 1);
    const bool read =
        at != std::string::npos && std::sscanf(all.c_str() + at, ",\"%lf", &found) == 1;
    if (!ended || !read || found <= 0) throw std::runtime_error{"redis-benchmark failed: " + all};
    return found;
}

// ---- one connection -----------------------------------------------------------------------------

bare_redis::bare_redis(const redis_store_options& server)
    : on_(redis::link_options_of(in_database(bare_database, server)).value()) {
    load_scripts(on_);
    for (std::size_t i = 0; i < known; ++i) {
        const std::string key = key_with("known" + std::to_string(i));
        require(on_.ask({"SET", key, redis::encode(finished(), 2)}).has_value(), "reference: SET");
    }
}

const redis::value& bare_redis::ask_begin(const std::string& key) {
    const auto what = begin_command();
    const std::string owner = redis::encode_owner(what.owner);
    const auto got = on_.ask({"EVALSHA", redis::text_of(script::begin).sha1, "1", key, "",
                              std::string_view{"\1\0", 2}, owner, "30000000", "86460000",
                              redis::encode_rest(what)});
    require(got.has_value(), "reference: begin");
    return **got;
}

void bare_redis::ask_complete(const std::string& key, std::uint64_t fence) {
    const auto got = on_.ask(
        {"EVALSHA", redis::text_of(script::finish).sha1, "1", key, "",
         redis::encode_owned(record_state::processing, {.fence = fence, .owner = somebody.owner}),
         std::string_view{"\1", 1}, "3600000000", "", "3660000", "drop", "publish",
         redis::encode_end({}, answer_result())});
    require(got.has_value() && (*got)->is(redis::value::type::integer), "reference: complete");
}

std::size_t bare_redis::run_first(seconds most) {
    std::size_t done = 0;
    for (const stopwatch watch; watch.elapsed() < most; ++done) {
        const std::string key = key_with(std::to_string(next_++));
        const redis::value& began = ask_begin(key);
        require(began.is(redis::value::type::integer), "reference: not claimed");
        ask_complete(key, static_cast<std::uint64_t>(began.integer));
    }
    return done;
}

std::size_t bare_redis::run_replays(seconds most) {
    std::size_t done = 0;
    for (const stopwatch watch; watch.elapsed() < most; ++done) {
        const std::string key = key_with("known" + std::to_string(done % known));
        require(ask_begin(key).is(redis::value::type::array), "reference: not replayed");
    }
    return done;
}

} // namespace semel::bench
