// The Redis server that ./test has started, seen past the store: to look at it, and to clean up.
#pragma once

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "databases/redis/client/link.hpp"
#include "semel/databases/redis.hpp"

namespace semel::test {

// Where a server of the tests listens: the value of an environment variable that ./test sets.
inline std::string server_url(const char* variable) {
    const char* const url = std::getenv(variable);
    if (url != nullptr) return url;
    throw std::runtime_error(std::string{variable} +
                             " is not set: `./test stores` and `./test conformance` start the "
                             "servers they need, or use `tools/servers run redis -- COMMAND`");
}

// redis://host:port, as tools/servers prints it.
inline redis_store_options options_of(std::string_view url) {
    redis_store_options made;
    made.tls = url.starts_with("rediss:");
    url.remove_prefix(url.find("//") + 2);
    const std::size_t colon = url.rfind(':');
    made.host = url.substr(0, colon);
    made.port = static_cast<std::uint16_t>(std::stoul(std::string{url.substr(colon + 1)}));
    return made;
}

// Another one every time, so that nobody meets the records of others.
inline std::string fresh_prefix() {
    static std::atomic<unsigned> last = 0;
    return "test:" + std::to_string(::getpid()) + "-" + std::to_string(++last) + ":";
}

// A plain client. Throws where the server does not answer as it should.
class redis_client {
public:
    explicit redis_client(const redis_store_options& options)
        : on_({.connect = redis::make_transport_maker(options).value(),
               .user = options.user,
               .password = options.password,
               .database = options.database}) {}

    // The whole reply as text, array items one per line.
    std::string ask(const std::vector<std::string_view>& parts) {
        const auto got = on_.ask(parts);
        if (!got) throw std::runtime_error(describe(got.error()));
        return text_of(**got);
    }

    std::vector<std::string> list(const std::vector<std::string_view>& parts) {
        const auto got = on_.ask(parts);
        if (!got) throw std::runtime_error(describe(got.error()));
        std::vector<std::string> made;
        for (const auto& one : (*got)->items) made.push_back(text_of(one));
        return made;
    }

    // The value of `name:value` in INFO.
    std::string info(std::string_view name) {
        const std::string all = ask({"INFO", "everything"});
        const std::string line = "\n" + std::string{name} + ":";
        const std::size_t at = all.find(line) + line.size();
        return all.substr(at, all.find('\r', at) - at);
    }

    void remove_all(const std::string& prefix) {
        for (const auto& key : list({"KEYS", prefix + "*"})) ask({"UNLINK", key});
    }

private:
    static std::string text_of(const redis::value& one) {
        if (one.is(redis::value::type::integer)) return std::to_string(one.integer);
        std::string made{one.text};
        for (const auto& item : one.items) made += text_of(item) + "\n";
        return made;
    }

    redis::link on_;
};

} // namespace semel::test
