// An edge without a network: requests go in, a scripted service stands behind, answers come out.
// One thread; the store's clock is the test's.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "semel/engine.hpp"
#include "semel/http.hpp"
#include "semel/store/memory.hpp"
#include "support/faulty_store.hpp"
#include "support/manual_runtime.hpp"

namespace semel::http::edge_support {

// Gives every question the test's time.
class timed_store final : public store {
public:
    timed_store(std::unique_ptr<store> inner, std::shared_ptr<time_point> now)
        : inner_(std::move(inner)), now_(std::move(now)) {}

    void submit(envelope what, completion done) override {
        what.now = *now_;
        inner_->submit(std::move(what), std::move(done));
    }
    result<sweep_report> sweep(const sweep_request& request) override {
        return inner_->sweep(request);
    }
    result<std::vector<audit_entry>> audit(const record_id& id) override {
        return inner_->audit(id);
    }
    result<record_page> search(const record_query& query) override {
        record_query timed = query;
        if (!timed.now) timed.now = *now_;
        return inner_->search(timed);
    }
    [[nodiscard]] store_traits traits() const override { return inner_->traits(); }

private:
    std::unique_ptr<store> inner_;
    std::shared_ptr<time_point> now_; // shared with the edge
};

struct exchange {
    std::optional<response> answer;

    [[nodiscard]] std::string type() const {
        const std::string type = nlohmann::json::parse(answer->body)["type"];
        return std::to_string(answer->status) + " " + type.substr(type.rfind(':') + 1);
    }
    [[nodiscard]] bool replayed() const { return answer->headers.contains("Idempotent-Replayed"); }
};

class edge {
public:
    explicit edge(route how = {}, tenant_source tenants = single_tenant{"acme"})
        : edge(std::vector<route>{std::move(how)}, std::move(tenants)) {}

    edge(std::vector<route> routes, tenant_source tenants)
        : gate_(made(std::move(routes), std::move(tenants))),
          engine_(std::make_unique<support::faulty_store>(
                      std::make_unique<timed_store>(open_memory_store(), now_), script),
                  {}, options()) {}

    // What the service does with each request it gets; none: it has not answered yet.
    std::function<std::optional<upstream_result>(int nth)> service = [](int nth) {
        return full_answer{{.status = 201, .body = "order " + std::to_string(nth)}};
    };
    int executions = 0;
    std::shared_ptr<support::store_script> script = std::make_shared<support::store_script>();

    std::shared_ptr<exchange> send(request what, peer_trust peer = peer_trust::untrusted) {
        auto sent = std::make_shared<exchange>();
        decision made = decide(gate_, what.head, what.body, peer);
        if (auto* no = std::get_if<refusal>(&made)) sent->answer = std::move(no->answer);
        if (std::holds_alternative<pass_through>(made)) {
            sent->answer = std::get<full_answer>(*service(++executions)).got;
        }
        if (auto* call = std::get_if<protected_call>(&made)) start(std::move(*call), sent);
        return sent;
    }
    std::shared_ptr<exchange> post(std::string key, std::string body = "{}") {
        request_head head{.method = "POST",
                          .target = "/orders",
                          .headers = {{"Host", "a"}, {"Content-Type", "application/json"}}};
        if (!key.empty()) head.headers.add("Idempotency-Key", std::move(key));
        return send({.head = std::move(head), .body = std::move(body)});
    }

    // The service answers the oldest request it has.
    void answer(upstream_result with) {
        const auto end = std::move(held_.front());
        held_.pop_front();
        end(std::move(with));
        runtime_->run_posted();
    }
    [[nodiscard]] std::size_t held() const { return held_.size(); }

    // Time for the store and for this process.
    void pass(duration how_long) {
        *now_ += how_long;
        runtime_->pass(how_long);
    }
    [[nodiscard]] engine_counters counters() const { return engine_.counters(); }
    [[nodiscard]] std::size_t asked() const { return script->questions(); }

private:
    using ender = std::function<void(upstream_result)>;

    static gate made(std::vector<route> routes, tenant_source tenants) {
        if (routes.front().operation.empty()) routes.front().operation = "ORDER_CREATE";
        for (route& one : routes) one.policy.wait = wait_mode::answer;
        return gate::make({.routes = std::move(routes), .tenants = std::move(tenants)}).value();
    }
    engine_options options() {
        return {.operations = gate_.operations(), .log = null_logger(), .runtime = runtime_};
    }

    void start(protected_call call, const std::shared_ptr<exchange>& sent) {
        const auto kept = std::make_shared<protected_call>(std::move(call));
        const auto own = std::make_shared<std::optional<response>>();
        auto work = [this, kept, own](execution&, unique_function<void(work_end)> done) {
            const auto shared = std::make_shared<unique_function<void(work_end)>>(std::move(done));
            const ender end = [kept, own, shared](upstream_result with) {
                settled made = settle(*kept, std::move(with));
                *own = std::move(made.own);
                (*shared)(std::move(made.end));
            };
            auto with = service(++executions);
            if (!with) return held_.push_back(end);
            end(*std::move(with));
        };
        engine_.start(kept->what, std::move(work), [kept, own, sent](raw_outcome outcome) {
            sent->answer = answer_for(*kept, outcome, std::move(*own));
        });
        runtime_->run_posted();
    }

    // Ahead of the real clock, by which the engine's sweeper would go: it finds nothing.
    std::shared_ptr<time_point> now_ =
        std::make_shared<time_point>(std::chrono::hours{24 * 365 * 130}); // shared with the store
    std::shared_ptr<support::manual_runtime> runtime_ =
        std::make_shared<support::manual_runtime>(); // shared with the engine
    gate gate_;
    engine engine_;
    std::deque<ender> held_; // dropped before the engine goes: what was not answered is unknown
};

} // namespace semel::http::edge_support
