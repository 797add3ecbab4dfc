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
    return {.defaults = with.reconcile,
            .operations = opened(rules_of(gateway, with.reconcile)),
            .log = std::move(log)};
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
        .add_option("--token-header", with.token.header,
                    "where clients send their token; not Authorization: the token alone")
        ->capture_default_str()
        ->type_name("HEADER")
        ->group(group);
    flag(command, "--forward-token", with.token.forward, http::tenant_token::forwarding::pass,
         "the service gets to see the token")
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
        flag(command, "--require-key", with.route.need, http::key_need::required, "no key: 400");
    require->group(group);
    flag(command, "--derive-key", with.route.need, http::key_need::derived,
         "no key: made from the request")
        ->excludes(require)
        ->group(group);
    flag(command, "--strict-key", with.route.keys.form, http::key_form::strict,
         "keys must be quoted")
        ->group(group);
    command.add_option("--key-header", with.route.keys.headers, "default Idempotency-Key")
        ->type_name("HEADER")
        ->group(group);
    choice<http::profile>(command, "--profile", with.route.responses,
                          {{"2xx", http::profile::only_2xx},
                           {"ietf", http::profile::ietf},
                           {"stripe-v1", http::profile::stripe_v1},
                           {"stripe-v2", http::profile::stripe_v2}},
                          "which answers are kept: docs/http.md")
        ->group(group);
    operation_policy& policy = with.route.policy;
    time_option(command, "--lease", policy.lease)->group(group);
    time_option(command, "--retention", policy.retention, "how long repeats get the first answer")
        ->group(group);
    time_option(command, "--wait", policy.wait_max, "for a request in progress; 0s: 409 at once")
        ->group(group);
    choice<lease_expiry>(command, "--on-lease-expiry", policy.on_lease_expiry,
                         {{"retry", lease_expiry::retry},
                          {"hold", lease_expiry::hold},
                          {"probe", lease_expiry::probe}},
                         "what becomes of a request whose process has died")
        ->group(group);
    command.add_option("--probe", with.probe, "path of the upstream that knows what happened")
        ->type_name("PATH")
        ->group(group);
    time_option(command, "--alert-after", with.reconcile.alert_after,
                "past the lease: a warning in the log")
        ->group(group);
    time_option(command, "--settle-after", with.reconcile.settle_after,
                "past the lease: the probe is asked")
        ->group(group);
    flag(command, "--fail-open", with.route.outage, http::store_outage::pass,
         "go on without the store while it is away")
        ->group(group);
    choice<http::key_forwarding>(command, "--forward-key", with.route.forward,
                                 {{"same", http::key_forwarding::same},
                                  {"record", http::key_forwarding::record},
                                  {"child", http::key_forwarding::child},
                                  {"none", http::key_forwarding::none}},
                                 "which key the upstream gets")
        ->group(group);
    command.add_option("--body-max", with.route.body_bytes_max, "bytes of a protected request")
        ->capture_default_str()
        ->group(group);
}

void add_principal_options(CLI::App& command, gateway_arguments& with) {
    const std::string group = "Routes";
    command
        .add_option("--principal", with.route.principal,
                    "whose answer it is: a header, a cookie as in Cookie:session, or shared")
        ->type_name("HEADER")
        ->group(group);
    command
        .add_option("--principal-secret", with.principal_secret,
                    "env:NAME or file:/path; the same for all gateways of a store")
        ->type_name("SECRET")
        ->group(group);
    choice<http::no_principal>(
        command, "--principal-missing", with.route.without_principal,
        {{"refuse", http::no_principal::refuse}, {"anonymous", http::no_principal::anonymous}},
        "a request without a principal: 401, or one principal for all such")
        ->group(group);
}

void add_connection_options(CLI::App& command, gateway_arguments& with) {
    const std::string group = "Connections";
    edge::server_options& server = with.options.server;
    edge::upstream_options& upstream = with.options.upstream;
    command.add_option("--host", server.heads.hosts, "answer for these hosts only")->group(group);
    command
        .add_option("--vital-header", with.vital_headers,
                    "set by a proxy in front: not to be hidden behind Connection")
        ->type_name("HEADER")
        ->group(group);
    flag(command, "--pass-underscores", upstream.underscores,
         edge::upstream_options::names_with_underscores::pass,
         "headers of clients with a _ in their names go on")
        ->group(group);
    time_option(command, "--connect-time", upstream.connect_time)->group(group);
    time_option(command, "--answer-time", upstream.answer_time, "for the upstream to answer")
        ->group(group);
    time_option(command, "--drain-time", with.options.drain_time, "after SIGTERM or SIGINT")
        ->group(group);
    const auto file = [&](const char* name, std::string& to, const char* about = "") {
        command.add_option(name, to, about)->type_name("FILE")->group(group);
    };
    file("--upstream-ca", upstream.ca_file);
    file("--tls-cert", with.tls.certificate_file);
    file("--tls-key", with.tls.key_file);
    file("--client-ca", with.tls.client_ca_file, "clients with its certificates are trusted");
    flag(command, "--require-client-cert", with.tls.client,
         edge::tls_server_options::client_certificate::required, "refuse other clients")
        ->group(group);
    command.add_option("--threads", server.threads, "0: one per core")
        ->capture_default_str()
        ->group(group);
    command
        .add_option("--connections-per-address", server.connections_per_address_max,
                    "of one address that is not trusted; 0: no bound")
        ->capture_default_str()
        ->group(group);
    command
        .add_option("--buffered-max", server.buffered_bytes_max, "bytes of bodies that are held")
        ->capture_default_str()
        ->group(group);
    command.add_option("--connections", server.connections_max, "at most")
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
