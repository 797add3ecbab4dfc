#include <iostream>
#include <memory>

#include "commands.hpp"
#include "progress.hpp"
#include "semel/open.hpp"
#include "store_arguments.hpp"

namespace semel::app {
namespace {

struct migrate_arguments {
    store_arguments store = {};
    bool dry_run = false;
};

bool wrong_input(errc code) {
    return code == errc::invalid_argument || code == errc::unknown_store ||
           code == errc::unsupported;
}

void print(const migration_report& did, migrate_mode mode) {
    if (did.sql.empty()) {
        std::cout << (mode == migrate_mode::dry_run ? "-- " : "") << "up to date: version "
                  << did.to << '\n';
    } else if (mode == migrate_mode::dry_run) {
        // The printed SQL is one transaction, also when it is run by hand.
        std::cout << "BEGIN;\n" << did.sql << "COMMIT;\n";
    } else if (did.from == 0) {
        std::cout << "created: version " << did.to << '\n';
    } else {
        std::cout << "migrated: version " << did.from << " to " << did.to << '\n';
    }
}

void run(const migrate_arguments& with) {
    const auto mode = with.dry_run ? migrate_mode::dry_run : migrate_mode::run;
    const config::store_section store = config_of(with.store).store;
    const auto did = [&] {
        const progress shown{"migrate"};
        return migrate(store.url.text, mode, store.options);
    }();
    if (did) return print(*did, mode);
    if (wrong_input(did.error().code)) throw usage_error(describe(did.error()));
    throw std::runtime_error(describe(did.error()));
}

} // namespace

void add_migrate_command(CLI::App& tool) {
    const auto with = std::make_shared<migrate_arguments>();
    CLI::App* const command =
        tool.add_subcommand("migrate", "Create or upgrade the tables of a store");
    add_store_options(*command, with->store);
    command->add_flag("--dry-run", with->dry_run, "print the SQL and change nothing");
    command->callback([with] { run(*with); });
}

} // namespace semel::app
