#include <chrono>
#include <iostream>
#include <memory>

#include "base/rfc3339.hpp"
#include "commands.hpp"
#include "config/token_file.hpp"
#include "semel/ids.hpp"

namespace semel::app {
namespace {

struct token_arguments {
    std::string file = "tokens.txt";
    std::string tenant = {};
    std::string scopes = "use,read";
    std::string comment = {};
    std::string id = {};
};

[[noreturn]] void refuse(const failure& why) {
    if (why.code == errc::invalid_argument) throw usage_error(why.detail);
    throw std::runtime_error(why.detail);
}

// 2026-01-31T12:00:00Z
std::string now_text() {
    using namespace std::chrono;
    return rfc3339(floor<duration>(system_clock::now()), time_step::seconds);
}

bool one_line(std::string_view text) {
    return text.find_first_of("\r\n") == std::string_view::npos;
}

void make(const token_arguments& with) {
    const auto scopes = http::parse_scopes(with.scopes);
    if (!scopes) refuse(scopes.error());
    if (const auto why = http::tenant_fault(with.tenant); !why.empty()) {
        throw usage_error("--tenant: " + why);
    }
    if (!one_line(with.comment)) throw usage_error("--comment must be one line");
    const std::string token = config::new_token();
    const config::token_line line{.hash = fingerprint::raw(token),
                                  .gives = {.tenant = with.tenant, .may = *scopes},
                                  .created = now_text(),
                                  .comment = with.comment};
    if (auto done = config::append_token(with.file, line); !done) refuse(done.error());
    std::cout << token << '\n';
    std::cerr << "This is the only time the token is shown. Its id is " << line.id()
              << ". A running server that has " << with.file
              << " takes the token within seconds.\n";
}

void list(const token_arguments& with) {
    const auto file = config::read_tokens(with.file);
    if (!file) refuse(file.error());
    for (const config::token_line& one : file->lines) {
        std::cout << one.id() << "  " << one.gives.tenant << "  " << http::to_string(one.gives.may)
                  << "  " << one.created << (one.comment.empty() ? "" : "  ") << one.comment
                  << '\n';
    }
}

void revoke(const token_arguments& with) {
    if (with.id.size() < 6) throw usage_error("an id has at least 6 digits");
    const auto gone = config::revoke_token(with.file, with.id);
    if (!gone) refuse(gone.error());
    if (*gone == 0) throw usage_error("no token has the id " + with.id);
    std::cout << "revoked: a running server refuses it within seconds\n";
}

} // namespace

void add_token_commands(CLI::App& tool) {
    const auto with = std::make_shared<token_arguments>();
    CLI::App& command = *tool.add_subcommand("token", "Make, list and revoke bearer tokens");
    command.require_subcommand(1);
    const auto add = [&](const char* name, const char* about) {
        CLI::App* const one = command.add_subcommand(name, about);
        one->add_option("--tokens", with->file, "file that holds their hashes")
            ->capture_default_str();
        return one;
    };

    CLI::App* const make_one = add("new", "Print a new token once, and keep its hash");
    make_one->add_option("--tenant", with->tenant, "whose keys it is for")->required();
    make_one->add_option("--scope", with->scopes, "what it may do: use, read, operate, admin")
        ->capture_default_str();
    make_one->add_option("--comment", with->comment, "who has it, for instance");
    make_one->callback([with] { make(*with); });

    add("list", "Print ids, tenants and scopes")->callback([with] { list(*with); });

    CLI::App* const revoke_one = add("revoke", "Forget a token");
    revoke_one->add_option("id", with->id, "as list prints it")->required();
    revoke_one->callback([with] { revoke(*with); });
}

} // namespace semel::app
