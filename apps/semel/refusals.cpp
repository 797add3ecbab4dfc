#include "refusals.hpp"

#include <utility>

#include "config/token_file.hpp"
#include "edge/server/tls.hpp"
#include "http_probe.hpp"
#include "semel/open.hpp"
#include "semel/outbox/open.hpp"
#include "semel/outbox/sinks.hpp"
#include "store/sealed_box.hpp"
#include "wiring.hpp"

namespace semel::app {
namespace {

using keys = std::initializer_list<std::string_view>;

class judge {
public:
    explicit judge(const config::config& of) : of_(of) {}

    config::complaints all(bool is_sound) {
        check_store();
        check_tokens();
        check_tls();
        for (const config::relay_entry& one : of_.relays) check_relay(one);
        if (is_sound) check_parts();
        return std::move(found_);
    }

private:
    template <class T>
    void look(const config::key_places& where, const std::string& entry, keys about,
              const result<T>& at) {
        if (at || !where.can_judge(about)) return;
        const std::string key{*about.begin()};
        found_.push_back(where.of(about) + ": " + entry + key + ": " + at.error().detail);
    }
    template <class T> void look(keys about, const result<T>& at) {
        look(of_.where, "", about, at);
    }

    void check_store() {
        const config::store_section& store = of_.store;
        if (store.url.text.empty()) return; // said already
        const auto url = check_url(store.url.text, store.options);
        store_is_sound_ = url.has_value();
        look({"store.url", "store.table_prefix"}, url);
        if (url && !store.front.text.empty()) {
            look({"store.front"}, check_url(store_url_of(store), store.options));
        }
        const auto& keys = store.encryption.keys;
        if (!keys.empty()) look({"store.encryption_keys"}, sealed_box::check(keys));
    }

    void check_tokens() {
        if (of_.tenants.tokens.empty()) return;
        const auto file = config::read_tokens(of_.tenants.tokens);
        look({"tenants.tokens"}, file);
        if (file) look({"tenants.tokens"}, config::to_table(file->lines));
    }

    void check_tls() {
        const edge::tls_server_options& tls = of_.server.tls;
        if (!tls.certificate_file.empty() && !tls.key_file.empty()) {
            look({"server.tls_certificate", "server.tls_key", "server.tls_client_ca"},
                 edge::make_server_tls(tls));
        }
        if (!of_.gateway.options.ca_file.empty()) {
            look({"gateway.tls_ca"}, edge::make_client_tls(of_.gateway.options.ca_file));
        }
    }

    void check_relay(const config::relay_entry& one) {
        const bool own = one.store.text.empty();
        const std::string& url = own ? of_.store.url.text : one.store.text;
        if (!own || store_is_sound_) {
            look(one.where, "relay.", {"store"},
                 outbox::check_table_url(url, outbox_options_of(of_, one)));
        }
        if (one.sink.text.empty()) return; // said already
        look(one.where, "relay.", {"sink"}, outbox::check_sink(one.sink.text));
    }

    // What each part says of its own options. Only of a sound configuration can they be made.
    void check_parts() {
        if (!of_.gateway.upstream.empty()) {
            for (const config::route_entry& one : of_.routes) {
                config::config alone = of_;
                alone.routes = {one};
                look(one.where, "route.", {"probe", "path"}, check_gateway(alone));
            }
            if (found_.empty()) look({"gateway.upstream", "tenants.source"}, check_gateway(of_));
        }
        for (const config::relay_entry& one : of_.relays) {
            look(one.where, "relay.", {"lease"}, outbox::check(one.options));
        }
        if (of_.center.enabled) {
            look({"center.listen"}, check(server_options_of(of_, nullptr, of_.center.listen)));
        }
        if (!of_.server.admin_listen.empty()) {
            look({"server.admin_listen"}, check(admin_options_of(of_, nullptr)));
        }
        if (found_.empty()) look({"reconcile.enabled"}, reconciler_options_of(of_));
    }

    static result<void> check_gateway(const config::config& of) {
        const auto none = std::make_shared<config::live_tokens>();
        return check(gateway_options_of(of, nullptr, tenants_of(of.tenants, none)));
    }

    const config::config& of_;
    bool store_is_sound_ = false;
    config::complaints found_;
};

} // namespace

config::complaints refusals(const config::config& of, bool is_sound) {
    return judge{of}.all(is_sound);
}

} // namespace semel::app
