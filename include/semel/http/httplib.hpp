// Protects routes of a cpp-httplib server:
//
//   semel::http::httplib_guard guard{engine, gate};
//   server.Post("/orders", guard.protect([&](const httplib::Request& request,
//                                            httplib::Response& response) {
//       response.status = 201;
//       response.set_content(create_order(request.body), "application/json");
//   }));
//
// A first request runs the handler; its repeats get the first answer. The gate decides which
// requests are protected, and how. docs/http.md says what clients see. Give the engine the gate's
// policies: engine_options{.operations = gate.operations()}.
//
// A program that includes this header needs cpp-httplib (0.11).
#pragma once

#include <httplib.h>

#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "semel/engine.hpp"
#include "semel/http/exchange.hpp"
#include "semel/http/framing.hpp"
#include "semel/http/httplib_messages.hpp"
#include "semel/http/route.hpp"
#include "semel/http/routed_response.hpp"
#include "semel/http/tenant.hpp"
#include "semel/transaction.hpp"

namespace semel::http {

struct httplib_options {
    // Decides whether the tenant_header of a request is trusted. Empty: of no request.
    std::function<peer_trust(const ::httplib::Request&)> trust = {};
    head_options heads = {};
};

// Thread-safe. The engine outlives the guard, and the guard outlives the server. Handlers run on
// the server's threads.
class httplib_guard {
public:
    using handler = ::httplib::Server::Handler;

    httplib_guard(semel::engine& engine, gate by, httplib_options options = {})
        : engine_(engine), gate_(std::move(by)), options_(std::move(options)) {}

    // `work` takes (request, response) or (request, response, execution*). The execution is null if
    // the request passes unprotected. If `work` throws, the answer is a 500, and the operation's
    // policy decides about the record.
    template <class Work> [[nodiscard]] handler protect(Work work) const {
        return [this, work = std::move(work)](const ::httplib::Request& request,
                                              ::httplib::Response& answer) mutable {
            serve(request, answer, work, [this](semel::request&& what, auto& run) {
                return engine_.execute<detail::routed_response>(std::move(what), run);
            });
        };
    }

    // The same in one transaction with the handler's own rows: exactly once, whatever crashes.
    // `connect` returns this thread's transaction_port (sqlite_transaction …). A response that is
    // not kept rolls back. A request that passes unprotected runs outside of any transaction.
    template <class Connect, class Work>
    [[nodiscard]] handler transact(Connect connect, Work work) const {
        return [this, connect = std::move(connect), work = std::move(work)](
                   const ::httplib::Request& request, ::httplib::Response& answer) mutable {
            serve(request, answer, work, [this, &connect](semel::request&& what, auto& run) {
                auto&& port = connect();
                return engine_.transact<detail::routed_response>(port, std::move(what), run);
            });
        };
    }

private:
    template <class Work, class Execute>
    void serve(const ::httplib::Request& request, ::httplib::Response& answer, Work& work,
               const Execute& execute) const {
        const request_head head = detail::head_of(request);
        const auto framing = check_head(head, options_.heads);
        if (const auto* refused = std::get_if<refused_head>(&framing)) {
            const problem why{.kind = problem_kind::request_malformed,
                              .status = refused->status,
                              .detail = refused->detail};
            return detail::write_response(to_response(why, gate_.options().problems), answer);
        }
        const auto trust = options_.trust ? options_.trust(request) : peer_trust::untrusted;
        auto what = decide(gate_, head, detail::body_of(request), trust);
        if (auto* refused = std::get_if<refusal>(&what)) {
            return detail::write_response(std::move(refused->answer), answer);
        }
        if (auto* call = std::get_if<protected_call>(&what)) {
            return guarded(*call, request, answer, work, execute);
        }
        call_work(work, request, answer, nullptr);
    }

    template <class Work, class Execute>
    void guarded(protected_call& call, const ::httplib::Request& request,
                 ::httplib::Response& answer, Work& work, const Execute& execute) const {
        std::optional<response> own;
        bool called = false; // a handler that was called must not run unprotected as well
        auto run = [&](execution& running) -> verdict<detail::routed_response> {
            called = true;
            ::httplib::Response mine;
            call_work(work, request, mine, &running);
            response got = detail::response_of(mine);
            settled made = settle(call, full_answer{.got = got});
            own = std::move(made.own);
            return detail::as_verdict(std::move(made.end),
                                      {.got = std::move(got), .how = call.how});
        };
        try {
            const auto outcome = execute(semel::request{call.what}, run);
            if (!called && may_pass(call, outcome.raw())) {
                call_work(work, request, answer, nullptr);
                return answer.set_header("Idempotency-Protected", "false");
            }
            detail::write_response(answer_for(call, outcome.raw(), std::move(own)), answer);
        } catch (const response_released&) {
            detail::write_response(*std::move(own), answer);
        } catch (...) {
            const problem why{.kind = problem_kind::failed, .status = 500};
            detail::write_response(to_response(why, gate_.options().problems), answer);
        }
    }

    template <class Work>
    static void call_work(Work& work, const ::httplib::Request& request,
                          ::httplib::Response& answer, execution* running) {
        if constexpr (std::is_invocable_v<Work&, const ::httplib::Request&, ::httplib::Response&,
                                          execution*>) {
            work(request, answer, running);
        } else {
            work(request, answer);
        }
    }

    semel::engine& engine_;
    const gate gate_;
    const httplib_options options_;
};

} // namespace semel::http
