#include <iostream>
#include <memory>

#include "choices.hpp"
#include "commands.hpp"
#include "duration_text.hpp"
#include "edge/gateway/gateway.hpp"
#include "gateway_arguments.hpp"
#include "http_probe.hpp"
#include "last_exit.hpp"
#include "net/shown_url.hpp"
#include "opened.hpp"
#include "semel/engine.hpp"
#include "semel/open.hpp"
#include "semel/operations.hpp"
#include "signals.hpp"
#include "start_advice.hpp"
#include "token_source.hpp"
#include "url_argument.hpp"

namespace semel::app {
namespace {

// Alerts go into the log: a webhook is for `semel serve`.
reconciler_options reconciling(const gateway_arguments& with, const edge::gateway_options& gateway,
                               std::shared_ptr<logger> log) {
    reconciler_options made{
        .defaults = {.alert_after = parse_duration("--alert-after", with.alert_after),
                     .settle_after = parse_duration("--settle-after", with.settle_after)},
        .log = std::move(log)};
    made.operations = opened(rules_of(gateway, made.defaults));
    return made;
}

void serve(const gateway_arguments& with) {
    const auto log = open_spdlog_logger({.level = log_level::warning});
    const auto tokens = std::make_shared<config::live_tokens>();
    const edge::gateway_options options = options_of(with, tokens);
    const std::string store = given_url("--store", with.store);
    token_source file{with.tenant_tokens, log, tokens};
    if (!with.tenant_tokens.empty()) file.read();
    signals asked{SIGTERM, SIGINT, SIGHUP};
    semel::engine engine{
        opened(open_store(store)), {}, {.operations = edge::operations_of(options).value()}};
    const std::string advice = open_answers(options.gate.tenants, options.gate.routes);
    if (!advice.empty()) std::cerr << "semel: warning: " << advice << '\n';
    const auto gateway = opened(edge::gateway::start(options, engine));
    reconciler settles{engine.records(), reconciling(with, options, log)};
    settles.start();
    std::cout << "semel gateway: listening on " << (options.server.tls ? "https://" : "http://")
              << gateway->address().text() << ", upstream " << with.upstream << ", store "
              << net::shown_url(store) << std::endl;
    for (int what = 0; what == 0 || what == SIGHUP; what = asked.next(token_look)) {
        if (with.tenant_tokens.empty()) continue;
        what == SIGHUP ? file.reload() : file.look();
    }
    asked.release();
    end_within(options.drain_time + closing_time);
    if (gateway->drain() == edge::drained::all) {
        std::cout << "semel gateway: drained" << std::endl;
        return;
    }
    std::cerr << "semel: the drain time is over and requests are still under way\n";
    throw CLI::RuntimeError{1};
}

void add_tenant_options(CLI::App& command, gateway_arguments& with) {
    const std::string group = "Tenants (one of the first three)";
    command
        .add_option_function<std::string>(
            "--single-tenant",
            [&with](const std::string& name) { with.single_tenant = name.empty() ? "main" : name; },
            "all clients are one tenant; its name, default main")
        ->expected(0, 1)
        ->type_name("[NAME]")
        ->group(group);
    command.add_option("--tenant-header", with.tenant_header, "a trusted proxy names it here")
        ->type_name("HEADER")
        ->group(group);
    command
        .add_option("--tenant-tokens", with.tenant_tokens,
                    "bearer tokens, made by `semel token new`")
        ->type_name("FILE")
        ->group(group);
    command
        .add_option("--token-header", with.token_header,
                    "where clients send their token; not Authorization: the token alone")
        ->capture_default_str()
        ->type_name("HEADER")
        ->group(group);
    command.add_flag("--forward-token", with.forward_token, "the service gets to see the token")
        ->group(group);
    command.add_option("--trust", with.trust, "peers whose word counts: addresses or networks")
        ->type_name("NETWORK")
        ->group(group);
}

void add_route_options(CLI::App& command, gateway_arguments& with) {
    const std::string group = "Routes";
    command
        .add_option("--route", with.routes,
                    "what is protected: [NAME=][METHODS:]PATTERN, as in ORDER=POST:/orders/**; "
                    "default POST,PATCH:/**")
        ->type_name("ROUTE")
        ->group(group);
    auto* const require =
        command.add_flag("--require-key", with.require_key, "no key: 400")->group(group);
    command.add_flag("--derive-key", with.derive_key, "no key: made from the request")
        ->excludes(require)
        ->group(group);
    command.add_flag("--strict-key", with.strict_key, "keys must be quoted")->group(group);
    command.add_option("--key-header", with.key_headers, "default Idempotency-Key")
        ->type_name("HEADER")
        ->group(group);
    one_of(command.add_option("--profile", with.profile, "which answers are kept: docs/http.md"),
           {"2xx", "ietf", "stripe-v1", "stripe-v2"})
        ->capture_default_str()
        ->group(group);
    command.add_option("--lease", with.lease)
        ->capture_default_str()
        ->type_name("TIME")
        ->group(group);
    command.add_option("--retention", with.retention, "how long repeats get the first answer")
        ->capture_default_str()
        ->type_name("TIME")
        ->group(group);
    command.add_option("--wait", with.wait, "for a request in progress; 0s: 409 at once")
        ->capture_default_str()
        ->type_name("TIME")
        ->group(group);
    one_of(command.add_option("--on-lease-expiry", with.on_lease_expiry,
                              "what becomes of a request whose process has died"),
           {"retry", "hold", "probe"})
        ->capture_default_str()
        ->group(group);
    command.add_option("--probe", with.probe, "path of the upstream that knows what happened")
        ->type_name("PATH")
        ->group(group);
    command.add_option("--alert-after", with.alert_after, "past the lease: a warning in the log")
        ->capture_default_str()
        ->type_name("TIME")
        ->group(group);
    command.add_option("--settle-after", with.settle_after, "past the lease: the probe is asked")
        ->capture_default_str()
        ->type_name("TIME")
        ->group(group);
    command.add_flag("--fail-open", with.fail_open, "go on without the store while it is away")
        ->group(group);
    one_of(command.add_option("--forward-key", with.forward, "which key the upstream gets"),
           {"same", "record", "child", "none"})
        ->capture_default_str()
        ->group(group);
    command.add_option("--body-max", with.body_max, "bytes of a protected request")
        ->capture_default_str()
        ->group(group);
}

void add_principal_options(CLI::App& command, gateway_arguments& with) {
    const std::string group = "Routes";
    command
        .add_option("--principal", with.principal,
                    "whose answer it is: a header, a cookie as in Cookie:session, or shared")
        ->type_name("HEADER")
        ->group(group);
    command
        .add_option("--principal-secret", with.principal_secret,
                    "env:NAME or file:/path; the same for all gateways of a store")
        ->type_name("SECRET")
        ->group(group);
    one_of(command.add_option("--principal-missing", with.principal_missing,
                              "a request without a principal: 401, or one principal for all such"),
           {"refuse", "anonymous"})
        ->capture_default_str()
        ->group(group);
}

void add_connection_options(CLI::App& command, gateway_arguments& with) {
    const std::string group = "Connections";
    command.add_option("--host", with.hosts, "answer for these hosts only")->group(group);
    command
        .add_option("--vital-header", with.vital_headers,
                    "set by a proxy in front: not to be hidden behind Connection")
        ->type_name("HEADER")
        ->group(group);
    command
        .add_flag("--pass-underscores", with.pass_underscores,
                  "headers of clients with a _ in their names go on")
        ->group(group);
    command.add_option("--connect-time", with.connect_time)
        ->capture_default_str()
        ->type_name("TIME")
        ->group(group);
    command.add_option("--answer-time", with.answer_time, "for the upstream to answer")
        ->capture_default_str()
        ->type_name("TIME")
        ->group(group);
    command.add_option("--drain-time", with.drain_time, "after SIGTERM or SIGINT")
        ->capture_default_str()
        ->type_name("TIME")
        ->group(group);
    command.add_option("--upstream-ca", with.upstream_ca)->type_name("FILE")->group(group);
    command.add_option("--tls-cert", with.tls_certificate)->type_name("FILE")->group(group);
    command.add_option("--tls-key", with.tls_key)->type_name("FILE")->group(group);
    command.add_option("--client-ca", with.client_ca, "clients with its certificates are trusted")
        ->type_name("FILE")
        ->group(group);
    command
        .add_flag("--require-client-cert", with.require_client_certificate, "refuse other clients")
        ->group(group);
    command.add_option("--threads", with.threads, "0: one per core")
        ->capture_default_str()
        ->group(group);
    command
        .add_option("--connections-per-address", with.connections_per_address,
                    "of one address that is not trusted; 0: no bound")
        ->capture_default_str()
        ->group(group);
    command.add_option("--buffered-max", with.buffered_max, "bytes of bodies that are held")
        ->capture_default_str()
        ->group(group);
    command.add_option("--connections", with.connections, "at most")
        ->capture_default_str()
        ->group(group);
}

} // namespace

void add_gateway_command(CLI::App& tool) {
    const auto with = std::make_shared<gateway_arguments>();
    CLI::App* const command =
        tool.add_subcommand("gateway", "Stand in front of an HTTP service and make requests with "
                                       "an Idempotency-Key take effect once");
    command->add_option("--listen", with->listen)->capture_default_str()->type_name("HOST:PORT");
    command->add_option("--upstream", with->upstream, "http:// or https://")
        ->required()
        ->type_name("URL");
    command
        ->add_option("--store", with->store,
                     std::string{"as in sqlite:semel.db or memory:"} + or_reference)
        ->required()
        ->type_name("URL");
    add_tenant_options(*command, *with);
    add_route_options(*command, *with);
    add_principal_options(*command, *with);
    add_connection_options(*command, *with);
    command->footer(
        "Answers of protected requests: see docs/http.md. The file of --tenant-tokens is "
        "read again when it changes, and on SIGHUP. SIGTERM and SIGINT drain: "
        "exit code 0 when all is done.");
    command->callback([with] { serve(*with); });
}

} // namespace semel::app
