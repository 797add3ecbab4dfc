#include "records_acts.hpp"

#include <cstdlib>
#include <iostream>
#include <memory>
#include <optional>

#include "choices.hpp"
#include "commands.hpp"
#include "confirm.hpp"
#include "core/chore.hpp"
#include "duration_text.hpp"
#include "edge/console/resolution.hpp"
#include "http/result_form.hpp"
#include "input.hpp"
#include "opened.hpp"
#include "record_query.hpp"
#include "record_text.hpp"
#include "semel/core/record_machine.hpp"
#include "store_arguments.hpp"
#include "wiring.hpp"

namespace semel::app {
namespace {

struct act_arguments {
    store_arguments store = {};
    id_arguments which = {};
    std::string reason = {};
    std::string actor = {};
    bool yes = false;
    bool json = false;

    [[nodiscard]] consent how() const { return yes ? consent::given : consent::ask; }
};

struct resolve_arguments : act_arguments {
    std::string as = {};
    std::string body = {}, body_file = {};
    std::string kind = {};
    std::string type = {};
    std::string ref = {};
    std::optional<int> status = {};
    std::string error = "settled by an operator";
    std::string retention = {};
    std::uint64_t fence = 0; // 0: the record's own
    bool correct = false;
};

std::string actor_of(const act_arguments& with) {
    if (!with.actor.empty()) return with.actor;
    const char* const user = std::getenv("USER");
    return user != nullptr && *user != '\0' ? user : "operator";
}

std::string about(const record_id& id) {
    return printable(id.tenant) + " " + printable(id.operation) + " " + printable(id.key);
}

void report(const act_arguments& with, const std::string& outcome, const std::string& text) {
    if (with.json) {
        std::cout << nlohmann::ordered_json{{"outcome", outcome}}.dump() << '\n';
    } else {
        std::cout << text << '\n';
    }
}

[[noreturn]] void refuse(const act_arguments& with, const std::string& outcome,
                         const std::string& why) {
    if (with.json) std::cout << nlohmann::ordered_json{{"outcome", outcome}}.dump() << '\n';
    std::cerr << "semel: " << why << '\n';
    throw CLI::RuntimeError{1};
}

// What the configuration says of the operation; none where it does not name it.
std::optional<edge::console_operation> operation_in(const config::config& from,
                                                    const resolve_arguments& with) {
    if (!with.store.stores.empty()) return std::nullopt;
    const auto all = console_operations_of(from);
    const auto found = all.find(with.which.operation);
    return found == all.end() ? std::nullopt : std::optional{found->second};
}

stored_result result_of(const resolve_arguments& with, http::result_form form, const limits& most) {
    const std::string body = with.body_file.empty() ? with.body : read_file(with.body_file);
    const std::string usual = body.empty() ? "" : "application/json";
    http::result_draft draft{.status = with.status,
                             .body = body,
                             .type = with.type.empty() ? usual : with.type,
                             .ref = with.ref};
    if (with.kind == "rejection") draft.kind = result_kind::rejection;
    const bool said = with.status || !with.kind.empty();
    if (form == http::result_form::unknown && !said) {
        throw usage_error("say what the clients of \"" + printable(with.which.operation) +
                          "\" read: --status N (an HTTP answer), or --kind value or rejection; "
                          "or name the file that knows it by --config");
    }
    auto made = http::to_result(draft, form, most);
    if (auto* fine = std::get_if<stored_result>(&made)) return std::move(*fine);
    const auto& [about, why] = std::get<http::draft_fault>(made);
    const std::string what = about == "result" ? "the answer" : "--" + std::string{about};
    throw usage_error(what + " " + why);
}

duration retention_of(const resolve_arguments& with,
                      const std::optional<edge::console_operation>& about) {
    if (!with.retention.empty()) return parse_duration("--retention", with.retention);
    if (!about) return std::chrono::hours{24};
    return with.as == "committed" ? about->retention : about->failure_retention;
}

commands::resolve verdict_of(const resolve_arguments& with, const config::config& from) {
    const auto about = operation_in(from, with);
    if (with.reason.empty() || with.reason.size() > edge::reason_bytes_max) {
        throw usage_error("--reason: must have 1 to 1000 bytes");
    }
    commands::resolve made{
        .retention = retention_of(with, about), .actor = actor_of(with), .reason = with.reason};
    if (with.as == "committed") {
        made.verdict = commands::resolve::committed{
            result_of(with, about ? about->holds : http::result_form::unknown, from.limits)};
    } else if (with.as == "failed") {
        if (with.error.empty() || with.error.size() > from.limits.error_bytes_max) {
            throw usage_error("--error: must have 1 to " +
                              std::to_string(from.limits.error_bytes_max) + " bytes");
        }
        made.verdict = commands::resolve::failed{with.error};
    } else if (with.as != "not-executed") {
        throw usage_error("--as: \"" + with.as + "\" is none of committed, not-executed, failed");
    }
    return made;
}

// A verdict is changed only by those who know that there is one.
void check_what_is_there(const resolve_arguments& with, const record& it) {
    const bool over = it.state != record_state::processing;
    const std::string state{name(it.state)};
    if (over && !ended_by_verdict(it)) {
        refuse(with, "fenced_off", "it has ended by itself (" + state + "): nothing is in doubt");
    }
    if (over && !with.correct) {
        refuse(with, "fenced_off",
               "it has been settled before (" + state + "): --correct changes the verdict");
    }
    if (!over && with.correct) {
        refuse(with, "fenced_off", "there is no verdict to correct: it is " + state);
    }
}

void refuse_chore(const record_id& id) {
    if (is_chore(id)) throw usage_error(std::string{chore_advice});
}

void resolve(const resolve_arguments& with) {
    refuse_chore(with.which.id());
    const auto on = open_records(with.store);
    commands::resolve what = verdict_of(with, on->config);
    const record_id id = with.which.id();
    const reply seen = opened(on->records->call(id, commands::lookup{}));
    const auto& current = std::get<answers::found>(seen.said).current;
    if (!current) refuse(with, "absent", "there is no such record");
    check_what_is_there(with, *current);
    what.expected_fence = with.fence != 0 ? with.fence : current->holder.fence;
    confirm((with.correct ? "Change the verdict on " : "Settle ") + about(id) +
                (with.correct ? " to " : " as ") + with.as + "?",
            with.how());
    const reply got = opened(on->records->call(id, std::move(what)));
    if (std::holds_alternative<answers::resolved>(got.said)) {
        return report(with, "resolved", (with.correct ? "corrected: " : "settled: ") + with.as);
    }
    if (const auto* busy = std::get_if<answers::in_progress>(&got.said)) {
        refuse(with, "in_progress",
               "its owner is still at work until " + time_text(busy->retry_at));
    }
    refuse(with, "fenced_off",
           "it has changed meanwhile, or --fence is another attempt's: look "
           "at it again");
}

void remove(const act_arguments& with) {
    refuse_chore(with.which.id());
    const auto on = open_records(with.store);
    const record_id id = with.which.id();
    confirm("Delete " + about(id) + "? The same request will then be new.", with.how());
    const reply got = opened(
        on->records->call(id, commands::remove{.actor = actor_of(with), .reason = with.reason}));
    if (std::holds_alternative<answers::removed>(got.said)) {
        return report(with, "removed", "deleted");
    }
    refuse(with, "absent", "there is no such record");
}

void add_act_options(CLI::App& command, act_arguments& with) {
    add_store_options(command, with.store);
    add_id_options(command, with.which);
    command.add_option("--reason", with.reason, "kept in the audit")->required();
    command.add_option("--actor", with.actor, "who decides; default $USER");
    command.add_flag("--yes", with.yes, "do not ask");
    command.add_flag("--json", with.json, "for programs");
}

} // namespace

void add_record_acts(CLI::App& family) {
    const auto settling = std::make_shared<resolve_arguments>();
    CLI::App* const settle =
        family.add_subcommand("resolve", "Decide what became of a record in doubt");
    add_act_options(*settle, *settling);
    one_of(settle->add_option("--as", settling->as, "what became of it"),
           {"committed", "not-executed", "failed"})
        ->required();
    auto* const body = settle->add_option("--body", settling->body, "the answer (committed)");
    settle->add_option("--body-file", settling->body_file)->type_name("FILE")->excludes(body);
    settle->add_option("--type", settling->type,
                       "its content type; default application/json where there is a body");
    one_of(settle->add_option("--kind", settling->kind,
                              "it is a result as services of the center read it"),
           {"value", "rejection"});
    settle->add_option("--ref", settling->ref, "its reference");
    settle->add_option("--status", settling->status, "it is an HTTP answer with this status")
        ->check(CLI::Range(200, 599))
        ->excludes("--kind");
    settle->add_option("--error", settling->error, "what repeats are told (failed)")
        ->capture_default_str();
    settle
        ->add_option("--retention", settling->retention,
                     "default: the operation's in the configuration, else 24h")
        ->type_name("TIME");
    settle->add_option("--fence", settling->fence, "only if this is still the attempt");
    settle->add_flag("--correct", settling->correct, "change a verdict that was given before");
    settle->footer(
        "A paused owner may still wake up and act after it; its result is then dropped.");
    settle->callback([settling] { resolve(*settling); });

    const auto deleting = std::make_shared<act_arguments>();
    CLI::App* const forget = family.add_subcommand("delete", "Forget a record, whatever its state");
    add_act_options(*forget, *deleting);
    forget->callback([deleting] { remove(*deleting); });
}

} // namespace semel::app
