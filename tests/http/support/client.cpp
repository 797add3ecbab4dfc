#include "http/support/client.hpp"

#include <nlohmann/json.hpp>

#include <utility>

namespace semel::edge::support {

std::string answer::header(std::string_view name) const {
    const std::string* value = headers.find(name);
    return value != nullptr ? *value : std::string{};
}

std::string answer::problem() const {
    const auto said = nlohmann::json::parse(body, nullptr, false);
    const std::string type = said.is_object() ? said.value("type", std::string{}) : std::string{};
    return std::to_string(status) + " " + type.substr(type.rfind(':') + 1);
}

bool client::fill() {
    auto some = socket_.read_some();
    if (!some || some->empty()) return false;
    in_ += *some;
    return true;
}

std::optional<http1::response_head> client::receive_head(http1::asked_with to) {
    while (true) {
        auto parsed = http1::parse_response(in_, to);
        if (auto* whole = std::get_if<http1::parsed_response>(&parsed)) {
            in_.erase(0, whole->size);
            return std::move(whole->head);
        }
        if (std::holds_alternative<http1::refused_response>(parsed) || !fill()) return std::nullopt;
    }
}

answer client::receive(http1::asked_with to) {
    auto head = receive_head(to);
    while (head && head->status < 200) head = receive_head(to);
    if (!head) return {};
    answer got{.status = head->status, .headers = std::move(head->headers)};
    http1::body_reader body = head->body();
    while (!body.done() && !body.failed()) {
        const auto piece = body.take(in_);
        got.body.append(piece.content);
        in_.erase(0, piece.used);
        if (body.done() || (piece.used == 0 && !fill())) break;
        if (in_.empty() && !body.done() && !fill()) break;
    }
    if (!body.done()) body.on_close();
    got.whole = body.done();
    return got;
}

bool client::hears_nothing_for(int milliseconds) {
    return in_.empty() && !socket_.read_some(milliseconds);
}

std::string post_text(const post_options& what) {
    std::string text = what.method + " " + what.target + " HTTP/1.1\r\nHost: shop.test\r\n";
    if (!what.key.empty()) text += "Idempotency-Key: " + what.key + "\r\n";
    text += "Content-Type: application/json\r\n" + what.headers;
    text += "Content-Length: " + std::to_string(what.body.size()) + "\r\n\r\n" + what.body;
    return text;
}

answer post(std::uint16_t port, const post_options& what) {
    return client{port}.ask(post_text(what));
}

answer get(std::uint16_t port, std::string_view target) {
    return client{port}.ask("GET " + std::string{target} + " HTTP/1.1\r\nHost: shop.test\r\n\r\n");
}

} // namespace semel::edge::support
