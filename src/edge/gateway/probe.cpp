#include "edge/gateway/probe.hpp"

#include <nlohmann/json.hpp>

#include <utility>

#include "edge/wire/head_writer.hpp"
#include "http/text.hpp"
#include "semel/http/stored_response.hpp"
#include "semel/key.hpp"

namespace semel::edge {
namespace {

constexpr std::size_t answer_bytes_max = std::size_t{2} << 20U;

void append_escaped(std::string& to, std::string_view text) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    for (const char c : text) {
        if (http::is_alpha(c) || http::is_digit(c) || c == '-' || c == '.' || c == '_') {
            to.push_back(c);
            continue;
        }
        const auto byte = static_cast<unsigned char>(c);
        to.append({'%', digits[byte >> 4U], digits[byte & 15U]});
    }
}

// The key of the record: derived from the digest where the client sent none.
std::string key_of(const semel::request& about) {
    if (about.key.empty() && about.content) return key_from(*about.content);
    return about.key;
}

http::response committed_answer(const nlohmann::json& said) {
    http::response answer{.status = said.value("status", 200)};
    if (said.contains("headers")) {
        for (const auto& [name, value] : said.at("headers").items()) {
            answer.headers.add(name, value.get<std::string>());
        }
    }
    if (said.contains("json")) {
        answer.body = said.at("json").dump();
        if (!answer.headers.contains("Content-Type")) {
            answer.headers.add("Content-Type", "application/json");
        }
    } else {
        answer.body = said.value("body", std::string{});
    }
    return answer;
}

class probing final : public upstream_call, public std::enable_shared_from_this<probing> {
public:
    probing(std::shared_ptr<gateway_state> gateway, std::shared_ptr<worker> home,
            const http::protected_call& about, std::uint64_t fence, unique_function<void()> then)
        : gateway_(std::move(gateway)),
          home_(std::move(home)),
          about_(about),
          fence_(fence),
          then_(std::move(then)) {}

    void start() {
        gateway_->probes.add();
        const upstream_options& upstream = gateway_->options.upstream;
        const std::string& path = gateway_->options.probes.at(about_.what.operation);
        const http::header_list headers{
            {"Host", upstream.url.at.text()}, {"Accept", "application/json"}, {"Via", "1.1 semel"}};
        write_request_head(head_, "GET", upstream.url.path + probe_target(path, about_.what),
                           headers, {});
        gateway_->pool(*home_).submit(shared_from_this());
    }

    [[nodiscard]] asked_with method() const override { return asked_with::other; }
    [[nodiscard]] bool is_safe() const override { return true; }
    void on_connection(upstream_connection& by) override { upstream_ = &by; }
    [[nodiscard]] outgoing first() override { return {.head = head_}; }

    void on_response_head(response_head&& head) override {
        got_.status = head.status;
        got_.headers = std::move(head.headers);
        upstream_->want_piece();
    }
    void on_response_piece(std::string_view piece, more next) override {
        got_.body.append(piece);
        const bool too_large = got_.body.size() > answer_bytes_max;
        if (next == more::follows && !too_large) return upstream_->want_piece();
        std::exchange(upstream_, nullptr)->release();
        resolve(too_large ? probe_verdict{} : read_probe(got_));
    }
    void on_upstream_failed(upstream_failure) override { then_(); }

private:
    void resolve(probe_verdict&& said) {
        commands::resolve what{.expected_fence = fence_,
                               .retention = about_.how->policy.retention,
                               .actor = "gateway",
                               .reason = "probe"};
        if (std::holds_alternative<probe_says::unknown>(said)) return then_();
        if (auto* yes = std::get_if<probe_says::committed>(&said)) {
            what.verdict = commands::resolve::committed{
                http::encode(yes->answer, about_.how->replay, about_.how->policy.result_bytes_max)};
        }
        gateway_->resolved.add();
        envelope sent{.id = {.tenant = about_.what.tenant,
                             .operation = about_.what.operation,
                             .key = key_of(about_.what)},
                      .what = std::move(what)};
        gateway_->engine.records().submit(std::move(sent),
                                          [self = shared_from_this()](const result<semel::reply>&) {
                                              self->home_->run([self] { self->then_(); });
                                          });
    }

    const std::shared_ptr<gateway_state> gateway_; // shared by all exchanges
    const std::shared_ptr<worker> home_;           // shared with the server
    const http::protected_call about_;
    const std::uint64_t fence_;
    unique_function<void()> then_;
    upstream_connection* upstream_ = nullptr;
    std::string head_;
    http::response got_;
};

} // namespace

probe_verdict read_probe(const http::response& answer) {
    if (answer.status != 200) return probe_says::unknown{};
    const auto said = nlohmann::json::parse(answer.body, nullptr, false);
    if (!said.is_object()) return probe_says::unknown{};
    try {
        const std::string outcome = said.value("outcome", std::string{});
        if (outcome == "not_executed") return probe_says::not_executed{};
        if (outcome != "committed") return probe_says::unknown{};
        probe_says::committed made{committed_answer(said)};
        const bool final = made.answer.status >= 200 && made.answer.status <= 599;
        return final ? probe_verdict{std::move(made)} : probe_verdict{};
    } catch (const nlohmann::json::exception&) { // a member of another type
        return probe_says::unknown{};
    }
}

std::string probe_target(std::string_view path, const semel::request& about) {
    std::string target{path};
    target.append(path.find('?') == std::string_view::npos ? "?key=" : "&key=");
    append_escaped(target, key_of(about));
    target.append("&operation=");
    append_escaped(target, about.operation);
    target.append("&tenant=");
    append_escaped(target, about.tenant);
    return target;
}

void probe_upstream(std::shared_ptr<gateway_state> gateway, std::shared_ptr<worker> home,
                    const http::protected_call& about, std::uint64_t fence,
                    unique_function<void()> then) {
    std::make_shared<probing>(std::move(gateway), std::move(home), about, fence, std::move(then))
        ->start();
}

} // namespace semel::edge
