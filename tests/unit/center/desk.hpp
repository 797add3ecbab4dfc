// A center on a memory store whose time, threads and faults are the test's: requests in, responses
// out, no sockets.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "edge/center/center.hpp"
#include "semel/store/memory.hpp"
#include "support/faulty_store.hpp"
#include "support/manual_runtime.hpp"

namespace semel::edge::center_test {

using json = nlohmann::json;

// A store that reads the time from the runtime of the test.
class clocked_store final : public store {
public:
    clocked_store(const runtime& by, std::shared_ptr<bool> blind)
        : by_(by), blind_(std::move(blind)) {}

    void submit(envelope what, completion done) override {
        what.now = now();
        inner_->submit(std::move(what), std::move(done));
    }
    result<sweep_report> sweep(const sweep_request& request) override {
        return inner_->sweep(request);
    }
    result<std::vector<audit_entry>> audit(const record_id& id) override {
        return inner_->audit(id);
    }
    result<record_page> search(const record_query& query) override {
        if (*blind_) return failure{.code = errc::unavailable};
        record_query timed = query;
        timed.now = now();
        return inner_->search(timed);
    }
    [[nodiscard]] store_traits traits() const override { return inner_->traits(); }

private:
    [[nodiscard]] time_point now() const {
        return time_point{std::chrono::sys_days{std::chrono::year{2026} / 1 / 31}} +
               by_.now().time_since_epoch();
    }

    const runtime& by_;
    const std::shared_ptr<bool> blind_; // shared with the test
    const std::unique_ptr<store> inner_ = open_memory_store();
};

struct answer_of {
    int status = 0;
    json body = {};
    http::header_list headers = {};
};

class desk {
public:
    explicit desk(center_options options = {}) {
        options.grant_of = [](std::string_view token) -> std::optional<http::grant> {
            using http::scope;
            if (token == "acme") return {{"acme", http::scope_set{scope::use, scope::read}}};
            if (token == "bolt") return {{"bolt", http::scope_set{scope::use, scope::read}}};
            if (token == "user") return {{"acme", http::scope_set{scope::use}}};
            if (token == "reader") return {{"acme", http::scope_set{scope::read}}};
            if (token == "admin") return {{"ops", http::scope_set{scope::admin}}};
            return std::nullopt;
        };
        center.emplace(store, runtime, std::move(options));
    }
    ~desk() {
        center->stop_waiting();
        settle();
    }

    struct sent {
        std::string token = "acme";
        std::string method = "POST";
        std::string type = "application/json";
    };

    // An answer that comes later is in `late`.
    std::optional<answer_of> send(std::string path, std::string body, const sent& how) {
        auto got = std::make_shared<std::optional<answer_of>>();
        http::request_head head{.method = how.method, .target = std::move(path)};
        if (!how.token.empty()) head.headers.add("Authorization", "Bearer " + how.token);
        if (!how.type.empty()) head.headers.add("Content-Type", how.type);
        center->serve({.what = {.head = std::move(head), .body = std::move(body)}},
                      [got](http::response made) {
                          *got = answer_of{.status = made.status,
                                           .body = json::parse(made.body),
                                           .headers = std::move(made.headers)};
                      });
        late.push_back(got);
        return *got;
    }
    answer_of post(std::string path, const json& body, std::string token = "acme") {
        return send(std::move(path), body.dump(), {.token = std::move(token)})
            .value_or(answer_of{.status = -1});
    }
    answer_of get(std::string path, std::string token = "acme") {
        return send(std::move(path), "", {.token = std::move(token), .method = "GET", .type = ""})
            .value_or(answer_of{.status = -1});
    }

    // The same for answers that come from another thread.
    answer_of search(const std::string& query, const std::string& token = "acme") {
        get("/v1/records" + query, token);
        runtime.run_posted();
        return late.back()->value_or(answer_of{.status = -1});
    }

    // begin of ORDER/key; its attempt, or nothing.
    std::string begin(const std::string& key) {
        const auto got = post("/v1/begin", {{"operation", "ORDER"}, {"key", key}});
        return got.status == 200 ? got.body.value("attempt", "") : "";
    }
    static json of(const std::string& key, const std::string& attempt, json more = json::object()) {
        more["operation"] = "ORDER";
        more["key"] = key;
        if (!attempt.empty()) more["attempt"] = attempt;
        return more;
    }

    void pass(duration time) { runtime.pass(time); }
    void settle() {
        runtime.run_posted();
        runtime.pass(std::chrono::minutes{1});
    }

    support::manual_runtime runtime;
    std::shared_ptr<support::store_script> script = std::make_shared<support::store_script>();
    std::shared_ptr<bool> blind = std::make_shared<bool>(false); // searches fail
    support::faulty_store store{std::make_unique<clocked_store>(runtime, blind), script};
    std::vector<std::shared_ptr<std::optional<answer_of>>> late;
    std::optional<edge::center> center;
};

inline std::string problem_of(const answer_of& got) {
    const std::string type = got.body.value("type", "");
    const std::string base = "urn:semel:problem:";
    return type.starts_with(base) ? type.substr(base.size()) : type;
}

} // namespace semel::edge::center_test
