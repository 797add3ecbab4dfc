#include "help.hpp"

#include <string>

#include "command_words.hpp"

namespace semel::app {
namespace {

struct group {
    const char* command;
    const char* name;
};

constexpr group groups[]{
    {"serve", "Serve"},     {"gateway", "Serve"},     {"check-config", "Serve"},
    {"config", "Serve"},    {"token", "Serve"},       {"demo", "Serve"},
    {"records", "Records"}, {"stats", "Records"},     {"reconcile", "Records"},
    {"sweep", "Records"},   {"migrate", "Records"},   {"outbox", "Outbox"},
    {"relay", "Outbox"},    {"fingerprint", "Tools"}, {"canonical", "Tools"},
    {"id", "Tools"},        {"completion", "Tools"},
};

struct example {
    const char* path; // of the command, without "semel "
    const char* rest;
    const char* before = ""; // of what is on the left of a pipe
};

constexpr example examples[]{
    {"serve", "--config semel.toml"},
    {"gateway", "--upstream http://127.0.0.1:8080 --store sqlite:semel.db --single-tenant "
                "--principal shared"},
    {"config init", "semel.toml"},
    {"check-config", "--connect semel.toml"},
    {"token new", "--tenant acme --scope use --comment \"order service\""},
    {"token list", "--tokens tokens.txt"},
    {"token revoke", "4f1c"},
    {"demo", "--json"},
    {"records list", "--state in-doubt --older 1h"},
    {"records show", "acme PAY order-4711"},
    {"records resolve", "acme PAY order-4711 --as not-executed --reason \"not on the statement\""},
    {"records delete", "acme PAY order-4711 --reason \"test data\""},
    {"records export", "--tenant acme --results --out acme.jsonl"},
    {"stats", "--store postgres://app@db/shop --json"},
    {"reconcile", "--once"},
    {"sweep", "--share 20"},
    {"migrate", "--store postgres://app@db/shop --dry-run"},
    {"outbox list", "--status dead"},
    {"outbox show", "4711"},
    {"outbox requeue", "--all"},
    {"outbox drop", "4711"},
    {"relay", "--store postgres://app@db/shop --sink stdout: --once"},
    {"fingerprint", "--json", "echo '{\"b\": 1, \"a\": 2}' | "},
    {"canonical", "--ignore /trace", "echo '{\"b\": 1, \"trace\": 2}' | "},
    {"id new", "order"},
    {"id show", "order_01h455vb4pex5vsknk084sn02q"},
    {"completion bash", "> ~/.local/share/bash-completion/completions/semel"},
    {"completion zsh", "> ~/.zfunc/_semel"},
    {"completion fish", "> ~/.config/fish/completions/semel.fish"},
};

CLI::App* command_at(CLI::App& tool, std::string path) {
    CLI::App* at = &tool;
    for (const std::string& word : CLI::detail::split(path, ' ')) at = at->get_subcommand(word);
    return at;
}

} // namespace

void prepare_help(CLI::App& tool) {
    tool.set_help_flag("-h,--help", "print this help and end");
    tool.set_version_flag("--version", "semel " SEMEL_VERSION, "print the version and end");
}

void complete_help(CLI::App& tool) {
    tool.footer("'semel COMMAND --help' has more, and an example.");
    for (const group& one : groups) tool.get_subcommand(one.command)->group(one.name);
    for (const example& one : examples) {
        CLI::App* const command = command_at(tool, one.path);
        const std::string text = command->get_footer();
        command->footer(text + (text.empty() ? "" : "\n") + "Example:\n  " + one.before + "semel " +
                        one.path + " " + one.rest);
    }
}

} // namespace semel::app
