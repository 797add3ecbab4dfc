// Whatever password a parser of URLs takes, no place that shows the URL shows a byte of it.
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "config/load.hpp"
#include "databases/postgres/client/target.hpp"
#include "nats/nats.hpp"
#include "net/shown_url.hpp"
#include "open/targets.hpp"
#include "semel/outbox/sinks.hpp"

namespace semel {
namespace {

constexpr std::string_view marks = "XQZ"; // in passwords, and nowhere else in a URL
constexpr int rounds = 3'000;

using password = std::optional<std::string>; // none: the parser refuses the URL

result<net::parsed_url> read(const std::string& url, std::string& said) {
    auto made = net::parse_url(url);
    if (!made) said = made.error().detail;
    return made;
}

template <class Options> password of(const result<Options>& made, std::string& said) {
    if (made) return made->password;
    said = made.error().detail;
    return std::nullopt;
}

password of_redis(const std::string& url, std::string& said) {
    const auto parsed = read(url, said);
    return parsed ? of(redis_target(*parsed, {}), said) : std::nullopt;
}

password of_mysql(const std::string& url, std::string& said) {
    const auto parsed = read(url, said);
    return parsed ? of(mysql_target(*parsed, {}), said) : std::nullopt;
}

password of_nats(const std::string& url, std::string& said) {
    const auto parsed = read(url, said);
    if (!parsed) return std::nullopt;
    net::url_parameters given{*parsed};
    return of(nats::read_connection(*parsed, given), said);
}

password of_postgres(const std::string& url, std::string& said) {
    const auto parsed = read(url, said);
    if (!parsed) return std::nullopt;
    const auto options = postgres_target(*parsed, {});
    if (!options) return said = options.error().detail, std::nullopt;
    const auto target = postgres::read_target({.url = options->url});
    if (!target) return said = target.error().detail, std::nullopt;
    std::string all;
    for (const auto& [name, value] : target->settings) {
        if (name == "password" || name == "sslpassword") all += value;
    }
    return all;
}

password of_tiered(const std::string& url, std::string& said) {
    const auto parsed = read(url, said);
    if (!parsed) return std::nullopt;
    const auto both = tiered_target(*parsed);
    if (!both) return said = both.error().detail, std::nullopt;
    const auto front = of_redis(both->front, said);
    const auto truth = of_mysql(both->truth, said);
    return front && truth ? password{*front + *truth} : std::nullopt;
}

password of_webhook(const std::string& url, std::string& said) {
    const auto made = outbox::open_sink(url);
    if (!made) return said = made.error().detail, std::nullopt;
    return url;
}

struct form {
    std::string before;
    std::string after;
    password (*read)(const std::string& url, std::string& said);
};

const std::vector<form>& forms() {
    static const std::vector<form> all{
        {"redis://:", "@host:6379/0?lanes=2", of_redis},
        {"rediss://user:", "@host", of_redis},
        {"mysql://user:", "@host:3306/db", of_mysql},
        {"mariadb://user:", "@host/db?lanes=2", of_mysql},
        {"nats://user:", "@host:4222,other:4222", of_nats},
        {"nats+tls://user:", "@host", of_nats},
        {"postgres://user:", "@host:5432/db", of_postgres},
        {"postgresql://user:", "@host/db?sslmode=disable", of_postgres},
        {"postgres://user@host/db?password=", "&lanes=2", of_postgres},
        {"postgres://user@host/db?lanes=2&sslpassword=", "", of_postgres},
        {"tiered:?front=redis://:", "@host/0&truth=mysql://u:p@host/db", of_tiered},
        {"tiered:?truth=mysql://u:", "@host/db&front=redis://host/0", of_tiered},
        {"http://host:8080/hooks/", "", of_webhook},
        {"http://host/hook?token=", "&a=b", of_webhook},
    };
    return all;
}

class dice {
public:
    explicit dice(unsigned seed) : random_(seed) {}

    std::size_t below(std::size_t count) {
        return std::uniform_int_distribution<std::size_t>{0, count - 1}(random_);
    }

