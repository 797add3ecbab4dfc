#include "records_acts.hpp"

#include <cstdlib>
#include <iostream>
#include <memory>

#include "choices.hpp"
#include "commands.hpp"
#include "confirm.hpp"
#include "duration_text.hpp"
#include "input.hpp"
#include "opened.hpp"
#include "record_query.hpp"
#include "record_text.hpp"
#include "semel/http/stored_response.hpp"
#include "store_arguments.hpp"

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
    std::string type = "application/json";
    std::string ref = {};
    int status = 0;
    std::string error = "settled by an operator";
    std::string retention = "24h";
    std::uint64_t fence = 0; // 0: the record's own
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

// With --status it is the answer of an HTTP route, and replayed as one.
stored_result result_of(const resolve_arguments& with) {
    const std::string body = with.body_file.empty() ? with.body : read_file(with.body_file);
    stored_result made{.body = body, .type = with.type};
    if (with.status != 0) {
        http::response answer{.status = with.status, .body = body};
        if (!body.empty()) answer.headers.add("Content-Type", with.type);
        made = http::encode(answer, {}, limits{}.result_bytes_max);
    }
    made.ref = with.ref;
    seal(made);
    return made;
}

commands::resolve verdict_of(const resolve_arguments& with) {
    commands::resolve made{.retention = parse_duration("--retention", with.retention),
                           .actor = actor_of(with),
                           .reason = with.reason};
    if (with.as == "committed") {
        made.verdict = commands::resolve::committed{result_of(with)};
    } else if (with.as == "failed") {
        made.verdict = commands::resolve::failed{with.error};
    } else if (with.as != "not-executed") {
        throw usage_error("--as: \"" + with.as + "\" is none of committed, not-executed, failed");
    }
    return made;
}

void resolve(const resolve_arguments& with) {
    commands::resolve what = verdict_of(with);
    const auto on = open_records(with.store);
    const record_id id = with.which.id();
    const reply seen = opened(on->records->call(id, commands::lookup{}));
    const auto& current = std::get<answers::found>(seen.said).current;
    if (!current) refuse(with, "absent", "there is no such record");
    what.expected_fence = with.fence != 0 ? with.fence : current->holder.fence;
    confirm("Settle " + about(id) + " as " + with.as + "?", with.how());
    const reply got = opened(on->records->call(id, std::move(what)));
    if (std::holds_alternative<answers::resolved>(got.said)) {
        return report(with, "resolved", "settled: " + with.as);
    }
    if (const auto* busy = std::get_if<answers::in_progress>(&got.said)) {
        refuse(with, "in_progress",
               "its owner is still at work until " + time_text(busy->retry_at));
    }
    refuse(with, "fenced_off", "it is not in doubt: somebody else has settled or taken it");
}

void remove(const act_arguments& with) {
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
    settle->add_option("--type", settling->type, "its content type")->capture_default_str();
    settle->add_option("--ref", settling->ref, "its reference");
    settle->add_option("--status", settling->status, "it is an HTTP answer with this status")
        ->check(CLI::Range(200, 599));
    settle->add_option("--error", settling->error, "what repeats are told (failed)")
        ->capture_default_str();
    settle->add_option("--retention", settling->retention)
        ->capture_default_str()
        ->type_name("TIME");
    settle->add_option("--fence", settling->fence, "only if this is still the attempt");
    settle->footer(
        "A paused owner may still wake up and act after it; its result is then dropped.");
    settle->callback([settling] { resolve(*settling); });

    const auto deleting = std::make_shared<act_arguments>();
    CLI::App* const forget = family.add_subcommand("delete", "Forget a record, whatever its state");
    add_act_options(*forget, *deleting);
    forget->callback([deleting] { remove(*deleting); });
}

} // namespace semel::app
