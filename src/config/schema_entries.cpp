#include "config/schema.hpp"

#include <utility>

#include "net/in_folder.hpp"

namespace semel::config {
namespace {

using http::route;

void append(fields& to, fields&& more) {
    for (auto& one : more) to.push_back(std::move(one));
}

// A wait of nothing is an answer at once.
field wait_field(key about, operation_policy& to) {
    field made = duration_field(std::move(about), to.wait_max, zero::allowed);
    made.take = [&to, read = made.take](const value& from, const surroundings& around) {
        auto wrong = read(from, around);
        to.wait = to.wait_max == duration::zero() ? wait_mode::answer : wait_mode::wait;
        return wrong;
    };
    return made;
}

// "file:" names a sink here, not where a secret is.
field sink_field(key about, secret& to) {
    field made = url_field(std::move(about), to);
    made.take = [&to, read = made.take](const value& from, const surroundings& around) {
        const auto got = detail::one_text(from);
        const auto* text = std::get_if<std::string>(&got);
        if (text == nullptr || !text->starts_with("file:")) return read(from, around);
        to.written = to.text = net::url_in_folder(*text, around.folder);
        return complaint{};
    };
    return made;
}

fields policy_fields(operation_policy& to) {
    return {
        duration_field({"lease", "how long an owner may work before others may act"}, to.lease),
        duration_field({"retention", "how long a finished record answers repeats"}, to.retention),
        duration_field({"failure_retention", "the same of a failure"}, to.failure_retention),
        wait_field({"wait", "how long a repeat waits for a request in progress; \"0s\": it is "
                            "told at once"},
                   to),
        choice_field<lease_expiry>({"on_lease_expiry", "what becomes of work whose lease lapsed: "
                                                       "run again, held for an operator, or the "
                                                       "service is asked"},
                                   to.on_lease_expiry,
                                   {{"retry", lease_expiry::retry},
                                    {"hold", lease_expiry::hold},
                                    {"probe", lease_expiry::probe}}),
        choice_field<on_mismatch>(
            {"on_mismatch", "another request under the same key"}, to.mismatch,
            {{"refuse", on_mismatch::refuse}, {"overwrite", on_mismatch::overwrite}}),
        count_field({"attempts_max", "how often the work may begin"}, to.attempts_max),
        duration_field({"processing_max", "how long renewals keep one attempt alive"},
                       to.processing_max),
        size_field({"result_bytes_max", "of a stored result, within limits.result_bytes_max"},
                   to.result_bytes_max),
    };
}

// "404 keep": statuses, a blank, what becomes of them.
complaint read_statuses(const std::vector<std::string>& written,
                        std::vector<http::status_rule>& to) {
    to.clear();
    for (const std::string& one : written) {
        const auto blank = one.find(' ');
        const auto becomes = blank == std::string::npos
                                 ? std::nullopt
                                 : http::disposition_named(one.substr(blank + 1));
        const auto rule = becomes ? http::parse_status_rule(one.substr(0, blank), *becomes)
                                  : result<http::status_rule>{failure{errc::invalid_argument}};
        if (!rule) {
            return "'" + one +
                   R"(' must be statuses and what becomes of them, such as "404 keep", )"
                   R"("5xx retry" or "500-503 unknown" (keep, reject, retry, release, )"
                   "unknown)";
        }
        to.push_back(*rule);
    }
    return std::nullopt;
}

// Reads the list as written, then what it stands for.
template <class Then> field texts_then(key about, std::vector<std::string>& to, Then then) {
    field made = texts_field(std::move(about), to);
    made.take = [texts = made.take, then = std::move(then)](
                    const value& from, const surroundings& around) -> complaint {
        if (auto wrong = texts(from, around)) return wrong;
        return then();
    };
    return made;
}

complaint read_selection(route_entry& to) {
    auto made =
        json_selection::parse({.select = to.fingerprint_select, .ignore = to.fingerprint_ignore});
    if (!made) return made.error().detail;
    return to.route.content.json = *std::move(made), std::nullopt;
}

// One word, or a list of names.
field principal_field(key about, std::vector<std::string>& to) {
    field made = texts_field(std::move(about), to);
    made.type = "\"shared\" or list of texts";
    made.take = [&to, texts = made.take](const value& from,
                                         const surroundings& around) -> complaint {
        const auto* word = std::get_if<std::string>(&from.is);
        if (word == nullptr) return texts(from, around);
        if (*word != "shared") return R"(must be "shared" or a list, such as ["Authorization"])";
        return to = {*word}, std::nullopt;
    };
    made.shown = [&to] {
        const bool word = to.size() == 1 && to[0] == "shared";
        return word ? detail::quoted(to[0]) : detail::listed(to);
    };
    return made;
}

fields key_fields(route& to) {
    return {
        choice_field<http::key_need>({"key", "what a request without a key gets: it passes "
                                             "unprotected, 400, or a key made from its content"},
                                     to.need,
                                     {{"optional", http::key_need::optional},
                                      {"required", http::key_need::required},
                                      {"derived", http::key_need::derived}}),
        texts_field({"key_headers", "headers that may carry the key"}, to.keys.headers),
        choice_field<http::key_form>(
            {"key_form", "whether a key may come without quotes"}, to.keys.form,
            {{"lenient", http::key_form::lenient}, {"strict", http::key_form::strict}}),
        count_field({"key_bytes_min", "of a key"}, to.keys.bytes_min),
        choice_field<http::key_forwarding>({"forward", "the key that the upstream gets"},
                                           to.forward,
                                           {{"same", http::key_forwarding::same},
                                            {"record", http::key_forwarding::record},
                                            {"child", http::key_forwarding::child},
                                            {"none", http::key_forwarding::none}}),
        principal_field({"principal", "whose answer it is, within the tenant: headers or single "
                                      "cookies, as in [\"Authorization\", \"Cookie:session\"]; or "
                                      "\"shared\": the tenant's clients may have each other's; see "
                                      "[HTTP](http.md#whose-answer-it-is)"},
                        to.principal),
        choice_field<http::no_principal>(
            {"principal_missing", "a request without any of them: "
                                  "401, or all such are of one "
                                  "principal"},
            to.without_principal,
            {{"refuse", http::no_principal::refuse}, {"anonymous", http::no_principal::anonymous}}),
    };
}

fields response_fields(route_entry& to) {
    return {
        choice_field<http::profile>({"profile", "which answers are kept; see [HTTP](http.md)"},
                                    to.route.responses,
                                    {{"2xx", http::profile::only_2xx},
                                     {"ietf", http::profile::ietf},
                                     {"stripe-v1", http::profile::stripe_v1},
                                     {"stripe-v2", http::profile::stripe_v2}}),
        texts_then({"statuses", "rules before the profile's, such as \"404 keep\""}, to.statuses,
                   [&to] { return read_statuses(to.statuses, to.route.statuses); }),
        texts_field({"replay_headers", "headers that are kept beside the usual ones"},
                    to.route.replay.headers),
        choice_field<http::store_outage>(
            {"on_outage", "what happens while the store cannot be "
                          "asked: 503, or executed unprotected"},
            to.route.outage,
            {{"refuse", http::store_outage::refuse}, {"pass", http::store_outage::pass}}),
    };
}

fields content_fields(route_entry& to) {
    using host_counts = http::content_options::host_counts;
    return {
        texts_then({"fingerprint_select", "JSON pointers: only these parts of a body count"},
                   to.fingerprint_select, [&to] { return read_selection(to); }),
        texts_then({"fingerprint_ignore", "JSON pointers: these do not count"},
                   to.fingerprint_ignore, [&to] { return read_selection(to); }),
        texts_field({"fingerprint_headers", "headers that count"}, to.route.content.headers),
        choice_field<host_counts>({"fingerprint_host", "whether the same request to another host "
                                                       "is another request"},
                                  to.route.content.host,
                                  {{"yes", host_counts::yes}, {"no", host_counts::no}}),
        size_field({"body_bytes_max", "of a request"}, to.route.body_bytes_max),
        duration_field({"wait_limit", "the longest `Prefer: wait`; \"0s\": not honoured"},
                       to.route.wait_limit, zero::allowed),
        text_field({"probe",
                    "path of the upstream that is asked what became of work whose lease lapsed, "
                    "where on_lease_expiry is \"probe\""},
                   to.probe),
    };
}

} // namespace

namespace {

fields time_fields(reconcile_times& to) {
    return {
        duration_field({"alert_after", "past the lease: an alert goes out; \"0s\": as "
                                       "[reconcile] says"},
                       to.alert_after, zero::allowed),
        duration_field({"settle_after", "past the lease: the service is asked; \"0s\": as "
                                        "[reconcile] says"},
                       to.settle_after, zero::allowed),
    };
}

} // namespace

fields fields_of(route_entry& of) {
    fields made = {
        text_field({"operation", "name of the operation, of one route only; must be given"},
                   of.route.operation),
        text_field({"path", "segments between slashes: text, `*` or `{name}` for any one, `**` "
                            "last for any rest"},
                   of.route.path),
        texts_field({"methods", "that are protected"}, of.route.methods),
    };
    append(made, key_fields(of.route));
    append(made, response_fields(of));
    append(made, content_fields(of));
    append(made, policy_fields(of.route.policy));
    append(made, time_fields(of.times));
    return made;
}

fields fields_of(operation_entry& of) {
    fields made = {text_field({"name", "of the operation; must be given"}, of.name)};
    append(made, policy_fields(of.policy));
    made.push_back(text_field({"probe", "URL that is asked what became of work whose lease lapsed, "
                                        "where on_lease_expiry is \"probe\"; empty: an operator "
                                        "decides"},
                              of.probe));
    append(made, time_fields(of.times));
    return made;
}

fields fields_of(relay_entry& of) {
    using outbox::key_policy;
    using outbox::relay_mode;
    outbox::relay_options& to = of.options;
    return {
        url_field({"store", "where the outbox is; empty: store.url"}, of.store),
        sink_field({"sink", "where events go: http(s)://, redis(s)://, nats://, file: or stdout:; "
                            "must be given"},
                   of.sink),
        choice_field<relay_mode>(
            {"mode", "as it suits, or one by one per message key"}, to.mode,
            {{"parallel", relay_mode::parallel}, {"ordered", relay_mode::ordered}}),
        choice_field<key_policy>(
            {"on_failure", "ordered: what becomes of a key whose event "
                           "cannot be delivered"},
            to.on_failure,
            {{"block", key_policy::block}, {"skip", key_policy::skip}, {"park", key_policy::park}}),
        count_field({"attempts_max", "then it is a dead letter"}, to.retry.attempts_max),
        duration_field({"retry_first", "after a failure; doubles each time"}, to.retry.first),
        duration_field({"retry_last", "the longest"}, to.retry.last),
        count_field({"workers", "connections to the outbox, each with a sink of its own"},
                    to.workers),
        count_field({"batch", "events of one claim"}, to.batch),
        count_field({"sink_batch", "events the sink gets at once"}, to.sink_batch),
        duration_field({"lease", "how long a claim holds; renewed while the sink works"}, to.lease),
        duration_field({"poll", "longest pause between looks at an empty table"}, to.poll_last),
        flag_field({"archive", "keep what was delivered in the archive table"}, of.ack,
                   outbox::on_ack::remove, outbox::on_ack::archive),
    };
}

} // namespace semel::config
