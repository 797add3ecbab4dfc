#include "operations/reconcile_pass.hpp"

#include <algorithm>
#include <atomic>
#include <random>
#include <thread>
#include <utility>

#include "operations/chore_claim.hpp"
#include "semel/base/mutex.hpp"
#include "semel/log.hpp"

namespace semel {
namespace {

const record_id absent{.tenant = "semel", .operation = "ready", .key = "ready"};

duration lapsed_for(const record& it, time_point now) {
    return now - (it.lease_until + it.policy.grace);
}

// Instances that find the same records begin with different ones.
void shuffle(std::vector<found_record>& all) {
    std::mt19937_64 random{std::random_device{}()};
    std::shuffle(all.begin(), all.end(), random);
}

probe_answer ask_safely(const probe& which, const found_record& about) {
    try {
        return which(about);
    } catch (const std::exception& why) {
        return probes::unknown{why.what()};
    } catch (...) {
        return probes::unknown{"the probe threw"};
    }
}

// "1 record of PAY is stuck, for 6 min".
std::string stuck_summary(const std::string& operation, std::uint64_t count, duration oldest) {
    using namespace std::chrono;
    const std::string length =
        oldest < minutes{2} ? std::to_string(duration_cast<seconds>(oldest).count()) + " s"
                            : std::to_string(duration_cast<minutes>(oldest).count()) + " min";
    if (count == 1) return "1 record of " + operation + " is stuck, for " + length;
    return std::to_string(count) + " records of " + operation + " are stuck, the oldest for " +
           length;
}

} // namespace

stuck_duty duty_about(const record& it, const reconcile_rule& rule, time_point now) {
    if (!lapsed(it, now)) return stuck_duty::nothing;
    const duration so_long = lapsed_for(it, now);
    const bool held = it.policy.on_lease_expiry == lease_expiry::hold;
    const bool may_ask = in_doubt(it, now) && !held && static_cast<bool>(rule.probe);
    if (may_ask && so_long >= rule.settle_after) return stuck_duty::ask;
    return so_long >= rule.alert_after ? stuck_duty::tell : stuck_duty::nothing;
}

duration ask_again_after(const reconciler_options& options, std::uint32_t attempt) {
    constexpr std::uint32_t doublings_max = 30;
    const auto doublings = std::min(attempt > 0 ? attempt - 1 : 0, doublings_max);
    duration made = options.ask_again;
    for (std::uint32_t i = 0; i < doublings && made < options.ask_again_max; ++i) made *= 2;
    return std::min(made, options.ask_again_max);
}

result<reconcile_report> reconcile_pass::run() {
    const auto now = store_time();
    if (!now) return now.error();
    now_ = *now;
    const local_time begun = local_clock::now();
    auto found = find_stuck();
    if (!found) return std::move(found).error();
    const duration search_took = local_clock::now() - begun;
    shuffle(*found);
    std::atomic<std::size_t> next = 0;
    const auto work = [&] {
        for (std::size_t at = next++; at < found->size() && !stop_; at = next++) {
            handle((*found)[at]);
        }
    };
    {
        std::vector<std::jthread> helpers;
        const std::size_t useful = std::min(options_.probes_at_once, found->size());
        for (std::size_t i = 1; i < useful; ++i) helpers.emplace_back(work);
        work();
    }
    send_alerts();
    const detail::guard lock{mutex_};
    report_.search_took = search_took;
    return report_;
}

const reconcile_rule& reconcile_pass::rule_of(const record_id& id) const {
    const auto at = options_.operations.find(id.operation);
    return at == options_.operations.end() ? options_.defaults : at->second;
}

// Records that lapsed more recently need no action.
duration reconcile_pass::first_alert() const {
    const auto first = [](const reconcile_rule& rule) {
        return std::min(rule.alert_after, rule.settle_after);
    };
    duration made = first(options_.defaults);
    for (const auto& [name, rule] : options_.operations) made = std::min(made, first(rule));
    return made;
}

result<time_point> reconcile_pass::store_time() {
    auto got = records_.call(absent, commands::lookup{}, options_.now);
    if (!got) return std::move(got).error();
    return got->now;
}

result<std::vector<found_record>> reconcile_pass::find_stuck() {
    std::vector<found_record> all;
    record_query query{.states = {record_state::processing},
                       .stuck_for = first_alert(),
                       .records_max = page_max(result_bodies::left_out),
                       .now = options_.now};
    do {
        auto page = records_.search(query);
        if (!page) return std::move(page).error();
        for (found_record& one : page->records) {
            if (!is_chore(one.id)) all.push_back(std::move(one));
        }
        query.cursor = std::move(page->cursor);
    } while (!query.cursor.empty() && all.size() < options_.records_max && !stop_);
    return all;
}

void reconcile_pass::handle(const found_record& one) {
    const reconcile_rule& rule = rule_of(one.id);
    const stuck_duty duty = duty_about(one.it, rule, now_);
    if (duty == stuck_duty::nothing) return;
    const bool stuck = lapsed_for(one.it, now_) >= rule.alert_after;
    if (stuck) count(&reconcile_report::stuck);
    if (duty == stuck_duty::ask && ask(one, rule) == asked::settled) return;
    if (duty == stuck_duty::tell) count(&reconcile_report::left);
    if (stuck) tell(one);
}

// One instance at a time asks. None asks once the record is settled.
reconcile_pass::asked reconcile_pass::ask(const found_record& one, const reconcile_rule& rule) {
    chore_claim mine{records_, chore_id("ask", one), options_.now};
    const auto taken = mine.take(options_.probe_max);
    if (!taken) return failed(taken.error()), asked::open;
    if (!*taken) return asked::open;
    bool conclusive = false;
    const asked how = judge(one, rule, conclusive);
    const auto ended =
        conclusive ? mine.give_up() : mine.again_after(ask_again_after(options_, mine.attempt()));
    if (!ended) failed(ended.error());
    return how;
}

reconcile_pass::asked reconcile_pass::judge(const found_record& one, const reconcile_rule& rule,
                                            bool& conclusive) {
    // The record may have been settled between the search and the claim.
    auto seen = records_.call(one.id, commands::lookup{}, options_.now);
    if (!seen) return failed(seen.error()), asked::open;
    const auto& current = std::get<answers::found>(seen->said).current;
    if (!current || current->holder != one.it.holder || !lapsed(*current, seen->now)) {
        conclusive = true;
        return asked::settled;
    }
    count(&reconcile_report::asked);
    probe_answer said = ask_safely(rule.probe, one);
    commands::resolve what{.expected_fence = one.it.holder.fence,
                           .retention = rule.retention,
                           .actor = options_.actor,
                           .reason = "probe"};
    if (auto* yes = std::get_if<probes::committed>(&said)) {
        what.verdict = commands::resolve::committed{std::move(yes->result)};
        conclusive = true;
        return store_verdict(one, std::move(what), &reconcile_report::committed);
    }
    if (std::holds_alternative<probes::not_executed>(said)) {
        conclusive = true;
        return store_verdict(one, std::move(what), &reconcile_report::not_executed);
    }
    count(&reconcile_report::unknown);
    if (options_.log) {
        log_info(*options_.log, "the probe does not know yet",
                 {{"operation", one.id.operation},
                  {"key", log_key(one.id.key)},
                  {"why", std::get<probes::unknown>(said).why}});
    }
    return asked::open;
}

reconcile_pass::asked reconcile_pass::store_verdict(const found_record& one, commands::resolve what,
                                                    tally which) {
    const std::string verdict{std::holds_alternative<commands::resolve::committed>(what.verdict)
                                  ? "committed"
                                  : "not_executed"};
    auto got = records_.call(one.id, std::move(what), options_.now);
    // In doubt: the next pass looks again, and the fence keeps a second verdict out.
    if (!got) return failed(got.error()), asked::open;
    if (!std::holds_alternative<answers::resolved>(got->said)) {
        count(&reconcile_report::late);
        return asked::settled;
    }
    count(which);
    if (options_.log) {
        log_info(*options_.log, "settled",
                 {{"operation", one.id.operation},
                  {"key", log_key(one.id.key)},
                  {"verdict", verdict},
                  {"fence", one.it.holder.fence}});
    }
    return asked::settled;
}

// Once for all instances, and again after a day.
void reconcile_pass::tell(const found_record& one) {
    chore_claim mine{records_, chore_id("alert", one), options_.now};
    const auto taken = mine.take(options_.probe_max);
    if (!taken) return failed(taken.error());
    if (!*taken) return;
    const auto ended = mine.done_for(options_.alert_again);
    if (!ended) failed(ended.error());
    count(&reconcile_report::alerted);
    const detail::guard lock{mutex_};
    telling& sum = to_tell_[one.id.operation];
    const duration lapsed = lapsed_for(one.it, now_);
    if (++sum.count > 1 && lapsed <= sum.oldest) return;
    sum.oldest = lapsed;
    sum.of = one.id;
}

void reconcile_pass::send_alerts() {
    std::map<std::string, telling> all;
    {
        const detail::guard lock{mutex_};
        all.swap(to_tell_);
    }
    for (const auto& [operation, sum] : all) {
        const auto minutes = std::chrono::duration_cast<std::chrono::minutes>(sum.oldest).count();
        const alert made{.kind = alert_kind::stuck,
                         .operation = operation,
                         .count = sum.count,
                         .oldest = sum.oldest,
                         .summary = stuck_summary(operation, sum.count, sum.oldest),
                         .tenant = sum.of.tenant,
                         .key = log_key(sum.of.key)};
        if (options_.log) {
            log_warning(
                *options_.log, "records are stuck",
                {{"operation", operation}, {"count", sum.count}, {"oldest_minutes", minutes}});
        }
        if (options_.on_alert) options_.on_alert(made);
    }
}

void reconcile_pass::count(tally which) {
    const detail::guard lock{mutex_};
    ++(report_.*which);
}

void reconcile_pass::failed(const failure& why) {
    count(&reconcile_report::failures);
    if (options_.log) {
        log_warning(*options_.log, "the store did not answer the reconciler",
                    {{"why", describe(why)}});
    }
}

} // namespace semel
