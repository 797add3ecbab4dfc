#include <iostream>
#include <map>
#include <memory>

#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "progress.hpp"
#include "record_query.hpp"
#include "record_text.hpp"
#include "semel/record_machine.hpp"
#include "store_arguments.hpp"

namespace semel::app {
namespace {

struct stats_arguments {
    store_arguments store = {};
    query_arguments which = {};
    bool json = false;
};

struct numbers {
    std::uint64_t running = 0, stuck = 0, succeeded = 0, retryable = 0, final = 0;
    duration oldest_stuck = {};

    void count(const record& it, time_point now) {
        switch (it.state) {
        case record_state::processing:
            if (!lapsed(it, now)) {
                ++running;
                break;
            }
            ++stuck;
            oldest_stuck = std::max(oldest_stuck, now - it.lease_until);
            break;
        case record_state::succeeded: ++succeeded; break;
        case record_state::failed_retryable: ++retryable; break;
        case record_state::failed_final: ++final; break;
        }
    }
};

using by_operation = std::map<std::pair<std::string, std::string>, numbers>;

void print_json(const by_operation& all) {
    nlohmann::ordered_json made = nlohmann::ordered_json::array();
    for (const auto& [whose, one] : all) {
        const auto oldest = std::chrono::duration<double>(one.oldest_stuck).count();
        made.push_back({{"tenant", printable(whose.first)},
                        {"operation", printable(whose.second)},
                        {"processing", one.running},
                        {"stuck", one.stuck},
                        {"succeeded", one.succeeded},
                        {"failed_retryable", one.retryable},
                        {"failed_final", one.final},
                        {"oldest_stuck_seconds", oldest}});
    }
    std::cout << made.dump(2) << '\n';
}

void print(const by_operation& all) {
    std::vector<std::vector<std::string>> rows{{"TENANT", "OPERATION", "PROCESSING", "STUCK",
                                                "SUCCEEDED", "RETRYABLE", "FAILED",
                                                "OLDEST STUCK"}};
    for (const auto& [whose, one] : all) {
        rows.push_back({printable(whose.first), printable(whose.second),
                        std::to_string(one.running), std::to_string(one.stuck),
                        std::to_string(one.succeeded), std::to_string(one.retryable),
                        std::to_string(one.final),
                        one.stuck == 0 ? "-" : age_text(one.oldest_stuck)});
    }
    print_table(std::cout, rows);
}

void run(const stats_arguments& with) {
    const auto on = open_records(with.store, open_mode::read_only);
    const time_point now = time_of(*on->records);
    record_query query = query_of(with.which, now);
    query.records_max = page_max(result_bodies::left_out);
    by_operation all;
    {
        progress shown{"stats"};
        for_each_page(*on->records, query, with.which.key_prefix, [&](const record_page& page) {
            for (const found_record& one : page.records) {
                all[{one.id.tenant, one.id.operation}].count(one.it, now);
            }
            shown.add(page.records.size());
            return true;
        });
    }
    with.json ? print_json(all) : print(all);
}

} // namespace

void add_stats_command(CLI::App& tool) {
    const auto with = std::make_shared<stats_arguments>();
    CLI::App* const command =
        tool.add_subcommand("stats", "Count records by tenant, operation and state");
    add_store_options(*command, with->store);
    add_query_options(*command, with->which);
    command->add_flag("--json", with->json, "for programs");
    command->footer("Reads every record that fits, page by page; what happened since the start of "
                    "a server is on its /metrics.");
    command->callback([with] { run(*with); });
}

} // namespace semel::app
