// The semel tool: `semel <subcommand>`. Exit codes: 0 done, 1 the job failed, 2 wrong usage or
// input.
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <string>

#include "command_words.hpp"
#include "commands.hpp"
#include "help.hpp"

namespace {

int report(int exit_code, std::string message) {
    std::replace(message.begin(), message.end(), '\n', ' '); // one line, whatever the message holds
    std::cerr << "semel: " << message << '\n';
    return exit_code;
}

// In the order of the help.
void add_commands(CLI::App& tool) {
    using namespace semel::app;
    add_serve_command(tool);
    add_gateway_command(tool);
    add_config_commands(tool);
    add_check_config_command(tool);
    add_token_commands(tool);
    add_demo_command(tool);
    add_records_commands(tool);
    add_stats_command(tool);
    add_reconcile_command(tool);
    add_sweep_command(tool);
    add_migrate_command(tool);
    add_outbox_commands(tool);
    add_relay_command(tool);
    add_fingerprint_commands(tool);
    add_id_commands(tool);
    add_completion_command(tool);
}

int run(CLI::App& tool, int argc, char** argv) {
    semel::app::check_command_words(tool, {argv + 1, argv + argc});
    tool.parse(argc, argv);
    if (tool.get_subcommands().empty()) std::cout << tool.help();
    // A full disk or closed pipe must not look like success.
    if (!std::cout.flush()) return report(1, "cannot write to standard output");
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    CLI::App tool{"semel: exactly-once effects", "semel"};
    tool.require_subcommand(0, 1);
    semel::app::prepare_help(tool);
    add_commands(tool);
    semel::app::complete_help(tool);

    try {
        return run(tool, argc, argv);
    } catch (const CLI::Success& asked) { // --help, --version
        return tool.exit(asked);
    } catch (const CLI::RuntimeError& failed) {
        return failed.get_exit_code();
    } catch (const CLI::ExtrasError&) {
        return report(2, semel::app::unexpected_word(tool));
    } catch (const CLI::ParseError& wrong) {
        return report(2, wrong.what());
    } catch (const semel::app::usage_error& wrong) {
        return report(2, wrong.what());
    } catch (const std::exception& broken) {
        return report(1, broken.what());
    }
}
