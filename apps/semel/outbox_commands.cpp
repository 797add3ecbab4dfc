#include <unistd.h>

#include <chrono>
#include <iostream>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/rfc3339.hpp"
#include "choices.hpp"
#include "commands.hpp"
#include "opened.hpp"
#include "semel/outbox.hpp"
#include "semel/outbox/open.hpp"
#include "semel/outbox/relay.hpp"
#include "semel/outbox/table.hpp"
#include "store_arguments.hpp"

namespace semel::app {
namespace {

using nlohmann::json;

struct outbox_arguments {
    store_arguments store = {};
    std::string status = {};
    std::string topic = {};
    std::int64_t after = 0;
    std::size_t limit = 50;
    std::vector<std::int64_t> rows = {};
    bool all = false;
    bool yes = false;
    bool as_json = false;
};

std::unique_ptr<outbox::table> open_desk(const outbox_arguments& with, open_mode mode) {
    const outbox_place place = outboxes_of(with.store).front();
    return opened(outbox::open_table(place.url, {.table_prefix = place.prefix, .mode = mode}));
}

std::optional<outbox::row_status> status_of(const std::string& word) {
    using outbox::row_status;
    if (word.empty()) return {};
    for (const row_status one :
         {row_status::pending, row_status::claimed, row_status::dead, row_status::parked}) {
        if (word == name(one)) return one;
    }
    throw usage_error("--status must be pending, claimed, dead or parked");
}

// 2026-01-31T12:00:00Z
std::string time_text(time_point when) {
    return rfc3339(when, time_step::seconds);
}

json json_of(const outbox::row_view& from) {
    json headers = json::array();
    for (const auto& one : from.it.event.headers) headers.push_back({one.name, one.value});
    return {{"row", from.it.row},
            {"shard", from.it.shard},
            {"status", name(from.status)},
            {"attempts", from.it.attempts},
            {"id", from.it.event.id},
            {"topic", from.it.event.topic},
            {"key", from.it.event.key},
            {"headers", headers},
            {"payload", from.it.event.payload},
            {"created_at", time_text(from.it.created_at)},
            {"updated_at", time_text(from.updated_at)},
            {"next_retry_time", from.next_retry_time.time_since_epoch().count()},
            {"lock_until", from.lock_until.time_since_epoch().count()},
            {"last_error", from.last_error}};
}

// Bytes that are not UTF-8 become U+FFFD.
void print(const json& what, int indent) {
    std::cout << what.dump(indent, ' ', false, json::error_handler_t::replace) << '\n';
}

// Nothing that a terminal would act on.
std::string visible(std::string_view text, std::size_t most) {
    std::string made;
    for (const char one : text.substr(0, most)) {
        made += one >= ' ' && one < 0x7f ? one : '?';
    }
    return made + (text.size() > most ? "…" : "");
}

void list(const outbox_arguments& with) {
    const auto rows = opened(open_desk(with, open_mode::read_only)
                                 ->list({.status = status_of(with.status),
                                         .topic = with.topic,
                                         .after = with.after,
                                         .rows_max = with.limit}));
    if (with.as_json) {
        json made = json::array();
        for (const auto& one : rows) made.push_back(json_of(one));
        return print(made, 2);
    }
    std::cout << fmt::format("{:>10}  {:8} {:>8}  {:26}  {:20}  {:20}  {}\n", "ROW", "STATUS",
                             "ATTEMPTS", "ID", "TOPIC", "CREATED", "LAST ERROR");
    for (const auto& one : rows) {
        std::cout << fmt::format("{:>10}  {:8} {:>8}  {:26}  {:20}  {:20}  {}\n", one.it.row,
                                 name(one.status), one.it.attempts, one.it.event.id,
                                 visible(one.it.event.topic, 20), time_text(one.it.created_at),
                                 visible(one.last_error, 60));
    }
    if (rows.size() == with.limit) {
        std::cerr << "more may follow: --after " << rows.back().it.row << '\n';
    }
}

void show(const outbox_arguments& with) {
    const auto found = opened(open_desk(with, open_mode::read_only)->show(with.rows.at(0)));
    if (!found) throw std::runtime_error("there is no row " + std::to_string(with.rows[0]));
    if (with.as_json) return print(json_of(*found), 2);
    const auto say = [](const char* name, const std::string& value) {
        std::cout << fmt::format("{:10} {}\n", name, value);
    };
    const auto& event = found->it.event;
    say("row", std::to_string(found->it.row));
    say("id", event.id);
    say("topic", visible(event.topic, 255));
    say("key", visible(event.key, 255));
    say("status", std::string{name(found->status)});
    say("attempts", std::to_string(found->it.attempts));
    say("shard", std::to_string(found->it.shard));
    say("created", time_text(found->it.created_at));
    say("updated", time_text(found->updated_at));
    if (found->next_retry_time > time_point{}) say("retry", time_text(found->next_retry_time));
    if (!found->last_error.empty()) say("error", visible(found->last_error, 1'000));
    for (const auto& one : event.headers) {
        say("header", visible(one.name + ": " + one.value, 1'000));
    }
    say("payload", visible(event.payload, 2'000));
}

// Before anything is changed.
void ask(const outbox_arguments& with, const std::string& what) {
    if (with.yes) return;
    if (::isatty(STDIN_FILENO) == 0) throw usage_error("say --yes to " + what);
    std::cerr << what << "? [y/N] ";
    std::string answer;
    std::getline(std::cin, answer);
    if (answer != "y" && answer != "yes") throw CLI::RuntimeError{1};
}

std::string events(const outbox_arguments& with) {
    if (with.all) return "all dead letters";
    return std::to_string(with.rows.size()) + (with.rows.size() == 1 ? " event" : " events");
}

void requeue(const outbox_arguments& with) {
    if (with.rows.empty() != with.all) throw usage_error("name rows, or say --all");
    if (with.all) ask(with, "requeue " + events(with));
    const auto count = opened(open_desk(with, open_mode::existing)->requeue(with.rows));
    std::cout << "requeued: " << count << '\n';
}

void drop(const outbox_arguments& with) {
    ask(with, "drop " + events(with) + " for good");
    const auto count = opened(open_desk(with, open_mode::existing)->drop(with.rows));
    std::cout << "dropped: " << count << '\n';
}

} // namespace

void add_outbox_commands(CLI::App& tool) {
    const auto with = std::make_shared<outbox_arguments>();
    CLI::App& command = *tool.add_subcommand("outbox", "Look at events on their way, and mend");
    command.require_subcommand(1);
    const auto add = [&](const char* name, const char* about,
                         void (*run)(const outbox_arguments&)) {
        CLI::App* const one = command.add_subcommand(name, about);
        add_store_options(*one, with->store);
        one->callback([with, run] { run(*with); });
        return one;
    };

    CLI::App* const listed = add("list", "Print rows, the oldest first", list);
    one_of(listed->add_option("--status", with->status, "parked: behind a dead one of its key"),
           {"pending", "claimed", "dead", "parked"});
    listed->add_option("--topic", with->topic);
    listed->add_option("--after", with->after, "rows behind this one")->capture_default_str();
    listed->add_option("--limit", with->limit)->check(CLI::Range(1, 10'000))->capture_default_str();
    listed->add_flag("--json", with->as_json);

    CLI::App* const shown = add("show", "Print everything about one row", show);
    shown->add_option("row", with->rows, "as list prints it")->required()->expected(1);
    shown->add_flag("--json", with->as_json);

    CLI::App* const again = add("requeue", "Try dead letters again", requeue);
    again->add_option("row", with->rows, "as list prints them");
    again->add_flag("--all", with->all, "every dead letter");
    again->add_flag("--yes", with->yes, "do not ask");

    CLI::App* const gone = add("drop", "Remove rows that no relay has claimed", drop);
    gone->add_option("row", with->rows, "as list prints them")->required();
    gone->add_flag("--yes", with->yes, "do not ask");
}

} // namespace semel::app
