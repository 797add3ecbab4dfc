#include "config/schema.hpp"

namespace semel::config {
namespace {

constexpr std::size_t key_hex_digits = 64;

// 64 hex digits, or 32 bytes as they are.
std::optional<std::string> key_bytes(const std::string& text) {
    if (text.size() == fingerprint::size_bytes) return text;
    if (text.size() != key_hex_digits) return std::nullopt;
    const auto bytes = fingerprint::from_hex(text);
    if (!bytes) return std::nullopt;
    return std::string{bytes->as_string_view()};
}

// Of `written` only the path changes: it begins at the folder of the configuration.
std::variant<encryption_key, std::string> read_key(std::string& written,
                                                   const surroundings& around) {
    const auto blank = written.find(' ');
    const std::string id = written.substr(0, blank);
    const std::string from =
        blank == std::string::npos ? "" : in_folder(written.substr(blank + 1), around);
    if (id.empty() || is_reference(id) || !is_reference(from)) {
        return R"(must be "ID file:/path" or "ID env:NAME" each)";
    }
    written = id + " " + from;
    const auto text = look_up(from, around);
    if (!text) return text.error().detail;
    auto bytes = key_bytes(*text);
    if (!bytes) return "the key " + id + " must be 64 hex digits (openssl rand -hex 32)";
    return encryption_key{.id = id, .secret = *std::move(bytes)};
}

field keys_field(key about, store_section& to) {
    field made = texts_field(std::move(about), to.keys);
    made.take = [&to, texts = made.take](const value& from,
                                         const surroundings& around) -> complaint {
        if (auto wrong = texts(from, around)) return wrong;
        to.encryption.keys.clear();
        for (std::string& one : to.keys) {
            auto read = read_key(one, around);
            if (auto* wrong = std::get_if<std::string>(&read)) return std::move(*wrong);
            to.encryption.keys.push_back(std::get<encryption_key>(std::move(read)));
        }
        return std::nullopt;
    };
    return made;
}

complaint take_secret(const value& from, secret& to, const surroundings& around) {
    const auto got = detail::one_text(from);
    if (const auto* wrong = std::get_if<complaint>(&got)) return *wrong;
    const std::string written = in_folder(std::get<std::string>(got), around);
    if (written.empty()) return to = {}, std::nullopt;
    if (!is_reference(written)) return R"(must be "file:/path" or "env:NAME")";
    auto text = look_up(written, around);
    if (!text) return text.error().detail;
    return to = {written, *std::move(text)}, std::nullopt;
}

field secret_field(key about, secret& to) {
    return {std::move(about.name), "text", std::move(about.meaning),
            [&to](const value& from, const surroundings& around) {
                return take_secret(from, to, around);
            },
            [&to] { return detail::quoted(to.written); }};
}

fields server_fields(server_section& to) {
    using client = edge::tls_server_options::client_certificate;
    return {
        text_field({"listen", "address and port for clients"}, to.listen),
        text_field({"admin_listen", "address and port of health, readiness, metrics and the "
                                    "console; empty: none. Keep it away from clients"},
                   to.admin_listen),
        texts_field({"admin_hosts", "names by which admin_listen may be asked, such as "
                                    "\"semel.example.com\"; addresses, and names without a dot, "
                                    "always may"},
                    to.admin_hosts),
        flag_field({"admin_tls", "TLS at admin_listen, too, with the same certificate"},
                   to.admin_tls),
        flag_field({"metrics_token", "/metrics asks for a bearer token of tenants.tokens with the "
                                     "scope read or admin"},
                   to.metrics_token),
        count_field({"threads", "threads that serve connections; 0: one per core"},
                    to.options.threads, zero::allowed),
        texts_field({"hosts", "values of Host that are answered; empty: any"},
                    to.options.heads.hosts),
        path_field({"tls_certificate", "PEM file with the certificate chain; empty: no TLS"},
                   to.tls.certificate_file),
        path_field({"tls_key", "PEM file with its private key"}, to.tls.key_file),
        path_field({"tls_client_ca", "PEM file of the authority of client certificates; a client "
                                     "that shows one is trusted. Empty: none is asked for"},
                   to.tls.client_ca_file),
        flag_field({"tls_client_required", "refuse clients without such a certificate"},
                   to.tls.client, client::optional, client::required),
        count_field({"connections_max", "connections at the same time"},
                    to.options.connections_max),
        count_field(
            {"connections_per_address_max",
             "of them from one address, or from IPv6 addresses with the same first 64 bits; "
             "0: no bound. Trusted peers are not counted"},
            to.options.connections_per_address_max, zero::allowed),
        size_field({"head_bytes_max", "request line and headers"},
                   to.options.heads.limits.head_bytes_max),
        duration_field({"head_timeout", "until the head of a request is there"},
                       to.options.times.head),
        duration_field({"body_timeout", "how long a body may stop coming"}, to.options.times.body),
        duration_field({"body_time_max", "for the whole of a body that is held until it is "
                                         "complete: of protected requests, and at the center"},
                       to.options.times.body_max),
        duration_field({"write_timeout", "how long an answer may stop being taken"},
                       to.options.times.write),
        duration_field({"idle_timeout", "between two requests of a connection"},
                       to.options.times.idle),
        duration_field({"drain", "how long requests under way may take after SIGTERM"}, to.drain),
    };
}

fields store_fields(store_section& to) {
    return {
        url_field({"url", "the store; or \"file:/path\" or \"env:NAME\", where the URL is read "
                          "from"},
                  to.url),
        url_field({"front", "a Redis in front of it (`redis://…`); the store stays the truth. "
                            "Empty: none"},
                  to.front),
        text_field({"table_prefix", "of stores that have tables"}, to.options.table_prefix),
        count_field({"queue_max", "begins and look-ups that wait for the store"},
                    to.options.queue_max),
        size_field({"cache_bytes", "near cache of finished results; 0: none"}, to.cache.bytes_max,
                   zero::allowed),
        duration_field({"cache_age", "how long the cache answers without asking the store"},
                       to.cache.age_max),
        keys_field({"encryption_keys", "keys for results at rest: \"ID file:/path\" or \"ID "
                                       "env:NAME\", 64 hex digits each. The first one encrypts, "
                                       "all decrypt. Empty: not encrypted"},
                   to),
        choice_field<unencrypted>(
            {"unencrypted", "how results from before encryption are read"}, to.encryption.others,
            {{"refuse", unencrypted::refuse}, {"accept", unencrypted::accept}}),
    };
}

fields tenants_fields(tenants_section& to) {
    using forwarding = http::tenant_token::forwarding;
    return {
        choice_field<tenant_kind>({"source", "where the tenant of a gateway request comes from; "
                                             "must be chosen where there is a gateway"},
                                  to.source,
                                  {{"single", tenant_kind::single},
                                   {"header", tenant_kind::header},
                                   {"tokens", tenant_kind::tokens}}),
        text_field({"name", "the tenant of everybody (source \"single\")"}, to.single.name),
        text_field({"header", "the header that names it (source \"header\")"}, to.header.name),
        texts_field({"trusted", "addresses or networks whose header is believed, such as "
                                "\"10.0.0.0/8\""},
                    to.trusted),
        path_field({"tokens", "file of `semel token`; needed by the center and by source "
                              "\"tokens\". Read again when it changes, and on SIGHUP"},
                   to.tokens),
        text_field({"token_header", "where clients send their token (source \"tokens\"): "
                                    "`Authorization: Bearer …`, or the token alone in another "
                                    "header, which leaves Authorization to the service"},
                   to.token.header),
        flag_field({"forward_token", "whether the service gets to see that token"},
                   to.token.forward, forwarding::drop, forwarding::pass),
    };
}

fields gateway_fields(gateway_section& to) {
    return {
        text_field({"upstream", "URL of the service behind it: `http://host:port` or `https://…`; "
                                "empty: no gateway"},
                   to.upstream),
        path_field({"tls_ca", "PEM file of authorities for an https upstream; empty: the system's"},
                   to.options.ca_file),
        duration_field({"connect_timeout", "until a connection to the upstream stands"},
                       to.options.connect_time),
        duration_field({"answer_timeout", "until its answer is there"}, to.options.answer_time),
        count_field({"connections_max", "connections to the upstream"}, to.options.connections_max),
        size_field({"answer_bytes_max",
                    "of an answer on a protected route; a larger one is executed and "
                    "remembered, but its body is not kept"},
                   to.options.answer_bytes_max),
        choice_field<edge::upstream_options::host_seen>(
            {"host", "the Host that the upstream sees: the client's, or the one in its URL"},
            to.options.host,
            {{"clients", edge::upstream_options::host_seen::clients},
             {"own", edge::upstream_options::host_seen::own}}),
        texts_field({"vital_headers", "headers that a proxy in front sets and the service goes by, "
                                      "such as \"X-User\": a request that hides one behind "
                                      "Connection is refused"},
                    to.vital_headers),
        choice_field<edge::upstream_options::names_with_underscores>(
            {"underscores", "headers of untrusted clients whose names hold a `_`, which some "
                            "services read as `-`; those of vital_headers and keys pass"},
            to.options.underscores,
            {{"drop", edge::upstream_options::names_with_underscores::drop},
             {"pass", edge::upstream_options::names_with_underscores::pass}}),
        secret_field({"principal_secret", "\"file:/path\" or \"env:NAME\", a secret of at least 16 "
                                          "bytes for route.principal, the same on all instances. "
                                          "With another secret no request is known any more"},
                     to.principal_secret),
    };
}

fields center_fields(center_section& to) {
    return {
        flag_field({"enabled", "serve the center API"}, to.enabled),
        text_field({"listen", "its address and port"}, to.listen),
        size_field({"body_bytes_max", "of a request"}, to.options.body_bytes_max),
        size_field({"buffered_bytes_max", "bodies that are held, of all requests; apart from those "
                                          "of the gateway"},
                   to.buffered_bytes_max),
        count_field({"batch_max", "items of one batch"}, to.options.batch_max),
        duration_field({"wait_max", "the longest `wait` of a begin"}, to.options.wait_max,
                       zero::allowed),
        count_field({"waiters_max", "begins that wait at the same time"}, to.options.waiters_max),
        choice_field<unknown_operations>(
            {"unknown_operations", "what becomes of work on an operation that no [[operation]] or "
                                   "[[route]] names: it has the defaults, or it is refused"},
            to.others,
            {{"defaults", unknown_operations::defaults}, {"refuse", unknown_operations::refuse}}),
    };
}

fields console_fields(console_section& to) {
    using cookies = edge::console_options::cookies;
    return {
        flag_field({"enabled", "serve the console and its API on server.admin_listen"}, to.enabled),
        duration_field({"session", "how long a session lasts at most"}, to.options.sessions.length),
        duration_field({"idle", "and how long without a request"}, to.options.sessions.idle),
        flag_field({"secure_cookie", "browsers send the session's cookie over TLS only, and only "
                                     "to this host; for a proxy in front that has TLS"},
                   to.options.cookie, cookies::plain, cookies::secure),
        text_field({"url", "how operators reach the console, such as "
                           "\"https://semel.internal:7071\"; alerts then link to its pages"},
                   to.url),
    };
}

fields limits_fields(limits& to, edge::server_options& server) {
    return {
        size_field({"result_bytes_max", "of a stored result; larger ones leave a tombstone"},
                   to.result_bytes_max),
        count_field({"waiters_per_key_max", "repeats of one request that wait for its result"},
                    to.waiters_per_key_max),
        count_field({"waiters_max", "repeats that wait, of all requests"}, to.waiters_max),
        count_field({"executions_max", "protected requests under way"}, to.executions_max),
        size_field({"buffered_bytes_max", "bodies that are held, of all requests of the gateway "
                                          "and their answers; above it the slowest body gets 503, "
                                          "or else the new one"},
                   server.buffered_bytes_max),
    };
}

fields sweep_fields(sweep_options& to) {
    return {
        duration_field({"every", "between two sweeps while nothing has expired"}, to.idle),
        count_field({"records_max", "records removed at once"}, to.records_max),
        duration_field({"batch_time", "a batch that takes longer makes the next ones smaller"},
                       to.batch_time),
        count_field(
            {"share_percent",
             "how much of the time it may work while there is more; up to half of it where it "
             "falls behind for minutes"},
            to.share_percent),
    };
}

fields reconcile_fields(reconcile_section& to) {
    return {
        flag_field({"enabled", "look for work whose owner has gone, tell, and ask"}, to.enabled),
        duration_field({"every", "between two looks"}, to.options.every),
        duration_field({"alert_after", "past the lease: an alert goes out"},
                       to.options.defaults.alert_after),
        duration_field({"settle_after", "past the lease: the service is asked what happened"},
                       to.options.defaults.settle_after),
        count_field({"probes_at_once", "questions under way"}, to.options.probes_at_once),
    };
}

fields alerts_fields(alerts_section& to) {
    return {
        url_field({"webhook", "URL that is sent a JSON object for each alert; or \"file:/path\" or "
                              "\"env:NAME\", where the URL is read from. Empty: alerts are logged "
                              "only"},
                  to.webhook),
        secret_field({"secret", "\"file:/path\" or \"env:NAME\", a secret under which alerts are "
                                "signed as relay webhooks are. Empty: they are not"},
                     to.signing),
        secret_field({"old_secret", "the same, while receivers change to secret: alerts then have "
                                    "a signature under each"},
                     to.old_signing),
        duration_field({"every", "over which shares are taken"}, to.every),
        percent_field({"replay_percent", "of the requests: more repeats are a retry storm"},
                      to.limits.replay_share),
        percent_field({"mismatch_percent", "of the requests: more are an alert"},
                      to.limits.mismatch_share),
        percent_field({"store_failure_percent", "of the questions to the store: more are an alert"},
                      to.limits.store_failure_share),
        count_field({"requests_min", "fewer requests say nothing about shares"},
                    to.limits.requests_min),
        duration_field({"outbox_lag", "an event that waits longer is an alert"},
                       to.limits.outbox_lag),
    };
}

fields log_fields(log_section& to) {
    return {
        choice_field<log_level>({"level", "this and above"}, to.options.level,
                                {{"debug", log_level::debug},
                                 {"info", log_level::info},
                                 {"warning", log_level::warning},
                                 {"error", log_level::error}}),
        choice_field<log_format>({"format", "lines for people or for machines"}, to.options.format,
                                 {{"pretty", log_format::pretty}, {"json", log_format::json}}),
        choice_field<keys_in_logs>(
            {"keys", "whether lines have the first digits of a key's hash or the key itself"},
            to.keys, {{"hashed", keys_in_logs::hashed}, {"plain", keys_in_logs::plain}}),
        secret_field({"key_secret", "\"file:/path\" or \"env:NAME\", a secret under which keys are "
                                    "hashed for logs, so that a key cannot be found by trying. The "
                                    "same on all instances. Empty: hashes that are the same "
                                    "everywhere"},
                     to.key_secret),
    };
}

} // namespace

std::vector<section> sections_of(config& of) {
    return {
        {"server", "Where clients connect, and how patient the server is with them.",
         server_fields(of.server)},
        {"store", "Where records are kept.", store_fields(of.store)},
        {"tenants", "Who is who. There is no default: keys of different clients must never meet.",
         tenants_fields(of.tenants)},
        {"gateway", "The service that is protected.", gateway_fields(of.gateway)},
        {"center", "The API for services that run the work themselves.", center_fields(of.center)},
        {"console",
         "Pages for operators; see [the console](console.md). Its users sign in with "
         "tokens of `semel token` from tenants.tokens.",
         console_fields(of.console)},
        {"limits", "Bounds on what is kept and on what waits.",
         limits_fields(of.limits, of.server.options)},
        {"log", "Lines on standard error.", log_fields(of.log)},
        {"sweep", "How records that have expired are removed.", sweep_fields(of.sweep)},
        {"reconcile", "How work whose owner has gone is settled; see [operations](operations.md).",
         reconcile_fields(of.reconcile)},
        {"alerts", "Alerts that are sent, beside the Prometheus rules.", alerts_fields(of.alerts)},
    };
}

} // namespace semel::config
