// The subcommands of the semel tool.
//
// Each family is one file with one function that adds it to the tool. Its options are bound to an
// aggregate shared by CLI11's option bindings and the subcommand's callback, which does the work.
// A callback reports wrong input by throwing `usage_error`, and a job that ran and did not succeed
// by throwing CLI::RuntimeError{1}.
#pragma once

#include <stdexcept>

#include <CLI/CLI.hpp>

namespace semel::app {

// Wrong arguments or input: the tool prints one line on stderr and exits with 2.
class usage_error : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

void add_check_config_command(CLI::App& tool); // check-config
void add_completion_command(CLI::App& tool);   // completion bash, zsh, fish
void add_config_commands(CLI::App& tool);      // config init
void add_demo_command(CLI::App& tool);         // demo
void add_fingerprint_commands(CLI::App& tool); // canonical, fingerprint
void add_gateway_command(CLI::App& tool);      // gateway
void add_id_commands(CLI::App& tool);          // id new, id show
void add_migrate_command(CLI::App& tool);      // migrate
void add_reconcile_command(CLI::App& tool);    // reconcile
void add_records_commands(CLI::App& tool);     // records list, show, resolve, delete, export
void add_outbox_commands(CLI::App& tool);      // outbox list, show, requeue, drop
void add_relay_command(CLI::App& tool);        // relay
void add_serve_command(CLI::App& tool);        // serve
void add_stats_command(CLI::App& tool);        // stats
void add_sweep_command(CLI::App& tool);        // sweep
void add_token_commands(CLI::App& tool);       // token new, token list, token revoke

} // namespace semel::app
