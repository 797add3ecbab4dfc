#include <iostream>
#include <memory>

#include "choices.hpp"
#include "commands.hpp"
#include "duration_text.hpp"
#include "net/shown_url.hpp"
#include "opened.hpp"
#include "semel/outbox.hpp"
#include "semel/outbox/open.hpp"
#include "semel/outbox/relay.hpp"
#include "semel/outbox/sinks.hpp"
#include "semel/outbox/table.hpp"
#include "signals.hpp"
#include "store_arguments.hpp"
#include "url_argument.hpp"

namespace semel::app {
namespace {

struct relay_arguments {
    store_arguments store = {};
    std::string sink = {};
    std::string mode = "parallel";
    std::string on_failure = "block";
    std::string lease = "30s";
    std::string poll = "1s";
    std::string retry_first = "100ms";
    std::string retry_last = "5m";
    bool archive = false;
    bool once = false;
    outbox::relay_options options = {};
};

template <class Word>
Word chosen(const std::string& option, const std::string& given,
            std::initializer_list<std::pair<const char*, Word>> all) {
    std::string known;
    for (const auto& [text, word] : all) {
        if (given == text) return word;
        known += (known.empty() ? "" : ", ") + std::string{text};
    }
    throw usage_error(option + " must be one of " + known);
}

outbox::relay_options options_of(const relay_arguments& with) {
    using namespace outbox;
    relay_options made = with.options;
    made.mode =
        chosen<relay_mode>("--mode", with.mode,
                           {{"parallel", relay_mode::parallel}, {"ordered", relay_mode::ordered}});
    made.on_failure = chosen<key_policy>(
        "--on-failure", with.on_failure,
        {{"block", key_policy::block}, {"skip", key_policy::skip}, {"park", key_policy::park}});
    made.lease = parse_duration("--lease", with.lease);
    made.poll_last = parse_duration("--poll", with.poll);
    made.retry.first = parse_duration("--retry-first", with.retry_first);
    made.retry.last = parse_duration("--retry-last", with.retry_last);
    made.until = with.once ? relay_until::empty : relay_until::stopped;
    made.log = open_spdlog_logger();
    return made;
}

void say_end(const outbox::relay_metrics& did) {
    std::cerr << "semel relay: delivered " << did.delivered << ", to be tried again " << did.retried
              << ", dead letters " << did.dead << ", given back " << did.returned << '\n';
}

void run(const relay_arguments& with) {
    const outbox::relay_options options = options_of(with);
    const auto ack = with.archive ? outbox::on_ack::archive : outbox::on_ack::remove;
    const std::vector<outbox_place> places = outboxes_of(with.store);
    std::vector<outbox::table_opener> tables;
    for (const outbox_place& one : places) {
        tables.emplace_back([one, ack] {
            return outbox::open_table(
                one.url, {.table_prefix = one.prefix, .ack = ack, .mode = open_mode::existing});
        });
    }
    const std::string sink = given_sink("--sink", with.sink);
    const auto sinks = [&] { return outbox::open_sink(sink, {.log = options.log}); };
    if (with.once) {
        const auto running = opened(outbox::open_relay(tables, sinks, options));
        running->wait();
        return say_end(running->metrics());
    }
    signals stop{SIGTERM, SIGINT};
    const auto running = opened(outbox::open_relay(tables, sinks, options));
    // Standard output may be the sink.
    std::cerr << "semel relay: from " << net::shown_url(places.front().url)
              << (places.size() > 1 ? " and others" : "") << " to " << net::shown_url(sink) << ", "
              << with.mode << std::endl;
    static_cast<void>(stop.next());
    stop.release();
    running->stop();
    say_end(running->metrics());
}

void add_delivery_options(CLI::App& command, relay_arguments& with) {
    one_of(command.add_option("--mode", with.mode, "ordered: one by one per message key"),
           {"parallel", "ordered"})
        ->capture_default_str();
    one_of(command.add_option("--on-failure", with.on_failure,
                              "ordered: block the key, skip the event, or park the key behind it"),
           {"block", "skip", "park"})
        ->capture_default_str();
    command.add_option("--attempts", with.options.retry.attempts_max, "then it is a dead letter")
        ->capture_default_str();
    command.add_option("--retry-first", with.retry_first, "doubles each time")
        ->capture_default_str()
        ->type_name("TIME");
    command.add_option("--retry-last", with.retry_last)->capture_default_str()->type_name("TIME");
    command.add_flag("--archive", with.archive, "keep what was delivered in the archive table");
    command.add_flag("--once", with.once, "end when nothing is left to deliver");
}

void add_work_options(CLI::App& command, relay_arguments& with) {
    command.add_option("--workers", with.options.workers, "per store, a connection each")
        ->capture_default_str();
    command.add_option("--batch", with.options.batch, "events of one claim")->capture_default_str();
    command.add_option("--sink-batch", with.options.sink_batch, "events the sink gets at once")
        ->capture_default_str();
    command.add_option("--lease", with.lease, "how long a claim holds; renewed while it works")
        ->capture_default_str()
        ->type_name("TIME");
    command.add_option("--poll", with.poll, "longest pause between looks at an empty table")
        ->capture_default_str()
        ->type_name("TIME");
}

} // namespace

void add_relay_command(CLI::App& tool) {
    const auto with = std::make_shared<relay_arguments>();
    CLI::App* const command =
        tool.add_subcommand("relay", "Carry events from outbox tables to a sink");
    add_store_options(*command, with->store)
        ->description(std::string{"where the outbox is; several are served at once"} + or_reference)
        ->expected(1, -1)
        ->allow_extra_args();
    command
        ->add_option("--sink", with->sink,
                     "as in stdout: or file:events.jsonl; or env:NAME, where the URL is read from")
        ->required()
        ->type_name("URL");
    add_delivery_options(*command, *with);
    add_work_options(*command, *with);
    command->footer("SIGTERM and SIGINT: what the sink is doing is finished, the rest given back. "
                    "See docs/outbox.md.");
    command->callback([with] { run(*with); });
}

} // namespace semel::app
