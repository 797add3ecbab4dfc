#include "edge/admin/metrics.hpp"

#include <functional>
#include <map>
#include <set>
#include <string_view>

#include "semel/base/result.hpp"
#include "semel/core/command.hpp"

namespace semel::edge {
namespace {

struct simple {
    std::string_view name;
    std::string_view help;
    std::uint64_t number;
};

void counters(metrics_text& to, std::initializer_list<simple> all) {
    for (const simple& one : all) {
        to.counter(one.name, one.help);
        to.value(one.number);
    }
}

void gauges(metrics_text& to, std::initializer_list<simple> all) {
    for (const simple& one : all) {
        to.gauge(one.name, one.help);
        to.value(one.number);
    }
}

// Counters begin at zero: a series that appears with its first failure shows no increase, and the
// alert on it misses the first burst.
template <class Write> void for_each_command(const store_snapshot& from, Write write_one) {
    for (std::size_t at = 0; at < from.commands.size(); ++at) {
        write_one(command_name(at), from.commands[at]);
    }
}

// What a command can be answered with.
bool is_answer_of(std::string_view answer, std::string_view command) {
    using names = std::set<std::string_view>;
    static const std::map<std::string_view, names> all{
        {"begin", {"started", "replay", "in_progress", "mismatch", "failed", "in_doubt"}},
        {"complete", {"stored", "fenced_off"}},
        {"fail", {"stored", "fenced_off"}},
        {"release", {"stored", "fenced_off"}},
        {"abandon", {"stored", "fenced_off"}},
        {"renew", {"renewed", "not_renewed", "fenced_off"}},
        {"checkpoint", {"stored", "over_limit", "fenced_off"}},
        {"resolve", {"resolved", "in_progress", "fenced_off"}},
        {"remove", {"removed", "kept"}},
        {"purge", {"removed", "kept"}},
        {"lookup", {"found"}}};
    const auto of = all.find(command);
    return of != all.end() && of->second.contains(answer);
}

} // namespace

void write(metrics_text& to, const engine_counters& from) {
    to.counter("engine_outcomes_total", "Requests by what came of them.");
    const std::initializer_list<std::pair<std::string_view, std::uint64_t>> outcomes = {
        {"executed", from.executed},       {"replayed", from.replayed},
        {"in_progress", from.in_progress}, {"mismatch", from.mismatched},
        {"failed", from.failed},           {"in_doubt", from.in_doubt},
        {"unconfirmed", from.unconfirmed}, {"unavailable", from.unavailable}};
    for (const auto& [name, number] : outcomes) to.value(number, {{"outcome", name}});
    counters(
        to,
        {{"engine_lost_leases_total", "Renewals refused or unanswered in time.", from.lost_leases},
         {"engine_fenced_completions_total", "Results dropped for the winner's.",
          from.fenced_completions},
         {"engine_lost_completions_total", "Completions that were given up.",
          from.lost_completions},
         {"engine_tombstones_total", "Effects whose result was not kept.", from.tombstones},
         {"engine_waiters_refused_total", "Repeats that could not wait.", from.waiters_refused},
         {"engine_executions_refused_total", "Requests over executions_max.",
          from.executions_refused},
         {"engine_orphans_released_total", "Claims of unanswered begins that were given back.",
          from.orphans_released},
         {"engine_orphans_left_total", "Claims of unanswered begins that were left to their lease.",
          from.orphans_left},
         {"engine_callbacks_threw_total", "Exceptions of callbacks, which were dropped.",
          from.callbacks_threw},
         {"engine_swept_total", "Records removed by the sweeper.", from.swept}});
    gauges(to,
           {{"engine_running", "Requests under way.", from.running},
            {"engine_waiting", "Repeats that wait for a result.", from.waiting},
            {"engine_orphans", "Claims of unanswered begins that are looked for.", from.orphans}});
}

void write(metrics_text& to, const store_snapshot& from) {
    to.counter("store_commands_total", "Questions to the store.");
    for_each_command(from, [&](std::string_view name, const command_snapshot& one) {
        to.value(one.calls, {{"command", name}});
    });
    to.gauge("store_in_flight", "Questions that have no answer yet.");
    for_each_command(from, [&](std::string_view name, const command_snapshot& one) {
        to.value(one.in_flight, {{"command", name}});
    });
    to.counter("store_answers_total", "Its answers.");
    for_each_command(from, [&](std::string_view name, const command_snapshot& one) {
        for (std::size_t at = 0; at < one.answers.size(); ++at) {
            if (one.answers[at] == 0 && !is_answer_of(answer_name(at), name)) continue;
            to.value(one.answers[at], {{"command", name}, {"answer", answer_name(at)}});
        }
    });
    to.counter("store_failures_total", "Questions it could not answer.");
    for_each_command(from, [&](std::string_view name, const command_snapshot& one) {
        for (std::size_t at = 0; at < one.failures.size(); ++at) {
            to.value(one.failures[at],
                     {{"command", name}, {"code", semel::name(static_cast<errc>(at))}});
        }
    });
    to.counter("store_in_doubt_total", "Failures that may have been applied.");
    for_each_command(from, [&](std::string_view name, const command_snapshot& one) {
        to.value(one.in_doubt, {{"command", name}});
    });
    to.histogram("store_latency_seconds", "From question to answer.");
    for_each_command(from, [&](std::string_view name, const command_snapshot& one) {
        // Many lines each, and nothing that an alert could miss.
        if (one.calls > 0) to.value(one.latency, {{"command", name}});
    });
    counters(to, {{"store_sweeps_total", "Sweeps.", from.sweeps},
                  {"store_sweep_failures_total", "Sweeps that failed.", from.sweep_failures},
                  {"store_swept_total", "Records they removed.", from.swept}});
}

void write(metrics_text& to, const store_counters& from) {
    counters(to, {{"store_round_trips_total", "Round trips of the driver.", from.round_trips},
                  {"store_commits_total", "Its commits.", from.commits},
                  {"store_record_writes_total", "Records it wrote.", from.record_writes},
                  {"store_refused_total", "Questions refused by a full queue.", from.refused}});
    gauges(to, {{"store_queued", "Questions that wait for a batch.", from.queued}});
    to.histogram("store_batch_commands", "Commands in one batch.");
    to.value(from.batch_sizes.snapshot(), from.batch_commands);
}

void write(metrics_text& to, const cache_counters& from) {
    counters(to, {{"cache_hits_total", "Repeats answered without the store.", from.hits},
                  {"cache_misses_total", "Repeats that went to the store.", from.misses},
                  {"cache_fills_total", "Results taken in.", from.fills},
                  {"cache_evictions_total", "Results put out for room.", from.evictions}});
    gauges(to, {{"cache_bytes", "Held now.", from.bytes},
                {"cache_entries", "Held now.", from.entries}});
}

void write(metrics_text& to, const encryption_counters& from) {
    counters(to, {{"encryption_unreadable_total", "Results and checkpoints that no key opens.",
                   from.unreadable.get()}});
}

void write(metrics_text& to, const gateway_counts& from) {
    to.counter("gateway_requests_total", "Requests by what was done with them.");
    const std::initializer_list<std::pair<std::string_view, std::uint64_t>> kinds = {
        {"passed", from.passed},
        {"guarded", from.guarded},
        {"refused", from.refused},
        {"bypassed", from.bypassed}};
    for (const auto& [name, number] : kinds) to.value(number, {{"kind", name}});
    counters(to, {{"gateway_unsent_total", "Guarded; no byte reached the upstream.", from.unsent},
                  {"gateway_unanswered_total", "Guarded; outcome unknown.", from.unanswered},
                  {"gateway_probes_total", "Questions about requests in doubt.", from.probes},
                  {"gateway_resolved_total", "Of these, answered.", from.resolved},
                  {"gateway_connects_total", "Connections to the upstream.", from.connects}});
    gauges(to, {{"gateway_under_way", "Guarded requests now.", from.under_way}});
}

void write(metrics_text& to, const center_counts& from) {
    counters(
        to,
        {{"center_requests_total", "Requests.", from.requests},
         {"center_refused_total", "Malformed, or not allowed.", from.refused},
         {"center_commands_total", "Commands, each item of a batch.", from.commands},
         {"center_started_total", "Begins that were granted.", from.started},
         {"center_replayed_total", "Begins answered from the record.", from.replayed},
         {"center_fenced_total", "Commands of attempts that had lost their record.", from.fenced},
         {"center_unavailable_total", "Commands the store did not answer.", from.unavailable},
         {"center_waiters_refused_total", "Begins that could not wait.", from.waiters_refused}});
    gauges(to, {{"center_waiting", "Begins that wait.", from.waiting}});
}

void write(metrics_text& to, const std::vector<outbox::relay_metrics>& from) {
    using values = outbox::relay_metrics;
    if (from.empty()) return;
    const auto each = [&](auto pick) {
        for (std::size_t at = 0; at < from.size(); ++at) {
            to.value(std::invoke(pick, from[at]), {{"relay", std::to_string(at + 1)}});
        }
    };
    const auto counter = [&](std::string_view name, std::string_view help,
                             semel::counter values::*pick) {
        to.counter(name, help);
        each(pick);
    };
    const auto gauge = [&](std::string_view name, std::string_view help,
                           semel::counter values::*pick) {
        to.gauge(name, help);
        each(pick);
    };
    gauge("outbox_backlog", "Events that wait, as far as they are counted.", &values::backlog);
    gauge("outbox_lag_seconds", "Age of the oldest event that waits.", &values::oldest_seconds);
    gauge("outbox_dead_letters", "Events that were given up.", &values::dead_letters);
    counter("outbox_claims_total", "Round trips that asked for events.", &values::claims);
    counter("outbox_claimed_total", "Events claimed.", &values::claimed);
    counter("outbox_delivered_total", "Events the sink has confirmed.", &values::delivered);
    counter("outbox_acked_total", "Events removed after that.", &values::acked);
    counter("outbox_repeats_total", "Deliveries of events that were tried before.",
            &values::repeats);
    counter("outbox_retried_total", "Events to be tried later.", &values::retried);
    counter("outbox_dead_total", "Events that became dead letters.", &values::dead);
    counter("outbox_returned_total", "Events given back untried.", &values::returned);
    counter("outbox_lost_leases_total", "Claims and shards lost to others.", &values::lost);
    counter("outbox_mismatched_total", "Claims that were not what was selected.",
            &values::mismatched);
    counter("outbox_failures_total", "Questions the database could not answer.", &values::failures);
    to.histogram("outbox_delivery_seconds", "How long the sink took for a batch.");
    each([](const values& one) { return one.delivery.snapshot(); });
    to.histogram("outbox_transit_seconds", "From an event's creation to its delivery.");
    each([](const values& one) { return one.transit.snapshot(); });
}

void write(metrics_text& to, const reconcile_counts& from) {
    const reconcile_report& sum = from.sum;
    gauges(to,
           {{"reconciler_stuck", "Records past alert_after at the last look.", from.stuck_now}});
    counters(to,
             {{"reconciler_passes_total", "Looks.", from.passes},
              {"reconciler_asked_total", "Questions to probes.", sum.asked},
              {"reconciler_late_total", "Answers about records that had been settled meanwhile.",
               sum.late},
              {"reconciler_alerted_total", "Records for which an alert went out.", sum.alerted},
              {"reconciler_failures_total", "Questions the store did not answer.", sum.failures}});
    to.counter("reconciler_verdicts_total", "Answers of probes.");
    const std::initializer_list<std::pair<std::string_view, std::uint64_t>> verdicts = {
        {"committed", sum.committed}, {"not_executed", sum.not_executed}, {"unknown", sum.unknown}};
    for (const auto& [name, number] : verdicts) to.value(number, {{"verdict", name}});
}

void write(metrics_text& to, const alert_counts& from) {
    counters(to, {{"alerts_raised_total", "Alerts that began or were over.", from.raised},
                  {"alerts_sent_total", "Alerts the webhook took.", from.sent},
                  {"alerts_send_failed_total", "Alerts it did not.", from.send_failed}});
}

void write(metrics_text& to, const token_counts& from) {
    to.counter("tokens_read_total", "Times the file of tokens was read.");
    to.value(from.read, {{"outcome", "ok"}});
    to.value(from.not_read, {{"outcome", "failed"}});
    gauges(to, {{"tokens", "Tokens in effect.", from.in_effect}});
}

void write(metrics_text& to, const security_counts& from) {
    to.counter("security_events_total", "Sign-ins, and tokens and requests that were refused.");
    for (std::size_t i = 0; i < from.seen.size(); ++i) {
        const auto kind = static_cast<security_event::kind>(i);
        to.value(from.seen.at(i), {{"event", name(kind)}});
    }
    counters(to, {{"security_events_unlogged_total", "Of them, without a line in the log.",
                   from.unlogged}});
}

void write(metrics_text& to, const std::vector<served_counts>& from) {
    struct family {
        std::string_view name, help;
        std::uint64_t server_counts::*number;
    };
    const auto each = [&](const family& about) {
        for (const served_counts& one : from) {
            to.value(one.counts.*about.number, {{"listener", one.listener}});
        }
    };
    for (const family& about : std::initializer_list<family>{
             {"server_accepted_total", "Connections.", &server_counts::accepted},
             {"server_refused_total", "Connections over the limit.", &server_counts::refused},
             {"server_requests_total", "Requests.", &server_counts::requests},
             {"server_malformed_total", "Requests that were malformed.", &server_counts::malformed},
             {"server_timed_out_total", "Clients that were too slow.", &server_counts::timed_out},
             {"server_overloaded_total", "Requests there was no room for.",
              &server_counts::overloaded}}) {
        to.counter(about.name, about.help);
        each(about);
    }
    to.gauge("server_connections", "Connections now.");
    each({"", "", &server_counts::open});
    to.gauge("server_buffered_bytes", "Of bodies that are held.");
    each({"", "", &server_counts::buffered});
}

} // namespace semel::edge
