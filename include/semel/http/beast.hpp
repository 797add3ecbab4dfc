// Protects routes of a Boost.Beast server:
//
//   semel::http::beast_guard guard{engine, gate};
//   auto orders = guard.protect(
//       [&](const beast_request& request) -> asio::awaitable<beast_response> { … });
//
// and in the coroutine of a connection:
//
//   auto reading = guard.read(stream, buffer);
//   auto request = co_await std::move(reading);          // none: the client has gone
//   auto answering = orders(*std::move(request));
//   auto answer = co_await std::move(answering);
//   co_await http::async_write(stream, answer, asio::use_awaitable);
//
// With callbacks: asio::co_spawn(executor, orders(std::move(request)), handler). Nothing blocks: a
// repeat that waits for the first request holds no thread. Name objects before they are awaited, as
// above: g++ 12 destroys some temporaries of a co_await expression twice.
//
// A first request runs the handler; its repeats get the first answer. The gate decides which
// requests are protected, and how. docs/http.md says what clients see. Give the engine the gate's
// policies: engine_options{.operations = gate.operations()}.
//
// A program that includes this header needs Boost (1.81).
#pragma once

#include <boost/asio/awaitable.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include "semel/asio.hpp"
#include "semel/engine.hpp"
#include "semel/http.hpp"
#include "semel/http/beast/messages.hpp"
#include "semel/http/message.hpp"
#include "semel/http/route.hpp"
#include "semel/http/tenant.hpp"
#include "semel/transaction.hpp"

namespace semel::http {

struct beast_guard_options {
    // Decides whether the tenant_header of a request is trusted. Empty: of no request.
    std::function<peer_trust(const beast_request&)> trust = {};
    beast_read_options reading = {};
};

// Thread-safe. The engine outlives the guard, and the guard outlives its calls. Handlers run on the
// executor of the coroutine that calls the route: use one strand or one single-threaded loop for
// each connection.
class beast_guard {
public:
    beast_guard(semel::engine& engine, gate by, beast_guard_options options = {})
        : engine_(engine), gate_(std::move(by)), options_(std::move(options)) {}

    // The next request of a connection, or none if the client has gone. Stricter than Beast: see
    // http/beast/messages.hpp.
    template <class Stream>
    [[nodiscard]] boost::asio::awaitable<std::optional<beast_incoming>>
    read(Stream& stream, boost::beast::flat_buffer& buffer) const {
        return detail::read_strictly(stream, buffer, options_.reading);
    }

    // `work` takes (request) or (request, execution*), and returns a beast_response or an awaitable
    // of one. The execution is null if the request passes unprotected. If `work` throws, the answer
    // is a 500, and the operation's policy decides about the record. protect() returns a callable
    // awaitable<beast_response>(beast_incoming).
    template <class Work> [[nodiscard]] auto protect(Work work) const {
        return [this, work = std::make_shared<Work>(std::move(work))](beast_incoming in) {
            return serve(std::make_shared<call<Work>>(std::move(in), work),
                         [this](auto state) { return this->in_engine(std::move(state)); });
        };
    }

    // The same in one transaction with the handler's own rows: exactly once, whatever crashes.
    // `connect` returns a transaction handle (sqlite_transaction …) for the thread on which it is
    // called. Databases block, so `connect` and `work` run on `blocking`, such as a thread_pool's
    // executor, and `work` returns a plain beast_response. Join that pool before the connections'
    // loop is destroyed. A response that is not kept rolls back. A request that passes unprotected
    // runs on `blocking`, too, but outside of any transaction.
    template <class Executor, class Connect, class Work>
    [[nodiscard]] auto transact(Executor blocking, Connect connect, Work work) const {
        auto port = std::make_shared<Connect>(std::move(connect));
        return [this, blocking, port,
                work = std::make_shared<Work>(std::move(work))](beast_incoming in) {
            return serve(std::make_shared<call<Work>>(std::move(in), work), [this, blocking,
                                                                             port](auto state) {
                auto task = [this, port, state] { return transacted(*port, *state); };
                return semel::detail::run_on<beast_response>(blocking, std::move(task));
            });
        };
    }

private:
    // Shared by the coroutine that serves and by the work, which may go on without that coroutine.
    template <class Work> struct call {
        call(beast_incoming request, std::shared_ptr<Work> handler)
            : in(std::move(request)), work(std::move(handler)) {}
        const beast_incoming in;
        const std::shared_ptr<Work> work;        // shared by all calls of the route
        std::optional<protected_call> made = {}; // none: passes unprotected
        std::optional<response> own = {};
        bool called = false; // a handler that was called must not run unprotected as well
    };

