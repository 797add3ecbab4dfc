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
    outbox::on_ack ack = outbox::on_ack::remove;
    outbox::relay_options options = {};
};

void say_end(const outbox::relay_metrics& did) {
    std::cerr << "semel relay: delivered " << did.delivered << ", to be tried again " << did.retried
              << ", dead letters " << did.dead << ", given back " << did.returned << '\n';
}

void run(const relay_arguments& with) {
    outbox::relay_options options = with.options;
    options.log = open_spdlog_logger();
    const std::vector<outbox_place> places = outboxes_of(with.store);
    std::vector<outbox::table_opener> tables;
    for (const outbox_place& one : places) {
        tables.emplace_back([one, ack = with.ack] {
            return outbox::open_table(
                one.url, {.table_prefix = one.prefix, .ack = ack, .mode = open_mode::existing});
        });
    }
    const std::string sink = given_sink("--sink", with.sink);
    const auto sinks = [&] { return outbox::open_sink(sink, {.log = options.log}); };
    if (options.until == outbox::relay_until::empty) {
        const auto running = opened(outbox::open_relay(tables, sinks, options));
        running->wait();
        return say_end(running->metrics());
    }
    signals stop{SIGTERM, SIGINT};
    const auto running = opened(outbox::open_relay(tables, sinks, options));
    // Standard output may be the sink.
    std::cerr << "semel relay: from " << net::shown_url(places.front().url)
              << (places.size() > 1 ? " and others" : "") << " to " << net::shown_url(sink) << ", "
              << (options.mode == outbox::relay_mode::ordered ? "ordered" : "parallel")
              << std::endl;
    static_cast<void>(stop.next());
    stop.release();
    running->stop();
    say_end(running->metrics());
}

void add_delivery_options(CLI::App& command, relay_arguments& with) {
    using namespace outbox;
    choice<relay_mode>(command, "--mode", with.options.mode,
                       {{"parallel", relay_mode::parallel}, {"ordered", relay_mode::ordered}},
                       "ordered: one by one per message key");
    choice<key_policy>(
        command, "--on-failure", with.options.on_failure,
        {{"block", key_policy::block}, {"skip", key_policy::skip}, {"park", key_policy::park}},
        "ordered: block the key, skip the event, or park the key behind it");
    command.add_option("--attempts", with.options.retry.attempts_max, "then it is a dead letter")
        ->capture_default_str();
    time_option(command, "--retry-first", with.options.retry.first, "doubles each time");
    time_option(command, "--retry-last", with.options.retry.last);
    flag(command, "--archive", with.ack, on_ack::archive,
         "keep what was delivered in the archive table");
    flag(command, "--once", with.options.until, relay_until::empty,
         "end when nothing is left to deliver");
}

void add_work_options(CLI::App& command, relay_arguments& with) {
    command.add_option("--workers", with.options.workers, "per store, a connection each")
        ->capture_default_str();
    command.add_option("--batch", with.options.batch, "events of one claim")->capture_default_str();
    command.add_option("--sink-batch", with.options.sink_batch, "events the sink gets at once")
        ->capture_default_str();
    time_option(command, "--lease", with.options.lease,
                "how long a claim holds; renewed while it works");
    time_option(command, "--poll", with.options.poll_last,
                "longest pause between looks at an empty table");
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
