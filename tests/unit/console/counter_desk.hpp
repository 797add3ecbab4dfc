// A console on a memory store whose time and threads are the test's: requests in, responses out.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "center/desk.hpp"
#include "edge/console/access.hpp"
#include "edge/console/console.hpp"
#include "edge/console/cursor_seal.hpp"
#include "semel/http/response.hpp"

namespace semel::edge::console_test {

using namespace std::chrono_literals;
using json = nlohmann::json;

struct asked {
    std::string method = "GET";
    std::string path;
    http::header_list headers = {};
    std::string body = {};
};

class counter_desk {
public:
    explicit counter_desk(console_options options = {}) {
        options.grant_of = [this](std::string_view token) { return tokens.find(token); };
        options.grant_of_hash = [this](const fingerprint& hash) { return tokens.find(hash); };
        options.operations["PAY"] = {.holds = http::result_form::response};
        options.operations["SHIP"] = {.holds = http::result_form::plain};
        allow("admin", "ops", http::scope::admin);
        allow("reader", "acme", http::scope::read);
        allow("user", "acme", http::scope::use);
        pages.emplace(records, runtime, std::move(options));
    }
    ~counter_desk() { runtime.run_posted(); }

    void allow(std::string_view token, std::string tenant, http::scope scope) {
        const http::grant gives{.tenant = std::move(tenant), .may = http::scope_set{scope}};
        EXPECT_TRUE(tokens.add(fingerprint::raw(token), gives));
    }

    http::response send(asked what) {
        http::response got{.status = -1};
        pages->requests()({.what = {.head = {.method = std::move(what.method),
                                             .target = std::move(what.path),
                                             .headers = std::move(what.headers)},
                                    .body = std::move(what.body)}},
                          [&](http::response made) { got = std::move(made); });
        runtime.run_posted();
        return got;
    }

    struct answered {
        int status = 0;
        json body = {};
    };
    // As a program does, with a bearer token.
    answered api(std::string path, std::string token = "admin") {
        return read(send({.path = api_at(std::move(path)),
                          .headers = {{"Authorization", "Bearer " + std::move(token)}}}));
    }
    answered post(std::string path, const json& body, std::string token = "admin") {
        return read(send({.method = "POST",
                          .path = api_at(std::move(path)),
                          .headers = {{"Authorization", "Bearer " + std::move(token)},
                                      {"Content-Type", "application/json"}},
                          .body = body.dump()}));
    }

    // A browser that has signed in.
    struct browser {
        std::string cookie;
        std::string csrf;
    };
    browser sign_in(const std::string& token) {
        const auto got = send({.method = "POST",
                               .path = api_at("session"),
                               .headers = {{"Content-Type", "application/json"},
                                           {"Host", "here:7071"},
                                           {"Origin", "http://here:7071"}},
                               .body = json{{"token", token}}.dump()});
        if (got.status != 200) return {};
        const std::string line = *got.headers.find("Set-Cookie");
        return {.cookie = line.substr(0, line.find(';')),
                .csrf = json::parse(got.body).at("csrf").get<std::string>()};
    }
    static asked with(const browser& who, asked what) {
        what.headers.add("Cookie", who.cookie);
        what.headers.add("Host", "here:7071");
        return what;
    }

    static std::string api_at(std::string path) { return "/admin/api/v1/" + std::move(path); }
    static answered read(const http::response& got) {
        return {.status = got.status, .body = json::parse(got.body, nullptr, false)};
    }

    // Begun by somebody who never came back.
    std::uint64_t stuck(const record_id& id) {
        const auto got =
            records.call(id, commands::begin{.content = fingerprint::raw("body"),
                                             .owner = {.high = 1, .low = 1},
                                             .lease = 1s,
                                             .policy = {.on_lease_expiry = lease_expiry::hold}});
        const auto fence = std::get<answers::started>(got.value().said).by.fence;
        runtime.pass(5s);
        return fence;
    }

    support::manual_runtime runtime;
    center_test::clocked_store records{runtime, std::make_shared<bool>(false)};
    http::token_table tokens;
    std::optional<console> pages;
};

inline const record_id payment{.tenant = "acme", .operation = "PAY", .key = "p 1"};
inline const std::string payment_at = "tenant=acme&operation=PAY&key=p%201";

} // namespace semel::edge::console_test
