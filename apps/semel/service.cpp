#include "service.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <utility>
#include <vector>

#include "edge/admin/metrics.hpp"
#include "http_probe.hpp"
#include "log/key_secret.hpp"
#include "net/shown_url.hpp"
#include "opened.hpp"
#include "start_advice.hpp"

namespace semel::app {
service::service(config::config with)
    : config_(std::move(with)),
      log_(open_spdlog_logger(config_.log.options)),
      timers_(open_system_runtime()),
      tokens_(std::make_shared<config::live_tokens>()),
      security_(log_),
      mismatches_(std::make_shared<edge::mismatch_log>()) {
    show_keys(config_.log.keys);
    hash_keys_with(config_.log.key_secret.text);
    if (!config_.store.encryption.keys.empty()) forbid_core_dumps();
    if (!config_.tenants.tokens.empty()) {
        token_source_.emplace(config_.tenants.tokens, log_, tokens_);
        token_source_->read();
    }
    const auto note = [to = mismatches_](const mismatch_seen& it) { to->add(it); };
    auto engine_with = engine_options_of(config_, log_);
    engine_with.on_mismatch = note;
    engine_.emplace(opened(open_store(config_.store, meters_)), default_policy_of(config_),
                    std::move(engine_with));
    if (config_.center.enabled) {
        auto center_with = center_options_of(config_, tokens_);
        center_with.on_mismatch = note;
        center_with.watch = [this](const edge::security_event& one) { security_.add(one); };
        center_.emplace(engine_->records(), *timers_, std::move(center_with));
        auto options = server_options_of(config_, log_, config_.center.listen);
        options.body_bytes_max = config_.center.options.body_bytes_max;
        options.buffered_bytes_max = config_.center.buffered_bytes_max;
        center_server_ =
            opened(edge::server::start(std::move(options), center_->requests(), center_->door()));
    }
    if (!config_.gateway.upstream.empty()) {
        auto options = gateway_options_of(config_, log_, tenants_of(config_.tenants, tokens_));
        gateway_ = opened(edge::gateway::start(std::move(options), *engine_));
    }
    relays_.emplace(config_, log_);
    for (const std::string& one : start_advice(config_)) log_warning(*log_, one);
    start_housekeeping();
    if (!config_.server.admin_listen.empty()) open_admin();
}

void service::open_admin() {
    edge::admin_options pages{.metrics = [this] { return metrics(); },
                              .notes = [this] { return notes(); }};
    if (config_.server.metrics_token) {
        pages.may_see_metrics = [tokens = tokens_](std::string_view token) {
            const auto gives = tokens->find(token);
            return gives && gives->may.allows(http::scope::read);
        };
    }
    if (config_.console.enabled) {
        auto with = console_options_of(config_, tokens_);
        with.numbers = [this] { return numbers(); };
        with.mismatches = mismatches_;
        with.watch = [this](const edge::security_event& one) { security_.add(one); };
        with.outbox = relays_->outbox();
        console_.emplace(engine_->records(), *timers_, std::move(with));
        pages.others = console_->requests();
    }
    admin_.emplace(engine_->records(), *timers_, std::move(pages));
    auto door = console_ ? console_->door() : edge::doorkeeper{};
    admin_server_ = opened(
        edge::server::start(admin_options_of(config_, log_), admin_->requests(), std::move(door)));
}

void service::start_housekeeping() {
    alerts_ = std::make_unique<alert_sender>(alert_target_of(config_), log_);
    watch_.emplace(
        config_.alerts.limits, config_.alerts.every, [this] { return traffic(); }, *alerts_);
    if (!config_.reconcile.enabled) return;
    reconciler_options options = opened(reconciler_options_of(config_));
    options.log = log_;
    options.on_alert = [this](const alert& one) { alerts_->send(one); };
    reconciler_ = std::make_unique<reconciler>(engine_->records(), std::move(options));
    reconciler_->start();
}

// The pages go first: they look at everything else.
service::~service() {
    admin_server_.reset();
    console_.reset();
}

std::string service::about() const {
    const std::string scheme = config_.server.tls.certificate_file.empty() ? "http://" : "https://";
    std::string text;
    if (gateway_) {
        text += "semel serve: gateway " + scheme + gateway_->address().text() + ", upstream " +
                config_.gateway.upstream + "\n";
    }
    if (center_server_) {
        text += "semel serve: center " + scheme + center_server_->address().text() + "\n";
    }
    for (const config::relay_entry& one : config_.relays) {
        text += "semel serve: relay to " + net::shown_url(one.sink.text) + "\n";
    }
    if (admin_server_) {
        text += "semel serve: admin " + admin_url() + "\n";
    }
    if (console_) text += "semel serve: console " + console_url() + "\n";
    return text + "semel serve: store " + net::shown_url(config_.store.url.text) + "\n";
}

std::string service::console_url() const {
    return console_ ? admin_url() + "/" : "";
}

std::string service::admin_url() const {
    return (config_.server.admin_tls ? "https://" : "http://") + admin_server_->address().text();
}

void service::allow(std::string_view token, http::grant gives) {
    http::token_table table;
    if (auto added = table.add(fingerprint::raw(token), std::move(gives)); !added) {
        throw std::runtime_error(describe(added.error()));
    }
    tokens_->set(std::move(table));
}

void service::reload_tokens() {
    if (token_source_) token_source_->reload();
}

void service::look_at_tokens() {
    if (token_source_) token_source_->look();
}

std::string service::notes() const {
    if (!token_source_ || !token_source_->is_old()) return "";
    return "tokens: the file could not be read again; those before it changed stay in effect, "
           "revoked ones too\n";
}

// Both listeners are closed before either is waited for: while one finishes its last requests the
// other must not begin new ones. They share one deadline.
edge::drained service::drain() {
    using clock = std::chrono::steady_clock;
    const auto until = clock::now() + config_.server.drain;
    const auto left = [until] {
        return std::max(duration::zero(), std::chrono::ceil<duration>(until - clock::now()));
    };
    if (admin_) admin_->drain();
    if (center_) center_->stop_waiting();
    if (gateway_) gateway_->stop_accepting();
    if (center_server_) center_server_->stop_accepting();
    auto ended = edge::drained::all;
    if (center_server_) ended = center_server_->drain(left());
    if (gateway_ && gateway_->drain(left()) != edge::drained::all) ended = edge::drained::cut_off;
    relays_->stop();
    return ended;
}

// Of the gateway, the center and the relays.
traffic service::traffic() const {
    const engine_counters engine = engine_->counters();
    semel::traffic made{.requests = engine.executed + engine.replayed + engine.in_progress +
                                    engine.mismatched + engine.failed + engine.in_doubt +
                                    engine.unconfirmed + engine.unavailable,
                        .replayed = engine.replayed,
                        .mismatched = engine.mismatched,
                        .outbox_lag = relays_->lag()};
    if (center_) {
        const edge::center_counts center = center_->counts();
        made.requests += center.started + center.replayed;
        made.replayed += center.replayed;
    }
    for (const command_snapshot& one : meters_.commands.snapshot().commands) {
        made.store_calls += one.calls;
        made.store_failures +=
            std::accumulate(one.failures.begin(), one.failures.end(), std::uint64_t{0});
    }
    return made;
}

edge::console_numbers service::numbers() const {
    edge::console_numbers now{.engine = engine_->counters(),
                              .store = meters_.commands.snapshot(),
                              .cache = meters_.cache};
    if (center_) now.center = center_->counts();
    if (gateway_) now.gateway = gateway_->counts();
    return now;
}

std::string service::metrics() const {
    edge::metrics_text page;
    edge::write(page, engine_->counters());
    edge::write(page, meters_.commands.snapshot());
    edge::write(page, meters_.driver);
    if (config_.store.cache.bytes_max > 0) edge::write(page, meters_.cache);
    if (!config_.store.encryption.keys.empty()) edge::write(page, meters_.encryption);
    if (reconciler_) edge::write(page, reconciler_->counts());
    edge::write(page, relays_->metrics());
    edge::write(page, alerts_->counts());
    if (token_source_) edge::write(page, token_source_->counts());
    if (console_ || center_) edge::write(page, security_.counts());
    std::vector<edge::served_counts> listeners;
    if (gateway_) {
        const edge::gateway_counts counts = gateway_->counts();
        edge::write(page, counts);
        listeners.push_back({.listener = "gateway", .counts = counts.server});
    }
    if (center_) {
        edge::write(page, center_->counts());
        listeners.push_back({.listener = "center", .counts = center_server_->counts()});
    }
    edge::write(page, listeners);
    return std::move(page).finish();
}

} // namespace semel::app
