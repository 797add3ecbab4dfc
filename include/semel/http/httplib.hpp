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

#include <cstddef>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include <httplib.h>

#include "semel/engine.hpp"
#include "semel/http.hpp"
#include "semel/http/message.hpp"
#include "semel/http/route.hpp"
#include "semel/http/tenant.hpp"
#include "semel/transaction.hpp"

namespace semel::http::detail {

// What httplib itself puts among a request's headers. A client's lines of these names go too.
[[nodiscard]] inline bool is_httplibs_own(std::string_view name) {
    for (const std::string_view one : {"REMOTE_ADDR", "REMOTE_PORT", "LOCAL_ADDR", "LOCAL_PORT"}) {
        if (equal_ignoring_case(name, one)) return true;
    }
    return false;
}

[[nodiscard]] inline request_head head_of(const ::httplib::Request& from) {
    request_head head{.method = from.method, .target = from.target};
    if (from.version == "HTTP/1.0") head.version = version::http_1_0;
    for (const auto& [name, value] : from.headers) {
        if (!is_httplibs_own(name)) head.headers.add(name, value);
    }
    return head;
}

// httplib has taken multipart apart and left no body: its parts stand for it, each length-prefixed.
[[nodiscard]] inline std::string body_of(const ::httplib::Request& from) {
    if (!from.is_multipart_form_data()) return from.body;
    std::string all;
    for (const auto& [field, part] : from.files) {
        for (const std::string* text :
             {&field, &part.filename, &part.content_type, &part.content}) {
            all.append(std::to_string(text->size())).append(":").append(*text);
        }
    }
    return all;
}

// Reads out a handler's content provider: a response is stored whole or not at all.
[[nodiscard]] inline std::string provided_body(::httplib::Response& from) {
    std::string body;
    bool more = true;
    ::httplib::DataSink sink;
    sink.write = [&](const char* data, std::size_t size) { return body.append(data, size), true; };
    sink.done = [&] { more = false; };
    sink.is_writable = [] { return true; };
    const std::size_t length = from.content_length_;
    while (more && (length == 0 || body.size() < length)) {
        const std::size_t left = length == 0 ? 0 : length - body.size();
        if (!from.content_provider_(body.size(), left, sink)) {
            throw std::runtime_error("a content provider failed");
        }
    }
    return body;
}

[[nodiscard]] inline response response_of(::httplib::Response& from) {
    response made{.status = from.status == -1 ? 200 : from.status};
    for (const auto& [name, value] : from.headers) made.headers.add(name, value);
    made.body = from.content_provider_ ? provided_body(from) : std::move(from.body);
    return made;
}

inline void write_response(response&& from, ::httplib::Response& to) {
    ::httplib::Response made;
    made.status = from.status;
    for (const header& line : from.headers) made.headers.emplace(line.name, line.value);
    made.body = std::move(from.body);
    made.version = to.version;
    to = std::move(made);
}

} // namespace semel::http::detail

namespace semel::http {

struct httplib_guard_options {
    // Decides whether the tenant_header of a request is trusted. Empty: of no request.
    std::function<peer_trust(const ::httplib::Request&)> trust = {};
    head_options heads = {};
};

// Thread-safe. The engine outlives the guard, and the guard outlives the server. Handlers run on
// the server's threads.
class httplib_guard {
public:
    using handler = ::httplib::Server::Handler;

    httplib_guard(semel::engine& engine, gate by, httplib_guard_options options = {})
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
    // `connect` returns this thread's transaction handle (sqlite_transaction …). A response that is
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
    const httplib_guard_options options_;
};

} // namespace semel::http
