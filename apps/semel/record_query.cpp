#include "record_query.hpp"

#include "choices.hpp"
#include "commands.hpp"
#include "duration_text.hpp"
#include "opened.hpp"
#include "semel/core/record_machine.hpp"

namespace semel::app {
namespace {

std::vector<record_state> states_of(const std::string& text) {
    if (text.empty()) return {};
    if (text == "processing" || text == "lapsed" || text == "in-doubt") {
        return {record_state::processing};
    }
    if (text == "succeeded") return {record_state::succeeded};
    if (text == "failed") return {record_state::failed_retryable, record_state::failed_final};
    throw usage_error("--state: \"" + text +
                      "\" is none of processing, lapsed, in-doubt, succeeded, failed");
}

} // namespace

void add_query_options(CLI::App& command, query_arguments& with) {
    const std::string group = "Which";
    command.add_option("--tenant", with.tenant)->group(group);
    command.add_option("--operation", with.operation)->group(group);
    auto* const key = command.add_option("--key", with.key)->group(group);
    command
        .add_option("--key-prefix", with.key_prefix,
                    "keys that begin so; all records that fit the rest are read")
        ->excludes(key)
        ->group(group);
    one_of(command.add_option("--state", with.state,
                              "lapsed: processing, past the lease; in-doubt: of these, the ones "
                              "that wait for a verdict"),
           {"processing", "lapsed", "in-doubt", "succeeded", "failed"})
        ->group(group);
    command.add_option("--ref", with.ref, "the reference of their result")->group(group);
    command.add_option("--lapsed-for", with.lapsed_for, "past their lease by this much")
        ->type_name("TIME")
        ->group(group);
    command.add_option("--older", with.older, "created so long ago, or longer")
        ->type_name("TIME")
        ->group(group);
    command.add_option("--newer", with.newer, "created since then")
        ->type_name("TIME")
        ->group(group);
}

record_choice choice_of(const query_arguments& with, time_point now) {
    record_choice choice{.query = {.states = states_of(with.state)},
                         .key_prefix = with.key_prefix,
                         .in_doubt_only = with.state == "in-doubt",
                         .now = now};
    record_query& made = choice.query;
    if (!with.tenant.empty()) made.tenant = with.tenant;
    if (!with.operation.empty()) made.operation = with.operation;
    if (!with.key.empty()) made.key = with.key;
    if (!with.ref.empty()) made.result_ref = with.ref;
    const bool lapsed_only = with.state == "lapsed" || choice.in_doubt_only;
    if (lapsed_only) made.stuck_for = duration::zero();
    if (!with.lapsed_for.empty()) made.stuck_for = parse_duration("--lapsed-for", with.lapsed_for);
    if (!with.older.empty()) made.created_until = now - parse_duration("--older", with.older);
    if (!with.newer.empty()) made.created_from = now - parse_duration("--newer", with.newer);
    return choice;
}

bool record_choice::takes(const found_record& one) const {
    return one.id.key.starts_with(key_prefix) && (!in_doubt_only || in_doubt(one.it, now));
}

void for_each_page(store& records, record_choice which,
                   const std::function<bool(const record_page&)>& take) {
    do {
        record_page page = opened(records.search(which.query));
        std::erase_if(page.records, [&](const found_record& one) { return !which.takes(one); });
        if (!take(page)) return;
        which.query.cursor = page.cursor;
    } while (!which.query.cursor.empty());
}

void add_id_options(CLI::App& command, id_arguments& with) {
    command.add_option("tenant", with.tenant)->required();
    command.add_option("operation", with.operation)->required();
    command.add_option("key", with.key)->required();
}

} // namespace semel::app
