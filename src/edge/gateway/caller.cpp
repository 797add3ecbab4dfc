#include "edge/gateway/caller.hpp"

#include <future>
#include <optional>
#include <utility>

#include "edge/gateway/fetch.hpp"
#include "edge/gateway/upstream_pool.hpp"
#include "edge/server/tls.hpp"
#include "net/http1/writer.hpp"

namespace semel::edge {
namespace {

constexpr duration tick = std::chrono::milliseconds{250};

// What a call needs until its answer is there. Shared by the caller and the connection.
struct under_way {
    std::string body;
    std::promise<result<http::response>> answer;
};

result<http::response> answer_of(std::variant<fetch_result, upstream_failure> came) {
    if (auto* whole = std::get_if<fetch_result>(&came)) {
        if (!whole->cut) return std::move(whole->got);
        return failure{.code = errc::limit_exceeded, .detail = "the answer is too large"};
    }
    auto& why = std::get<upstream_failure>(came);
    const bool left = why.request == upstream_failure::bytes_left::some;
    return failure{.code = errc::unavailable,
                   .possible = left ? effect::unknown : effect::none,
                   .detail = std::move(why.why)};
}

fetch_options options_of(const upstream_options& to, const call_request& what,
                         const std::string& body) {
    const bool safe = what.method == "GET";
    fetch_options made{.body = body,
                       .again =
                           safe ? fetch_options::repeating::safe : fetch_options::repeating::never,
                       .answer_bytes_max = what.answer_bytes_max};
    http::header_list headers{{"Host", to.url.at.text()}, {"User-Agent", "semel"}};
    for (const http::header& one : what.headers) headers.add(one.name, one.value);
    const std::string target = to.url.path + what.target;
    http::body_framing framing;
    if (!body.empty()) framing = http::body_framing{http::body_framing::by::length, body.size()};
    http1::write_request_head(made.head, what.method, target.empty() ? "/" : target, headers,
                              framing);
    return made;
}

} // namespace

struct caller::parts {
    explicit parts(upstream_options to) : options(std::move(to)) {}
    ~parts() {
        workers.stop();
        pool.reset();
    }

    const upstream_options options;
    std::optional<asio::ssl::context> tls = {};
    counter connects = {};
    crew workers{1, tick};
    std::shared_ptr<upstream_pool> pool = {}; // shared with the worker
};

result<std::unique_ptr<caller>> caller::make(upstream_options to) {
    auto made = std::make_unique<parts>(std::move(to));
    if (made->options.url.how == net::base_url::scheme::https) {
        auto tls = make_client_tls(made->options.ca_file);
        if (!tls) return std::move(tls).error();
        made->tls.emplace(*std::move(tls));
    }
    worker& home = made->workers[0];
    made->pool =
        std::make_shared<upstream_pool>(home, made->options, made->tls ? &*made->tls : nullptr,
                                        made->options.connections_max, made->connects);
    home.post([&home, pool = made->pool] { home.enter(pool); });
    return std::unique_ptr<caller>{new caller{std::move(made)}};
}

caller::caller(std::unique_ptr<parts> made) : parts_(std::move(made)) {}

caller::~caller() = default;

result<http::response> caller::call(call_request what) {
    auto mine = std::make_shared<under_way>();
    mine->body = std::move(what.body);
    auto answer = mine->answer.get_future();
    auto how = options_of(parts_->options, what, mine->body);
    // Not held here any longer: a call that is dropped must break its promise.
    auto call = std::make_shared<fetch>(std::move(how), [mine = std::move(mine)](auto came) {
        mine->answer.set_value(answer_of(std::move(came)));
    });
    parts_->workers[0].post(
        [pool = parts_->pool, call = std::move(call)]() mutable { pool->submit(std::move(call)); });
    try {
        return answer.get();
    } catch (const std::future_error&) { // dropped: we are being closed
        return failure{.code = errc::stopped, .possible = effect::unknown, .detail = "closing"};
    }
}

} // namespace semel::edge
