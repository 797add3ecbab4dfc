#include "databases/redis/client/link.hpp"

#include <algorithm>
#include <cerrno>
#include <type_traits>
#include <utility>

#include "databases/redis/client/errors.hpp"
#include "net/socket.hpp"
#include "net/tls.hpp"

namespace semel::redis {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr duration pause_first = milliseconds{20};
constexpr duration pause_max = seconds{1};
// An idle connection may have been closed meanwhile; finding out later would leave a doubt.
constexpr duration idle_max = seconds{1};

constexpr std::size_t input_bytes_min = std::size_t{64} << 10;
// A buffer that one large answer has blown up is given back.
constexpr std::size_t input_bytes_kept = std::size_t{4} << 20;

failure closed_by_server() {
    return {.code = errc::unavailable,
            .possible = effect::none,
            .detail = "redis: the server has closed the connection"};
}

failure no_redis(std::string_view why) {
    return {.code = errc::not_a_store,
            .possible = effect::none,
            .detail = "redis: the server has sent " + std::string{why} +
                      "; is this the port of a Redis server, with the right scheme (redis:// or "
                      "rediss://)?"};
}

// The stream may be the user's own, and memory may run out: what is thrown is a failure like
// others.
template <class Act> std::invoke_result_t<Act> caught(Act act) {
    try {
        return act();
    } catch (...) {
        return caught_failure();
    }
}

std::string request_of(const std::vector<std::string_view>& parts) {
    std::string made;
    append_request(made, parts.size());
    for (const auto& one : parts) append_part(made, one);
    return made;
}

// Of the reply to HELLO: names and values in turn.
std::string_view role_in(const value& hello) {
    for (std::size_t at = 0; at + 1 < hello.items.size(); at += 2) {
        if (hello.items[at].text == "role") return hello.items[at + 1].text;
    }
    return {};
}

} // namespace

result<transport_maker> make_transport_maker(const redis_store_options& options) {
    if (options.connect) return transport_maker{options.connect};
    // Shared by the connections of one store, which may outlive one another.
    std::shared_ptr<net::tls_settings> tls;
    if (options.tls) {
        auto made = net::make_tls_settings({.ca_file = options.ca_file,
                                            .cert_file = options.cert_file,
                                            .key_file = options.key_file});
        if (!made) return in_redis(std::move(made).error());
        tls = *std::move(made);
    }
    return transport_maker{[host = options.host, port = options.port,
                            patience = options.connect_timeout,
                            tls]() -> result<std::unique_ptr<net::stream>> {
        const local_time until = local_clock::now() + patience;
        auto socket = net::connect_to(host, port, patience);
        if (!socket) return in_redis(std::move(socket).error());
        const duration left = std::max(until - local_clock::now(), duration{0});
        if (!tls) return net::open_stream(socket->release());
        auto made = net::open_tls_stream(*std::move(socket), *tls, host, left);
        return made ? std::move(made) : in_redis(std::move(made).error());
    }};
}

// ---- making and losing the connection -----------------------------------------------------------

result<void> link::ready() {
    if (home_.left()) return opened_before_fork("redis: the connection");
    const local_time now = local_clock::now();
    if (stream_ != nullptr && !at_rest(now)) close();
    if (stream_ != nullptr) return {};
    if (now < next_try_) return last_failure_;
    auto done = caught([this] { return connect(); });
    if (done) {
        pause_ = {};
        return done;
    }
    close();
    last_failure_ = done.error();
    pause_ = std::clamp(2 * pause_, pause_first, pause_max);
    next_try_ = local_clock::now() + pause_;
    return done;
}

// What is left over of the last exchange would be taken for the answer to the next request.
bool link::at_rest(local_time now) {
    if (taken_ != filled_) return false;
    if (now - last_used_ <= idle_max) return true;
    const auto spoke = caught([this]() -> result<bool> { return net::spoke_unasked(*stream_); });
    return spoke && !*spoke;
}

result<void> link::connect() {
    auto made = options_.connect();
    if (!made) return std::move(made).error();
    stream_ = *std::move(made);
    taken_ = filled_ = 0;
    return introduce();
}

// In one round trip: who we are, which database is meant, and whether this is the primary.
result<void> link::introduce() {
    std::string requests;
    std::vector<introduction> said;
    const auto say = [&](introduction what, const std::vector<std::string_view>& parts) {
        requests += request_of(parts);
        said.push_back(what);
    };
    if (!options_.password.empty() && options_.user.empty()) {
        say(introduction::login, {"AUTH", options_.password});
    } else if (!options_.password.empty()) {
        say(introduction::login, {"AUTH", options_.user, options_.password});
    }
    const std::string database = std::to_string(options_.database);
    if (options_.database != 0) say(introduction::database, {"SELECT", database});
    // Every user may say HELLO.
    if (options_.wanted == server_role::primary) say(introduction::role, {"HELLO"});
    say(introduction::name, {"CLIENT", "SETNAME", "semel"});
    if (auto sent = send(requests); !sent.done) return std::move(sent.done).error();
    std::optional<failure> refused;
    for (const auto what : said) {
        auto got = receive();
        // Who is refused the connection itself hears that once, and it is closed.
        if (!got) return refused ? *std::move(refused) : std::move(got).error();
        if (!refused) refused = why_refused(what, **got);
    }
    if (refused) return *std::move(refused);
    return {};
}

