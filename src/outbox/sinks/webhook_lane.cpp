#include "outbox/sinks/webhook_lane.hpp"

#include <utility>
#include <variant>

#include "net/socket.hpp"
#include "semel/base/result.hpp"

namespace semel::outbox {

namespace {

constexpr std::size_t body_bytes_kept = 200;
constexpr duration at_once = duration{0};

failure in_http(failure why) {
    why.detail.insert(0, "http: ");
    return why;
}

} // namespace

result<void> webhook_lane::start(std::size_t message, std::string&& request) {
    SEMEL_ASSERT(!busy_);
    if (home_.left()) return opened_before_fork("the webhook's connection");
    if (auto made = reach(); !made) return made;
    busy_ = true;
    message_ = message;
    request_ = std::move(request);
    deadline_ = local_clock::now() + options_.timeout;
    sent_ = taken_ = 0;
    input_.clear();
    head_.reset();
    body_.clear();
    retry_after_.clear();
    return {};
}

result<void> webhook_lane::reach() {
    if (stream_ != nullptr && net::spoke_unasked(*stream_)) stream_.reset();
    if (stream_ != nullptr) return {};
    auto made = connect();
    return made ? std::move(made) : in_http(std::move(made).error());
}

result<void> webhook_lane::connect() {
    const local_time until = local_clock::now() + options_.connect_timeout;
    auto made = net::connect_to(options_.at.host, options_.at.port, options_.connect_timeout);
    if (!made) return std::move(made).error();
    socket_ = made->get();
    used_before_ = false;
    if (options_.tls == nullptr) {
        stream_ = net::open_stream(made->release());
        return {};
    }
    const duration left = std::max(until - local_clock::now(), duration{0});
    auto stream = net::open_tls_stream(*std::move(made), *options_.tls, options_.at.host, left);
    if (!stream) return std::move(stream).error();
    stream_ = *std::move(stream);
    return {};
}

std::optional<webhook_lane::ended> webhook_lane::go_on(local_time now) {
    const bool sent_before = !sending();
    if (auto end = send()) return end;
    // The request was just sent. The answer takes a while, and poll() reports it.
    if (sent_before || sending()) {
        if (auto end = receive()) return end;
    }
    if (now >= deadline_) return fail("http: no answer in time");
    return std::nullopt;
}

std::optional<webhook_lane::ended> webhook_lane::send() {
    while (sending()) {
        const auto sent = stream_->send(std::string_view{request_}.substr(sent_), at_once);
        if (!sent && sent.error().code == errc::timed_out) return std::nullopt;
        // An endpoint may answer before it has taken the whole request, and close.
        if (!sent) return receive();
        sent_ += *sent;
    }
    return std::nullopt;
}

std::optional<webhook_lane::ended> webhook_lane::receive() {
    while (true) {
        const auto more = fill();
        if (!more) return on_closed();
        if (!*more) return std::nullopt;
        if (!head_) {
            if (auto end = take_head()) return end;
        }
        if (head_) {
            if (auto end = take_body()) return end;
        }
    }
}

result<bool> webhook_lane::fill() {
    const auto got = stream_->receive(piece_, at_once);
    if (!got && got.error().code == errc::timed_out) return false;
    if (!got) return got.error();
    if (*got == 0) return failure{.code = errc::unavailable};
    input_.append(piece_.data(), *got);
    return true;
}

std::optional<webhook_lane::ended> webhook_lane::take_head() {
    while (!head_) {
        auto parsed = http1::parse_response(std::string_view{input_}.substr(taken_),
                                            http1::asked_with::other);
        if (std::holds_alternative<http::head_incomplete>(parsed)) return std::nullopt;
        if (const auto* refused = std::get_if<http1::refused_response>(&parsed)) {
            return fail("http: the answer cannot be read: " + refused->why);
        }
        auto& found = std::get<http1::parsed_response>(parsed);
        taken_ += found.size;
        if (found.head.status < 200) continue; // the final one follows
        reader_ = found.head.body();
        head_ = std::move(found.head);
    }
    return std::nullopt;
}

std::optional<webhook_lane::ended> webhook_lane::take_body() {
    while (!reader_.done()) {
        const auto piece = reader_.take(std::string_view{input_}.substr(taken_));
        if (reader_.failed()) return fail("http: the answer cannot be read");
        taken_ += piece.used;
        if (body_.size() < body_bytes_kept) {
            body_.append(piece.content.substr(0, body_bytes_kept - body_.size()));
        }
        if (piece.used == 0) break;
    }
    if (reader_.done()) return finish();
    input_.erase(0, std::exchange(taken_, 0));
    return std::nullopt;
}

webhook_lane::ended webhook_lane::finish() {
    busy_ = false;
    used_before_ = true;
    const bool kept = head_->keeps_alive() && taken_ == input_.size() && !sending();
    if (!kept) stream_.reset();
    if (const std::string* after = head_->headers.find("Retry-After")) retry_after_ = *after;
    return {
        .got = webhook_answer{.status = head_->status, .retry_after = retry_after_, .body = body_}};
}

// An endpoint may close a connection just when it is used again. No byte of an answer has come, and
// the key makes a repeat harmless, so the request is sent once more on a new connection.
std::optional<webhook_lane::ended> webhook_lane::on_closed() {
    if (head_) {
        reader_.on_close();
        if (reader_.done()) return finish();
    }
    if (!used_before_ || !input_.empty() || head_) return fail("http: the connection was closed");
    stream_.reset();
    if (auto made = connect(); !made) return fail(in_http(std::move(made).error()).detail);
    sent_ = 0;
    return send();
}

webhook_lane::ended webhook_lane::fail(std::string why) {
    busy_ = false;
    stream_.reset();
    return {.why = std::move(why)};
}

} // namespace semel::outbox
