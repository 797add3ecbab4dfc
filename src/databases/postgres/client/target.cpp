#include "databases/postgres/client/target.hpp"

#include <libpq-fe.h>

#include <algorithm>
#include <charconv>
#include <memory>

namespace semel::postgres {

namespace {

struct free_options {
    void operator()(PQconninfoOption* it) const { PQconninfoFree(it); }
};

struct free_text {
    void operator()(char* it) const { PQfreemem(it); }
};

// What is quoted may be a part of a password in which "?" is not escaped.
bool quotes_a_name(std::string_view words) {
    const std::size_t begin = words.find('"');
    if (begin == std::string_view::npos) return true;
    const std::string_view rest = words.substr(begin + 1);
    const std::string_view name = rest.substr(0, rest.find('"'));
    return std::all_of(name.begin(), name.end(),
                       [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; });
}

failure unreadable(std::string_view words) {
    // Most of libpq's complaints quote the URL or the part with the password.
    const bool safe = words.find("URI query parameter") != std::string_view::npos &&
                      words.find("://") == std::string_view::npos && quotes_a_name(words);
    std::string detail = "postgres: the store URL cannot be read";
    if (safe) detail += ": " + std::string{words.substr(0, words.find('\n'))};
    detail +=
        "; write postgres://user:password@host:port/database?name=value, with %XX for special "
        "characters";
    return {.code = errc::invalid_argument, .possible = effect::none, .detail = std::move(detail)};
}

void add_default(target& to, std::string_view name, std::string value) {
    const bool given = std::any_of(to.settings.begin(), to.settings.end(),
                                   [&](const auto& one) { return one.first == name; });
    if (!given) to.settings.emplace_back(name, std::move(value));
}

std::string milliseconds(duration length) {
    return std::to_string(std::chrono::ceil<std::chrono::milliseconds>(length).count());
}

// A server that vanishes without a word is noticed by TCP itself, not only by our deadline.
void add_network_defaults(target& to) {
    add_default(to, "keepalives_idle", "10");
    add_default(to, "keepalives_interval", "5");
    add_default(to, "keepalives_count", "3");
    add_default(to, "tcp_user_timeout", milliseconds(to.answer_timeout));
    add_default(to, "fallback_application_name", "semel");
}

} // namespace

result<target> read_target(const target_options& options) {
    char* complaint = nullptr;
    const std::unique_ptr<PQconninfoOption, free_options> parsed{
        PQconninfoParse(std::string{options.url}.c_str(), &complaint)};
    const std::unique_ptr<char, free_text> owned{complaint};
    if (parsed == nullptr) return unreadable(complaint == nullptr ? "" : complaint);

    target made{.settings = {},
                .connect_timeout = options.connect_timeout,
                .answer_timeout = options.answer_timeout,
                .lock_timeout = options.lock_timeout,
                .mode = options.mode};
    for (const PQconninfoOption* one = parsed.get(); one->keyword != nullptr; ++one) {
        if (one->val != nullptr) made.settings.emplace_back(one->keyword, one->val);
    }
    for (const auto& [name, value] : made.settings) {
        int seconds = 0;
        // libpq would repeat it, and where the "@" is missing it is the password.
        const bool digits = value.find_first_not_of("0123456789,") == std::string::npos;
        if (name == "port" && !digits) return unreadable("");
        if (name != "connect_timeout") continue;
        std::from_chars(value.data(), value.data() + value.size(), seconds);
        if (seconds > 0) made.connect_timeout = std::chrono::seconds{seconds};
    }
    add_network_defaults(made);
    return made;
}

} // namespace semel::postgres
