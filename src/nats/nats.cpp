#include "nats/nats.hpp"

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include "base/process_random.hpp"

namespace semel::nats {

namespace {

using std::chrono::milliseconds;

constexpr duration pause_first = milliseconds{20};
constexpr duration pause_max = std::chrono::seconds{1};

failure refused(std::string detail) {
    return {.code = errc::invalid_argument, .possible = effect::none, .detail = std::move(detail)};
}

errc code_of(natsStatus status) {
    switch (status) {
    case NATS_CONNECTION_AUTH_FAILED:
    case NATS_NOT_PERMITTED:
    case NATS_INVALID_ARG:
    case NATS_INVALID_SUBJECT: return errc::invalid_argument;
    case NATS_TIMEOUT: return errc::timed_out;
    case NATS_MAX_PAYLOAD: return errc::limit_exceeded;
    case NATS_NO_MEMORY: return errc::no_space;
    default: return errc::unavailable;
    }
}

std::vector<std::string> split_servers(const connection_options& options) {
    std::vector<std::string> made;
    std::string_view left = options.servers;
    while (!left.empty()) {
        const std::size_t end = std::min(left.find(','), left.size());
        made.emplace_back(left.substr(0, end));
        left.remove_prefix(std::min(end + 1, left.size()));
    }
    return made;
}

// Of "host:port" or "[address]:port".
std::string host_of(std::string_view server) {
    if (server.starts_with('[')) {
        return std::string{server.substr(1, std::min(server.find(']'), server.size()) - 1)};
    }
    return std::string{server.substr(0, server.find(':'))};
}

// The first thing that goes wrong ends the row.
class steps {
public:
    steps& operator<<(natsStatus next) {
        if (status_ == NATS_OK) status_ = next;
        return *this;
    }
    [[nodiscard]] natsStatus status() const { return status_; }

private:
    natsStatus status_ = NATS_OK;
};

// Without the expected name it depends on how libnats was built whether names are checked at all.
natsStatus add_tls(natsOptions* to, const connection_options& from, const std::string& host) {
    steps all;
    all << natsOptions_SetSecure(to, true) << natsOptions_SkipServerVerification(to, false)
        << natsOptions_SetExpectedHostname(to, host.c_str());
    if (!from.ca_file.empty()) {
        all << natsOptions_LoadCATrustedCertificates(to, from.ca_file.c_str());
    }
    if (!from.cert_file.empty()) {
        all << natsOptions_LoadCertificatesChain(to, from.cert_file.c_str(), from.key_file.c_str());
    }
    return all.status();
}

} // namespace

failure failure_of(natsStatus status, std::string_view doing) {
    std::string detail = "nats: " + std::string{doing} + ": " + natsStatus_GetText(status);
    if (status == NATS_CONNECTION_AUTH_FAILED) detail += "; check user and password";
    if (status == NATS_NO_SERVER) detail += "; check that the server runs and listens there";
    return {.code = code_of(status), .possible = effect::none, .detail = std::move(detail)};
}

result<connection_options> read_connection(const net::parsed_url& url, net::url_parameters& given) {
    connection_options made;
    std::string_view place = url.target;
    if (!place.starts_with("//")) return refused("write nats://host:port");
    place.remove_prefix(2);
    if (const std::size_t at = place.rfind('@'); at != std::string_view::npos) {
        const std::string_view who = place.substr(0, at);
        const std::size_t colon = std::min(who.find(':'), who.size());
        made.user = who.substr(0, colon);
        made.password = who.substr(std::min(colon + 1, who.size()));
        place.remove_prefix(at + 1);
    }
    if (place.ends_with('/')) place.remove_suffix(1);
    if (place.empty() || place.find('/') != std::string_view::npos) {
        return refused("the URL of a NATS server is nats://host:port, without a path");
    }
    made.servers = place;
    made.tls = url.scheme == "nats+tls";
    given.text("ca_file", made.ca_file);
    given.text("cert_file", made.cert_file);
    given.text("key_file", made.key_file);
    std::int64_t connect_ms = milliseconds{2'000}.count();
    given.number("connect_timeout_ms", connect_ms, 1'000);
    made.connect_timeout = milliseconds{connect_ms};
    const bool files = !made.ca_file.empty() || !made.cert_file.empty();
    if (files && !made.tls) return refused("certificates need TLS; write nats+tls:// for nats://");
    return made;
}

bool is_subject(std::string_view name) {
    bool part_empty = true;
    for (const char one : name) {
        const auto code = static_cast<unsigned char>(one);
        if (one == '.' && part_empty) return false;
        if (one == '*' || one == '>' || code <= 0x20 || code == 0x7F) return false;
        part_empty = one == '.';
    }
    return !part_empty;
}

result<connection::state> connection::ready() {
    if (home_.left()) return opened_before_fork("nats: the connection");
    if (it_ != nullptr && !alive()) close();
    if (it_ != nullptr) return state::same;
    if (local_clock::now() < next_try_) return last_failure_;
    if (auto done = connect(); !done) {
        close();
        last_failure_ = done.error();
        pause_ = std::clamp(2 * pause_, pause_first, pause_max);
        next_try_ = local_clock::now() + pause_;
        return last_failure_;
    }
    pause_ = {};
    return state::fresh;
}

bool connection::alive() const {
    return it_ != nullptr && natsConnection_Status(it_.get()) == NATS_CONN_STATUS_CONNECTED;
}

result<void> connection::connect() {
    auto servers = split_servers(options_);
    // Many clients that lose one server must not all go to the same next one.
    std::shuffle(servers.begin(), servers.end(), std::mt19937_64{process_random()});
    result<void> last = refused("nats: the URL names no server");
    for (const std::string& one : servers) {
        last = connect_to(one);
        if (last) break;
    }
    return last;
}

result<void> connection::connect_to(const std::string& server) {
    natsOptions* raw = nullptr;
    if (const auto status = natsOptions_Create(&raw); status != NATS_OK) {
        return failure_of(status, "options");
    }
    const options_handle options{raw};
    const auto timeout = std::chrono::duration_cast<milliseconds>(options_.connect_timeout);
    const std::string url = (options_.tls ? "tls://" : "nats://") + server;
    steps all;
    all << natsOptions_SetURL(raw, url.c_str()) << natsOptions_SetTimeout(raw, timeout.count())
        << natsOptions_SetAllowReconnect(raw, false)
        << natsOptions_SetFailRequestsOnDisconnect(raw, true)
        << natsOptions_SetName(raw, "semel")
        // Otherwise a server that reads nothing would block a publisher for ever.
        << natsOptions_SetWriteDeadline(raw, timeout.count());
    if (!options_.user.empty()) {
        all << natsOptions_SetUserInfo(raw, options_.user.c_str(), options_.password.c_str());
    }
    if (options_.tls) all << add_tls(raw, options_, host_of(server));
    if (all.status() != NATS_OK) return failure_of(all.status(), "options");
    natsConnection* made = nullptr;
    if (const auto status = natsConnection_Connect(&made, raw); status != NATS_OK) {
        return failure_of(status, "connect to " + server);
    }
    it_.reset(made);
    return {};
}

} // namespace semel::nats
