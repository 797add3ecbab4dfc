#include "edge/console/console.hpp"

#include <utility>

#include "edge/console/access.hpp"
#include "edge/console/console_core.hpp"
#include "edge/console/console_request.hpp"
#include "edge/console/pages.hpp"

namespace semel::edge {
namespace {

// A sign-in holds a token; other requests without a change have no body.
constexpr std::size_t small_body_bytes_max = 1'024;

bool is_change(const http::request_head& head) {
    constexpr std::string_view api = "/admin/api/v1/";
    const std::string_view path = head.path();
    return head.method == "POST" && path.starts_with(api) && path.substr(api.size()) != "session";
}

std::optional<json_response> refuse_body(console_core& core, const http::request_head& head,
                                         std::string_view peer) {
    auto who = identify(core, head, peer);
    if (auto* const no = std::get_if<json_response>(&who)) return std::move(*no);
    return refuse_change(core, head, peer, std::get<console_caller>(who));
}

} // namespace

console::console(store& records, runtime& timers, console_options options)
    : core_(std::make_shared<console_core>(records, timers, std::move(options))) {
    core_->open();
}

console::~console() {
    core_->close();
}

handler console::requests() {
    return [core = core_](served_request request, reply answer) {
        auto hardened = [answer = std::move(answer)](http::response with) mutable {
            harden(with);
            answer(std::move(with));
        };
        console_request{core, std::move(request), std::move(hardened)}.run();
    };
}

doorkeeper console::door() {
    return [core = core_](const http::request_head& head, std::string_view peer) -> body_admission {
        if (!is_change(head)) return {.bytes_max = small_body_bytes_max};
        auto no = refuse_body(*core, head, peer);
        if (!no) return {};
        http::response made = to_response(*std::move(no));
        harden(made);
        return {.refusal = std::move(made)};
    };
}

} // namespace semel::edge