std::optional<failure> link::why_refused(introduction what, const value& got) const {
    if (got.is(value::type::error)) {
        // A name is a courtesy that not every user may show.
        const bool courtesy = what == introduction::name && got.text.starts_with("NOPERM");
        if (courtesy) return std::nullopt;
        return verdict_of(got.text).why;
    }
    if (what != introduction::role || role_in(got) != "replica") return std::nullopt;
    return failure{.code = errc::read_only,
                   .possible = effect::none,
                   .detail = "redis: the server is a replica, whose records may be old; name "
                             "its primary"};
}

void link::close() {
    stream_.reset();
}

failure link::lose(failure why) {
    close();
    return why;
}

// ---- exchanges ----------------------------------------------------------------------------------

duration link::left() const {
    return std::max(until_ - local_clock::now(), duration{0});
}

// Some more of the requests to the stream.
result<std::size_t> link::give(std::string_view requests, sending& made) {
    try {
        return stream_->send(requests.substr(made.accepted), left());
    } catch (...) {
        made.accepted = requests.size(); // how much of it has left is not known
        return caught_failure();
    }
}

link::sending link::send(std::string_view requests) {
    if (home_.left()) return {.done = opened_before_fork("redis: the connection")};
    last_used_ = local_clock::now();
    until_ = last_used_ + options_.command_timeout;
    sending made;
    while (made.accepted < requests.size()) {
        auto sent = give(requests, made);
        if (!sent || *sent == 0) {
            made.done = lose(sent ? closed_by_server() : in_redis(std::move(sent).error()));
            return made;
        }
        made.accepted += *sent;
    }
    if (options_.counters != nullptr) options_.counters->round_trips.add();
    return made;
}

result<const value*> link::receive() {
    auto got = caught([this] { return next_value(); });
    if (!got) return lose(std::move(got).error());
    return got;
}

result<const value*> link::hear(duration patience) {
    if (stream_ == nullptr) return closed_by_server();
    until_ = local_clock::now() + patience;
    auto got = caught([this] { return next_value(); });
    if (got) return got;
    if (got.error().code == errc::timed_out) return static_cast<const value*>(nullptr);
    return lose(std::move(got).error());
}

result<const value*> link::next_value() {
    std::size_t wanted = 1;
    while (true) {
        if (filled_ - taken_ >= wanted) {
            const auto got =
                parse(std::string_view{input_}.substr(taken_, filled_ - taken_), reply_);
            if (got.status == parse_status::complete) {
                taken_ += got.bytes;
                last_used_ = local_clock::now();
                return &reply_;
            }
            if (got.status == parse_status::broken) return no_redis(got.why);
            wanted = got.bytes;
        }
        if (auto filled = fill(wanted); !filled) return std::move(filled).error();
    }
}

// Receives some more of a reply that has `wanted` bytes at least.
result<void> link::fill(std::size_t wanted) {
    if (taken_ == filled_) {
        taken_ = filled_ = 0;
        if (input_.size() > input_bytes_kept) {
            input_.resize(0);
            input_.shrink_to_fit();
        }
    }
    const std::size_t needed = std::max(wanted, input_bytes_min);
    if (input_.size() - taken_ < needed) {
        input_.erase(0, taken_);
        filled_ -= std::exchange(taken_, 0);
        // Doubled: what a length announces has to arrive before memory is spent on it, and an array
        // of unknown length would otherwise come a byte at a time.
        input_.resize(std::max({input_.size(), input_bytes_min, 2 * filled_}));
    }
    auto got = stream_->receive(std::span{input_}.subspan(filled_), left());
    if (!got) return in_redis(std::move(got).error());
    if (*got == 0) return closed_by_server();
    filled_ += *got;
    return {};
}

result<const value*> link::ask(const std::vector<std::string_view>& parts) {
    if (auto connected = ready(); !connected) return std::move(connected).error();
    if (auto sent = send(request_of(parts)); !sent.done) return std::move(sent.done).error();
    auto got = receive();
    if (!got || !(*got)->is(value::type::error)) return got;
    verdict found = verdict_of((*got)->text);
    if (found.after == connection_use::replace) close();
    return std::move(found.why);
}

} // namespace semel::redis
