#include "http/support/upstream.hpp"

#include <chrono>
#include <optional>
#include <utility>

#include "net/http1/body.hpp"
#include "semel/http/message.hpp"

namespace semel::edge::support {

void gate_flag::open() {
    const std::lock_guard lock{mutex_};
    open_ = true;
    opened_.notify_all();
}

bool gate_flag::wait() {
    std::unique_lock lock{mutex_};
    return opened_.wait_for(lock, std::chrono::milliseconds{patience_ms}, [&] { return open_; });
}

bool gate_flag::is_open() {
    const std::lock_guard lock{mutex_};
    return open_;
}

// Counts its own rounds instead of reading a clock: a machine that was stopped for a while has lost
// no round.
bool eventually(const std::function<bool()>& holds) {
    for (int waited_ms = 0; waited_ms < patience_ms; waited_ms += 2) {
        if (holds()) return true;
        std::this_thread::sleep_for(std::chrono::milliseconds{2});
    }
    return holds();
}

std::string response_text(int status, std::string_view body, std::string_view headers) {
    return "HTTP/1.1 " + std::to_string(status) + " Said\r\n" + std::string{headers} +
           "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + std::string{body};
}

upstream::upstream()
    : upstream([](const seen_request& request, socket& to) {
          to.write(response_text(201, "order " + std::to_string(request.nth)));
      }) {}

upstream::upstream(script does) : does_(std::move(does)) {
    acceptor_ = std::thread{[this] { accept_all(); }};
}

upstream::~upstream() {
    listening_.shutdown();
    acceptor_.join();
    for (link& one : links_) one.connection.shutdown();
    for (link& one : links_) one.thread.join();
}

std::vector<seen_request> upstream::seen() const {
    const std::lock_guard lock{mutex_};
    return seen_;
}

void upstream::now_does(script does) {
    const std::lock_guard lock{mutex_};
    does_ = std::move(does);
}

void upstream::on_connection(std::function<void(socket&)> does) {
    const std::lock_guard lock{mutex_};
    on_connection_ = std::move(does);
}

void upstream::accept_all() {
    while (auto accepted = listening_.accept()) {
        ++connections_;
        const std::lock_guard lock{mutex_};
        link& made = links_.emplace_back();
        made.connection = *std::move(accepted);
        made.thread = std::thread{[this, &made] { serve(made.connection); }};
    }
}

void upstream::serve(socket& connection) {
    std::function<void(socket&)> first;
    {
        const std::lock_guard lock{mutex_};
        first = on_connection_;
    }
    if (first) first(connection);
    std::string in;
    while (connection.is_open() && serve_one(connection, in)) {
    }
    connection.shutdown(); // closed when the test ends: its number must not be given out again
}

bool upstream::serve_one(socket& connection, std::string& in) {
    seen_request request;
    std::optional<http1::body_reader> body;
    while (true) {
        if (!body) {
            auto parsed = http::parse_head(in);
            if (auto* whole = std::get_if<http::parsed_head>(&parsed)) {
                request.head = std::move(whole->head);
                in.erase(0, whole->size);
                body.emplace(std::get<http::body_framing>(http::check_head(request.head)));
            } else if (std::holds_alternative<http::refused_head>(parsed)) {
                return false;
            }
        }
        while (body && !body->done() && !in.empty()) {
            const auto piece = body->take(in);
            request.body.append(piece.content);
            in.erase(0, piece.used);
            if (piece.used == 0) break;
        }
        if (body && body->done()) break;
        const auto some = connection.read_some();
        if (!some || some->empty()) return false;
        in += *some;
    }
    script does;
    {
        const std::lock_guard lock{mutex_};
        request.nth = ++requests_;
        if (remembers_) seen_.push_back(request);
        does = does_;
    }
    does(request, connection);
    return true;
}

} // namespace semel::edge::support
