#include <iostream>
#include <map>
#include <memory>

#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "progress.hpp"
#include "record_query.hpp"
#include "record_text.hpp"
#include "semel/core/record_machine.hpp"
#include "store_arguments.hpp"

namespace semel::app {
namespace {

struct stats_arguments {
    store_arguments store = {};
    query_arguments which = {};
    bool json = false;
};

struct numbers {
    std::uint64_t running = 0, lapsed = 0, in_doubt = 0; // in doubt: of those that have lapsed
    std::uint64_t succeeded = 0, retryable = 0, final = 0;
    duration oldest_lapsed = {};

    void count(const record& it, time_point now) {
        switch (it.state) {
        case record_state::processing:
            if (!semel::lapsed(it, now)) {
                ++running;
                break;
            }
            ++lapsed;
            if (semel::in_doubt(it, now)) ++in_doubt;
            oldest_lapsed = std::max(oldest_lapsed, now - it.lease_until);
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
        const auto oldest = std::chrono::duration<double>(one.oldest_lapsed).count();
        made.push_back({{"tenant", printable(whose.first)},
                        {"operation", printable(whose.second)},
                        {"processing", one.running},
                        {"lapsed", one.lapsed},
                        {"in_doubt", one.in_doubt},
                        {"succeeded", one.succeeded},
                        {"failed_retryable", one.retryable},
                        {"failed_final", one.final},
                        {"oldest_lapsed_seconds", oldest}});
    }
    std::cout << made.dump(2) << '\n';
}

void print(const by_operation& all) {
    std::vector<std::vector<std::string>> rows{{"TENANT", "OPERATION", "PROCESSING", "LAPSED",
                                                "IN DOUBT", "SUCCEEDED", "RETRYABLE", "FAILED",
                                                "OLDEST LAPSED"}};
    for (const auto& [whose, one] : all) {
        rows.push_back({printable(whose.first), printable(whose.second),
                        std::to_string(one.running), std::to_string(one.lapsed),
                        std::to_string(one.in_doubt), std::to_string(one.succeeded),
                        std::to_string(one.retryable), std::to_string(one.final),
                        one.lapsed == 0 ? "-" : age_text(one.oldest_lapsed)});
    }
    print_table(std::cout, rows);
}

void run(const stats_arguments& with) {
    const auto on = open_records(with.store, open_mode::read_only);
    const time_point now = time_of(*on->records);
    record_choice which = choice_of(with.which, now);
    which.query.records_max = page_max(result_bodies::left_out);
    by_operation all;
    {
        progress shown{"stats"};
        for_each_page(*on->records, which, [&](const record_page& page) {
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
