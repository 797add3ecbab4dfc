#include <chrono>
#include <iostream>
#include <memory>

#include "base/rfc3339.hpp"
#include "commands.hpp"
#include "semel/ids.hpp"

namespace semel::app {
namespace {

// 2016-07-30T23:54:10.259Z
std::string iso8601(std::uint64_t milliseconds) {
    const std::chrono::milliseconds since{static_cast<std::int64_t>(milliseconds)};
    return rfc3339(time_point{since}, time_step::milliseconds);
}

void print_field(std::string_view name, std::string_view value) {
    std::cout << name << std::string(name.size() < 10 ? 10 - name.size() : 1, ' ') << value << '\n';
}

void print_bits(uuid128 value) {
    const std::string uuid = value.to_string();
    std::string hex;
    for (const char c : uuid) {
        if (c != '-') hex += c;
    }
    print_field("uuid", uuid);
    print_field("hex", hex);
}

void show_ulid(const ulid& id) {
    print_field("kind", "ulid");
    print_field("id", id.to_string());
    print_bits(id.value());
    print_field("time", iso8601(id.milliseconds()));
}

void show_type_id(const type_id& id) {
    print_field("kind", "typeid");
    print_field("prefix", id.prefix);
    print_field("id", id.to_string());
    print_bits(id.value);
    print_field("version", std::to_string(id.value.version()));
    if (id.value.version() == 7) print_field("time", iso8601(id.value.milliseconds()));
}

// Without a prefix both kinds look alike; such an id is taken for a ULID.
void show(const std::string& text) {
    if (text.find('_') == std::string::npos) {
        const result<ulid> id = ulid::parse(text);
        if (!id) throw usage_error(id.error().detail);
        show_ulid(*id);
    } else {
        const result<type_id> id = type_id::parse(text);
        if (!id) throw usage_error(id.error().detail);
        show_type_id(*id);
    }
}

void print_new(const std::string& prefix) {
    if (prefix.empty()) {
        std::cout << new_ulid().to_string() << '\n';
        return;
    }
    const result<type_id> id = type_id::generate(prefix);
    if (!id) throw usage_error(id.error().detail);
    std::cout << id->to_string() << '\n';
}

} // namespace

void add_id_commands(CLI::App& tool) {
    CLI::App& command = *tool.add_subcommand("id", "Make and read public ids");
    command.require_subcommand(1);

    auto prefix = std::make_shared<std::string>();
    CLI::App& make = *command.add_subcommand("new", "Print a new id");
    make.add_option("prefix", *prefix, "kind of thing, such as order; without it a ULID is made");
    make.callback([prefix] { print_new(*prefix); });

    auto text = std::make_shared<std::string>();
    CLI::App& read = *command.add_subcommand("show", "Print what an id is made of");
    read.add_option("id", *text, "a ULID or a TypeID")->required();
    read.callback([text] { show(*text); });
}

} // namespace semel::app
