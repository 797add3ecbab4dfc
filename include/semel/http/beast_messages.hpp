// Beast's requests and responses as messages of semel's, and back. For beast.hpp.
#pragma once

#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "semel/http/framing.hpp"
#include "semel/http/message.hpp"

namespace semel::http {

using beast_request = boost::beast::http::request<boost::beast::http::string_body>;
using beast_response = boost::beast::http::response<boost::beast::http::string_body>;

namespace detail {

[[nodiscard]] inline std::string text_of(boost::beast::string_view from) {
    return {from.data(), from.size()};
}

[[nodiscard]] inline request_head head_of(const beast_request& from) {
    request_head head{.method = text_of(from.method_string()), .target = text_of(from.target())};
    if (from.version() == 10) head.version = version::http_1_0;
    for (const auto& line : from)
        head.headers.add(text_of(line.name_string()), text_of(line.value()));
    return head;
}

[[nodiscard]] inline response response_of(beast_response&& from) {
    response made{.status = static_cast<int>(from.result_int())};
    for (const auto& line : from)
        made.headers.add(text_of(line.name_string()), text_of(line.value()));
    made.body = std::move(from.body());
    return made;
}

enum class after_answer { keep_alive, close };

[[nodiscard]] inline beast_response to_beast(response&& from, after_answer then) {
    beast_response made;
    made.version(11);
    made.result(static_cast<unsigned>(from.status));
    for (const header& line : from.headers) made.insert(line.name, line.value);
    made.body() = std::move(from.body);
    made.keep_alive(then == after_answer::keep_alive);
    made.prepare_payload();
    return made;
}

} // namespace detail

// A request as it came. The head is a copy from before the body was read: Beast puts trailers among
// the headers, and a key or tenant in a trailer must not count.
class beast_incoming {
public:
    // With `refused` the request goes no further: the answer says why, and the connection closes.
    beast_incoming(request_head head, beast_request message,
                   std::optional<refused_head> refused = {})
        : head_(std::move(head)), message_(std::move(message)), refused_(std::move(refused)) {}

    // For a message that was read whole, without the guard. Its trailers cannot be distinguished
    // from its headers then, so a message that came in chunks is refused.
    explicit beast_incoming(beast_request message, const head_options& options = {})
        : head_(detail::head_of(message)), message_(std::move(message)) {
        auto framing = check_head(head_, options);
        if (auto* no = std::get_if<refused_head>(&framing)) refused_ = std::move(*no);
        if (!refused_ && std::get<body_framing>(framing).how == body_framing::by::chunks) {
            refused_ = {.fault = head_fault::transfer_encoding,
                        .status = 411,
                        .detail = "send a Content-Length"};
        }
    }

    [[nodiscard]] const request_head& head() const { return head_; }
    [[nodiscard]] const beast_request& message() const { return message_; }
    [[nodiscard]] const std::optional<refused_head>& refused() const { return refused_; }
    [[nodiscard]] detail::after_answer then() const {
        return !refused_ && message_.keep_alive() ? detail::after_answer::keep_alive
                                                  : detail::after_answer::close;
    }

private:
    request_head head_;
    beast_request message_;
    std::optional<refused_head> refused_;
};

} // namespace semel::http