    template <class Work, class Execute>
    boost::asio::awaitable<beast_response> serve(std::shared_ptr<call<Work>> state,
                                                 Execute execute) const {
        if (auto refused = admit(*state)) {
            co_return detail::to_beast(std::move(refused->answer), state->in.then());
        }
        try {
            auto op = execute(state);
            beast_response answer = co_await std::move(op);
            co_return answer;
        } catch (...) {
            // An exception of the handler. The client does not see its text.
        }
        const problem why{.kind = problem_kind::failed, .status = 500};
        co_return detail::to_beast(to_response(why, gate_.options().problems), state->in.then());
    }

    template <class Work> [[nodiscard]] std::optional<refusal> admit(call<Work>& state) const {
        const beast_incoming& in = state.in;
        if (in.refused()) {
            const problem why{.kind = in.refused()->status == 413 ? problem_kind::body_too_large
                                                                  : problem_kind::request_malformed,
                              .status = in.refused()->status,
                              .detail = in.refused()->detail};
            return refusal{to_response(why, gate_.options().problems)};
        }
        const auto trust = options_.trust ? options_.trust(in.message()) : peer_trust::untrusted;
        auto what = decide(gate_, in.head(), in.message().body(), trust);
        if (auto* no = std::get_if<refusal>(&what)) return std::move(*no);
        if (auto* guarded = std::get_if<protected_call>(&what)) state.made = std::move(*guarded);
        return std::nullopt;
    }

    // ---- on the engine

    template <class Work>
    boost::asio::awaitable<beast_response> in_engine(std::shared_ptr<call<Work>> state) const {
        if (state->made) {
            auto work = [state](execution& running) { return worked(state, running); };
            auto op = engine_.async_execute<detail::routed_response>(
                semel::request{state->made->what}, std::move(work));
            auto outcome = co_await std::move(op);
            if (!passes(*state, outcome.raw())) co_return answer_of(*state, outcome.raw());
        }
        auto op = called(*state, nullptr);
        beast_response answer = co_await std::move(op);
        co_return unprotected(*state, std::move(answer));
    }

    template <class Work>
    static boost::asio::awaitable<verdict<detail::routed_response>>
    worked(std::shared_ptr<call<Work>> state, execution& running) {
        state->called = true;
        auto op = called(*state, &running);
        beast_response answer = co_await std::move(op);
        co_return settled_by(*state, std::move(answer));
    }

    template <class Work>
    static boost::asio::awaitable<beast_response> called(const call<Work>& state,
                                                         execution* running) {
        if constexpr (std::is_same_v<decltype(invoked(state, running)), beast_response>) {
            co_return invoked(state, running);
        } else {
            auto op = invoked(state, running);
            beast_response answer = co_await std::move(op);
            co_return answer;
        }
    }

    // ---- in a transaction

    template <class Connect, class Work>
    beast_response transacted(Connect& connect, call<Work>& state) const {
        if (!state.made) return unprotected(state, invoked(state, nullptr));
        auto work = [&](execution& running) {
            state.called = true;
            return settled_by(state, invoked(state, &running));
        };
        try {
            auto&& port = connect();
            const auto outcome = engine_.transact<detail::routed_response>(
                port, semel::request{state.made->what}, work);
            if (!passes(state, outcome.raw())) return answer_of(state, outcome.raw());
            return unprotected(state, invoked(state, nullptr));
        } catch (const response_released&) {
            return detail::to_beast(*std::move(state.own), state.in.then());
        }
    }

    // ---- both

    template <class Work>
    static verdict<detail::routed_response> settled_by(call<Work>& state, beast_response&& answer) {
        response got = detail::response_of(std::move(answer));
        settled made = settle(*state.made, full_answer{.got = got});
        state.own = std::move(made.own);
        return detail::as_verdict(std::move(made.end),
                                  {.got = std::move(got), .how = state.made->how});
    }

    template <class Work> static bool passes(const call<Work>& state, const raw_outcome& outcome) {
        return !state.called && may_pass(*state.made, outcome);
    }

    template <class Work>
    static beast_response answer_of(call<Work>& state, const raw_outcome& outcome) {
        if (outcome.thrown && !state.own) std::rethrow_exception(outcome.thrown);
        return detail::to_beast(answer_for(*state.made, outcome, std::move(state.own)),
                                state.in.then());
    }

    // The handler's response, made ready to be sent. If the request should have been protected, a
    // header says that it was not.
    template <class Work>
    static beast_response unprotected(const call<Work>& state, beast_response&& answer) {
        if (state.made) answer.set("Idempotency-Protected", "false");
        if (state.in.then() == after_answer::close) answer.keep_alive(false);
        if (!answer.has_content_length() && !answer.chunked()) answer.prepare_payload();
        return std::move(answer);
    }

    template <class Work> static auto invoked(const call<Work>& state, execution* running) {
        if constexpr (std::is_invocable_v<Work&, const beast_request&, execution*>) {
            return (*state.work)(state.in.message(), running);
        } else {
            return (*state.work)(state.in.message());
        }
    }

    semel::engine& engine_;
    const gate gate_;
    const beast_guard_options options_;
};

} // namespace semel::http