    // Odd bytes of every kind, with marks around and between them.
    std::string secret() {
        constexpr std::string_view odd = "/?&@:#%=+,;[]\\'\"<>{}|^`~!$()*. -_";
        std::string made{marks.substr(below(3), 1)};
        for (std::size_t left = 1 + below(8); left > 0; --left) {
            made += below(8) == 0 ? static_cast<char>(1 + below(255)) : odd[below(odd.size())];
            made += marks[below(3)];
        }
        return made;
    }

    // As a person may have written it: nothing escaped, something, everything.
    std::string written(const std::string& secret) {
        static constexpr std::string_view digits = "0123456789abcdef";
        const std::size_t share = below(3);
        std::string made;
        for (const char one : secret) {
            const auto byte = static_cast<unsigned char>(one);
            if (share == 2 || (share == 1 && below(2) == 0)) {
                made += {'%', digits[byte >> 4U], digits[byte & 15U]};
            } else {
                made += one;
            }
        }
        return made;
    }

private:
    std::mt19937 random_;
};

// With every %XX resolved, as often as there are any.
std::string plain(std::string text) {
    for (std::size_t at = text.find('%'); at != std::string::npos; at = text.find('%', at + 1)) {
        const std::string two = text.substr(at + 1, 2);
        if (two.size() < 2 ||
            two.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos) {
            continue;
        }
        text.replace(at, 3, 1, static_cast<char>(std::stoi(two, nullptr, 16)));
        if (text[at] == '%') --at;
    }
    return text;
}

bool shows_a_mark(const std::string& text) {
    return plain(text).find_first_of(marks) != std::string::npos;
}

// Messages have words with marks in them.
std::string without_own_words(std::string said) {
    for (const std::string_view word : {"MySQL", "%XX"}) {
        for (auto at = said.find(word); at != std::string::npos; at = said.find(word)) {
            said.erase(at, word.size());
        }
    }
    return said;
}

TEST(ShownSecrets, NoPasswordThatAParserTakesIsShown) {
    dice random{20'261'118};
    std::vector<int> taken(forms().size());
    for (int round = 0; round < rounds; ++round) {
        const std::size_t which = random.below(forms().size());
        const form& it = forms()[which];
        const std::string url = it.before + random.written(random.secret()) + it.after;

        std::string said;
        const password got = it.read(url, said);

        if (got) taken[which] += shows_a_mark(*got) ? 1 : 0;
        EXPECT_FALSE(shows_a_mark(net::shown_url(url))) << url << " as " << net::shown_url(url);
        EXPECT_FALSE(shows_a_mark(without_own_words(said))) << url << " said " << said;
    }
    for (std::size_t i = 0; i < taken.size(); ++i) {
        EXPECT_GT(taken[i], 10) << "too few passwords were taken: " << forms()[i].before;
    }
}

TEST(ShownSecrets, NoPasswordIsInTheEffectiveConfiguration) {
    dice random{7};
    for (int round = 0; round < rounds / 10; ++round) {
        const form& it = forms()[random.below(forms().size())];
        const std::string url = it.before + random.written(random.secret()) + it.after;
        const config::secret hidden{.written = url, .text = url};
        config::config with;
        with.store.url = with.store.front = with.alerts.webhook = hidden;
        with.relays.push_back({.store = hidden, .sink = hidden});
        with.tenants.header.name = "tenant"; // without a mark, unlike the default

        EXPECT_FALSE(shows_a_mark(config::show(with))) << url;
    }
}

// What a person mistypes may be the password too.
TEST(ShownSecrets, NoPartOfAWrongUrlIsRepeated) {
    dice random{11};
    for (int round = 0; round < rounds; ++round) {
        const form& it = forms()[random.below(forms().size())];
        std::string url = it.before + random.written(random.secret()) + it.after;
        const std::size_t cut =
            it.before.find("//") == std::string::npos ? 8 : it.before.find("//");
        url.erase(cut + random.below(url.size() - cut), 1);

        std::string said;
        static_cast<void>(it.read(url, said));

        EXPECT_FALSE(shows_a_mark(without_own_words(said))) << url << " said " << said;
    }
}

} // namespace
} // namespace semel
