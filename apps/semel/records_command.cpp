// semel records list, show, export: looking changes nothing.
#include <algorithm>
#include <fstream>
#include <iostream>
#include <memory>

#include "commands.hpp"
#include "opened.hpp"
#include "progress.hpp"
#include "record_query.hpp"
#include "record_text.hpp"
#include "records_acts.hpp"
#include "store_arguments.hpp"

namespace semel::app {
namespace {

struct list_arguments {
    store_arguments store = {};
    query_arguments which = {};
    std::size_t limit = 100;
    bool json = false;
};

void list(const list_arguments& with) {
    const auto on = open_records(with.store, open_mode::read_only);
    const time_point now = time_of(*on->records);
    record_choice which = choice_of(with.which, now);
    which.query.records_max = std::min(with.limit, page_max(result_bodies::left_out));
    std::vector<found_record> all;
    bool more = false;
    for_each_page(*on->records, which, [&](const record_page& page) {
        all.insert(all.end(), page.records.begin(), page.records.end());
        more = !page.cursor.empty();
        return all.size() < with.limit;
    });
    more = more || all.size() > with.limit;
    all.resize(std::min(all.size(), with.limit));
    if (with.json) {
        for (const found_record& one : all) {
            std::cout << to_json(one, now, result_bodies::left_out).dump() << '\n';
        }
        return;
    }
    print_table(std::cout, table_of(all, now));
    if (more) std::cerr << "there may be more: say --limit N\n";
}

struct show_arguments {
    store_arguments store = {};
    id_arguments which = {};
    bool json = false;
};

void show(const show_arguments& with) {
    const auto on = open_records(with.store, open_mode::read_only);
    const record_id id = with.which.id();
    const reply got = opened(on->records->call(id, commands::lookup{}));
    const auto& current = std::get<answers::found>(got.said).current;
    const auto audit = opened(on->records->audit(id));
    if (!current && audit.empty()) {
        std::cerr << "semel: there is no such record\n";
        throw CLI::RuntimeError{1};
    }
    if (with.json) {
        nlohmann::ordered_json made = nlohmann::ordered_json::object();
        if (current) made = to_json({id, *current}, got.now, result_bodies::included);
        made["audit"] = nlohmann::ordered_json::array();
        for (const audit_entry& one : audit) made["audit"].push_back(to_json(one));
        std::cout << made.dump(2) << '\n';
        return;
    }
    if (!current) std::cout << "the record is gone\n";
    print_details(std::cout, {id, current.value_or(record{})}, audit, got.now);
}

struct export_arguments {
    store_arguments store = {};
    query_arguments which = {};
    std::string out = {};
    bool results = false;
};

void export_all(const export_arguments& with) {
    const auto on = open_records(with.store, open_mode::read_only);
    const time_point now = time_of(*on->records);
    const auto bodies = with.results ? result_bodies::included : result_bodies::left_out;
    record_choice which = choice_of(with.which, now);
    which.query.results = bodies;
    which.query.records_max = page_max(bodies);
    std::ofstream file;
    if (!with.out.empty()) {
        file.open(with.out, std::ios::binary | std::ios::trunc);
        if (!file) throw usage_error("cannot write " + with.out);
    }
    std::ostream& to = with.out.empty() ? std::cout : file;
    std::uint64_t count = 0;
    {
        progress shown{"export"};
        for_each_page(*on->records, which, [&](const record_page& page) {
            for (const found_record& one : page.records)
                to << to_json(one, now, bodies).dump() << '\n';
            shown.add(page.records.size());
            count += page.records.size();
            return static_cast<bool>(to);
        });
    }
    if (!to.flush()) throw std::runtime_error("the records could not be written");
    std::cerr << count << " records\n";
}

} // namespace

void add_records_commands(CLI::App& tool) {
    CLI::App& family = *tool.add_subcommand("records", "Look at records, settle and remove them");
    family.require_subcommand(1);

    const auto listing = std::make_shared<list_arguments>();
    CLI::App* const list_them = family.add_subcommand("list", "Print those that fit");
    add_store_options(*list_them, listing->store);
    add_query_options(*list_them, listing->which);
    list_them->add_option("--limit", listing->limit, "at most")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    list_them->add_flag("--json", listing->json, "an object per line");
    list_them->callback([listing] { list(*listing); });

    const auto showing = std::make_shared<show_arguments>();
    CLI::App* const show_one = family.add_subcommand("show", "Print all about one, and its audit");
    add_store_options(*show_one, showing->store);
    add_id_options(*show_one, showing->which);
    show_one->add_flag("--json", showing->json, "for programs");
    show_one->callback([showing] { show(*showing); });

    const auto exporting = std::make_shared<export_arguments>();
    CLI::App* const export_them =
        family.add_subcommand("export", "Write all that fit, a JSON object per line");
    add_store_options(*export_them, exporting->store);
    add_query_options(*export_them, exporting->which);
    export_them->add_option("--out", exporting->out, "default: standard output")->type_name("FILE");
    export_them->add_flag("--results", exporting->results, "with the bodies of their results");
    export_them->callback([exporting] { export_all(*exporting); });

    add_record_acts(family);
}

} // namespace semel::app
