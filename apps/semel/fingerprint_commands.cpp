#include <iostream>
#include <map>
#include <memory>

#include <unistd.h>

#include "choices.hpp"
#include "commands.hpp"
#include "input.hpp"
#include "semel/fingerprint.hpp"

namespace semel::app {
namespace {

enum class content { none, json, raw, form };

struct content_arguments {
    content kind = content::json;
    json_pointers pointers = {};
    std::string numbers = "exact-large";
    std::string secret_file = {};
};

const std::map<std::string, number_profile>& number_profiles() {
    static const std::map<std::string, number_profile> profiles{
        {"exact-large", number_profile::exact_large},
        {"exact", number_profile::exact},
        {"rfc8785", number_profile::rfc8785},
    };
    return profiles;
}

canonical_options canonical_from(const content_arguments& arguments) {
    auto selection = json_selection::parse(arguments.pointers);
    if (!selection) throw usage_error(selection.error().detail);
    const auto profile = number_profiles().find(arguments.numbers);
    if (profile == number_profiles().end()) {
        throw usage_error("--numbers is exact-large, exact or rfc8785, not '" + arguments.numbers +
                          "'");
    }
    return {.selection = *std::move(selection),
            .numbers = profile->second,
            .text_bytes_max = std::size_t{512} << 20U};
}

std::string canonical_input(const content_arguments& arguments) {
    const canonical_options options = canonical_from(arguments);
    result<std::string> form = canonical_json(read_standard_input(), options);
    if (!form) throw usage_error("cannot canonicalise the input: " + form.error().detail);
    return *std::move(form);
}

// The bytes of the file without the line end that editors add.
std::string secret_from(const std::string& path) {
    if (path.empty()) return {};
    std::string secret = read_file(path);
    if (secret.ends_with('\n')) secret.pop_back();
    if (secret.empty()) throw usage_error("the secret in " + path + " is empty");
    return secret;
}

void print_canonical(const content_arguments& arguments) {
    std::cout << canonical_input(arguments);
    // A line end is not part of the form; it is there for people, not for pipes.
    if (isatty(STDOUT_FILENO) == 1) std::cout << '\n';
}

void print_fingerprint(const content_arguments& arguments) {
    const bool pointers = !arguments.pointers.select.empty() || !arguments.pointers.ignore.empty();
    if (pointers && arguments.kind != content::json) {
        throw usage_error("--select and --ignore need --json");
    }
    const digest_options options{.secret = secret_from(arguments.secret_file)};
    switch (arguments.kind) {
    case content::none: throw usage_error("fingerprint needs one of --json, --raw and --form");
    // The form is computed here rather than by fingerprint::json, which would count a typing error
    // in the input as raw bytes.
    case content::json:
        std::cout << fingerprint::raw(canonical_input(arguments), options).hex() << '\n';
        return;
    case content::raw:
        std::cout << fingerprint::raw(read_standard_input(), options).hex() << '\n';
        return;
    case content::form:
        std::cout << fingerprint::form(read_standard_input(), options).hex() << '\n';
        return;
    }
}

void add_json_options(CLI::App& command, content_arguments& arguments) {
    command
        .add_option("--select", arguments.pointers.select,
                    "JSON pointer of a part that counts (repeatable; default: everything)")
        ->allow_extra_args(false);
    command
        .add_option("--ignore", arguments.pointers.ignore,
                    "JSON pointer of a part that does not count (repeatable)")
        ->allow_extra_args(false);
    one_of(command.add_option("--numbers", arguments.numbers,
                              "exact-large (default): numbers from 2^53 on stay exact; exact: all "
                              "do; rfc8785: none do"),
           {"exact-large", "exact", "rfc8785"});
}

void add_canonical(CLI::App& tool) {
    auto arguments = std::make_shared<content_arguments>();
    CLI::App& command = *tool.add_subcommand(
        "canonical", "Print the canonical form of the JSON document on standard input");
    add_json_options(command, *arguments);
    command.callback([arguments] { print_canonical(*arguments); });
}

void add_fingerprint(CLI::App& tool) {
    auto arguments = std::make_shared<content_arguments>();
    arguments->kind = content::none;
    CLI::App& command = *tool.add_subcommand(
        "fingerprint", "Print the SHA-256 of what matters in the body on standard input");
    const auto add_kind = [&](const std::string& flag, content kind, const std::string& help) {
        command.add_flag_callback(
            flag,
            [arguments, kind] {
                if (arguments->kind != content::none && arguments->kind != kind) {
                    throw usage_error("only one of --json, --raw and --form can be used");
                }
                arguments->kind = kind;
            },
            help);
    };
    add_kind("--json", content::json, "of the canonical JSON");
    add_kind("--raw", content::raw, "of the bytes as they are");
    add_kind("--form", content::form, "of the fields of an urlencoded form");
    add_json_options(command, *arguments);
    command.add_option("--secret-file", arguments->secret_file,
                       "use HMAC-SHA-256 under the secret in this file");
    command.callback([arguments] { print_fingerprint(*arguments); });
}

} // namespace

void add_fingerprint_commands(CLI::App& tool) {
    add_canonical(tool);
    add_fingerprint(tool);
}

} // namespace semel::app
