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
// With callbacks: asio::co_spawn(executor, orders(std::move(request)), handler). Nothing blocks; a
// repeat that waits for the first holds no thread. Name things before they are awaited, as above:
// g++ 12 destroys some temporaries of a co_await expression twice.
//
// A first request runs the handler; its repeats get the first answer. Which requests are protected,
// and how, is the gate's; what clients see is in docs/http.md. The engine needs the gate's
// policies: engine_options{.operations = gate.operations()}.
//
// Only those who include it need Boost (1.81).
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
#include "semel/http/beast_messages.hpp"
#include "semel/http/beast_read.hpp"
#include "semel/http/exchange.hpp"
#include "semel/http/framing.hpp"
#include "semel/http/route.hpp"
#include "semel/http/routed_response.hpp"
#include "semel/http/tenant.hpp"
#include "semel/transaction.hpp"

namespace semel::http {

struct beast_options {
    // Whose word about the tenant counts, for a tenant_header. None: nobody's.
    std::function<peer_trust(const beast_request&)> trust = {};
    beast_read_options reading = {};
};

// Thread-safe; the engine outlives it, it outlives its calls. Handlers run on the executor of the
// coroutine that calls the route: one strand or one single-threaded loop per connection.
class beast_guard {
public:
    beast_guard(semel::engine& engine, gate by, beast_options options = {})
        : engine_(engine), gate_(std::move(by)), options_(std::move(options)) {}

    // The next request of a connection, or none if the client has gone. Stricter than Beast: see
    // beast_read.hpp.
    template <class Stream>
    [[nodiscard]] boost::asio::awaitable<std::optional<beast_incoming>>
    read(Stream& stream, boost::beast::flat_buffer& buffer) const {
        return detail::read_strictly(stream, buffer, options_.reading);
    }

    // `work` takes (request), or (request, execution*), where the execution is null for requests
    // that pass unprotected, and returns a beast_response or an awaitable of one. An exception of
    // its own is a 500, and its record is as the operation's policy says. Gives
    // awaitable<beast_response>(beast_incoming).
    template <class Work> [[nodiscard]] auto protect(Work work) const {
        return [this, work = std::make_shared<Work>(std::move(work))](beast_incoming in) {
            return serve(std::make_shared<call<Work>>(std::move(in), work),
                         [this](auto state) { return this->in_engine(std::move(state)); });
        };
    }

    // The same in one transaction with the handler's own rows: exactly once, whatever crashes.
    // `connect` gives a transaction_port (sqlite_transaction …) for the thread that it is called
    // on. Databases block: connect and work, which returns a plain beast_response, run on
    // `blocking`, such as a thread_pool's executor; join it before the connections' loop goes. A
    // response that is not kept rolls back. Where `work` passes unprotected it runs outside of any
    // transaction, there too.
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
    // Held by the coroutine that serves and by the work, which goes on without it.
    template <class Work> struct call {
        call(beast_incoming request, std::shared_ptr<Work> handler)
            : in(std::move(request)), work(std::move(handler)) {}
        const beast_incoming in;
        const std::shared_ptr<Work> work;        // shared by all calls of the route
        std::optional<protected_call> made = {}; // none: passes unprotected
        std::optional<response> own = {};
        bool called = false; // what was called once must not run unprotected as well
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
            // The handler's own, which the client is not told.
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

    // The handler's own response, made fit to be sent; it says so where there should have been
    // protection.
    template <class Work>
    static beast_response unprotected(const call<Work>& state, beast_response&& answer) {
        if (state.made) answer.set("Idempotency-Protected", "false");
        if (state.in.then() == detail::after_answer::close) answer.keep_alive(false);
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
    const beast_options options_;
};

} // namespace semel::http
