// Beast's requests and responses as messages of semel's, and back. For beast.hpp.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>

#include "semel/http/message.hpp"

namespace semel::http {

using beast_request = boost::beast::http::request<boost::beast::http::string_body>;
using beast_response = boost::beast::http::response<boost::beast::http::string_body>;

// What becomes of a connection after an answer.
enum class after_answer { keep_alive, close };

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
    [[nodiscard]] after_answer then() const {
        return !refused_ && message_.keep_alive() ? after_answer::keep_alive : after_answer::close;
    }

private:
    request_head head_;
    beast_request message_;
    std::optional<refused_head> refused_;
};

// Reads requests for Beast servers as strictly as the gateway does. Beast 1.81 accepts messages
// about which two readers can disagree: other codings beside a length, folded lines, two hosts,
// trailers that become headers. For beast.hpp.

struct beast_read_options {
    head_options heads = {};
    std::size_t body_bytes_max = std::size_t{8} << 20U;
};

namespace detail {

// A head that was found whole and in order in the buffer, where it still is; or why not. None: the
// client has gone.
using read_head = std::optional<std::variant<request_head, refused_head>>;

template <class Stream>
boost::asio::awaitable<read_head> read_head_strictly(Stream& stream,
                                                     boost::beast::flat_buffer& buffer,
                                                     const beast_read_options& options) {
    constexpr std::size_t piece_bytes = 4'096;
    while (true) {
        const auto had = buffer.cdata();
        const std::string_view raw{static_cast<const char*>(had.data()), had.size()};
        auto found = parse_head(raw, options.heads.limits);
        if (auto* no = std::get_if<refused_head>(&found)) co_return std::move(*no);
        if (auto* whole = std::get_if<parsed_head>(&found)) {
            auto framing = check_head(whole->head, options.heads);
            if (auto* no = std::get_if<refused_head>(&framing)) co_return std::move(*no);
            co_return std::move(whole->head);
        }
        boost::system::error_code error;
        const auto more = buffer.prepare(piece_bytes);
        auto token = boost::asio::redirect_error(boost::asio::use_awaitable, error);
        const std::size_t got = co_await stream.async_read_some(more, token);
        if (error) co_return std::nullopt;
        buffer.commit(got);
    }
}

// Trailers are bounded by the buffer: Beast's own limit does not count them.
inline void bound(boost::beast::flat_buffer& buffer, const beast_read_options& options) {
    constexpr std::size_t room_bytes = std::size_t{128} << 10U;
    buffer.max_size(options.heads.limits.head_bytes_max + room_bytes);
}

template <class Stream>
boost::asio::awaitable<std::optional<beast_incoming>>
read_body_strictly(Stream& stream, boost::beast::flat_buffer& buffer, request_head head,
                   const beast_read_options& options) {
    namespace beast = boost::beast;
    beast::http::request_parser<beast::http::string_body> parser;
    parser.header_limit(static_cast<std::uint32_t>(options.heads.limits.head_bytes_max));
    parser.body_limit(options.body_bytes_max);
    boost::system::error_code error;
    auto token = boost::asio::redirect_error(boost::asio::use_awaitable, error);
    co_await beast::http::async_read_header(stream, buffer, parser, token);
    if (!error && head.headers.contains("Expect")) {
        constexpr std::string_view go_on = "HTTP/1.1 100 Continue\r\n\r\n";
        co_await boost::asio::async_write(stream, boost::asio::buffer(go_on), token);
    }
    beast::http::request_header<> before_body;
    if (!error) before_body = parser.get().base();
    if (!error) co_await beast::http::async_read(stream, buffer, parser, token);
    std::optional<refused_head> refused;
    if (error == beast::http::error::body_limit) {
        refused = refused_head{.fault = head_fault::too_long, .status = 413};
    } else if (error && error.category() == beast::http::make_error_code({}).category() &&
               error != beast::http::error::partial_message &&
               error != beast::http::error::end_of_stream) {
        refused = refused_head{.detail = "the body is malformed"};
    } else if (error) {
        co_return std::nullopt;
    }
    beast_request message = parser.release();
    if (!refused) message.base() = std::move(before_body);
    co_return beast_incoming{std::move(head), std::move(message), std::move(refused)};
}

template <class Stream>
boost::asio::awaitable<std::optional<beast_incoming>>
read_strictly(Stream& stream, boost::beast::flat_buffer& buffer,
              const beast_read_options& options) {
    bound(buffer, options);
    auto heading = read_head_strictly(stream, buffer, options);
    read_head found = co_await std::move(heading);
    if (!found) co_return std::nullopt;
    if (auto* no = std::get_if<refused_head>(&*found)) {
        co_return beast_incoming{request_head{}, beast_request{}, std::move(*no)};
    }
    auto rest =
        read_body_strictly(stream, buffer, std::get<request_head>(*std::move(found)), options);
    auto whole = co_await std::move(rest);
    co_return whole;
}

} // namespace detail
} // namespace semel::http
