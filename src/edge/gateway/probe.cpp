#include "edge/gateway/probe.hpp"

#include <nlohmann/json.hpp>

#include <utility>

#include "base/hex.hpp"
#include "edge/gateway/fetch.hpp"
#include "http/bounded_json.hpp"
#include "http/text.hpp"
#include "net/http1/writer.hpp"
#include "semel/http/response.hpp"

namespace semel::edge {
namespace {

constexpr std::size_t answer_bytes_max = std::size_t{2} << 20U;

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

commands::resolve resolution(probe_says::committed&& said, const http::protected_call& about) {
    stored_result result =
        http::encode(said.answer, about.how->replay, about.how->policy.result_bytes_max);
    return {.verdict = commands::resolve::committed{std::move(result)}};
}

// Writes the verdict; `then` is called on the worker.
void resolve(gateway_state& gateway, std::shared_ptr<worker> home,
             const http::protected_call& about, std::uint64_t fence, probe_verdict&& said,
             unique_function<void()> then) {
    if (std::holds_alternative<probe_says::unknown>(said)) return then();
    gateway.resolved.add();
    commands::resolve what;
    if (auto* yes = std::get_if<probe_says::committed>(&said)) {
        what = resolution(std::move(*yes), about);
    }
    what.expected_fence = fence;
    what.retention = about.how->policy.retention;
    what.actor = "gateway";
    what.reason = "probe";
    envelope sent{.id = {.tenant = about.what.tenant,
                         .operation = about.what.operation,
                         .key = about.what.key},
                  .what = std::move(what)};
    gateway.engine.records().submit(
        std::move(sent),
        [home = std::move(home), then = std::move(then)](const result<semel::reply>&) mutable {
            if (home->is_this_thread()) return then();
            home->post(std::move(then));
        });
}

fetch_options probe_request(const gateway_state& gateway, const http::protected_call& about) {
    const upstream_options& upstream = gateway.options.upstream;
    const std::string& path = gateway.options.probes.at(about.what.operation);
    fetch_options what{.again = fetch_options::repeating::safe,
                       .answer_bytes_max = answer_bytes_max};
    const http::header_list headers{
        {"Host", upstream.url.at.text()}, {"Accept", "application/json"}, {"Via", "1.1 semel"}};
    http1::write_request_head(what.head, "GET", upstream.url.path + probe_target(path, about.what),
                              headers, {});
    return what;
}

} // namespace

probe_verdict read_probe(const http::response& answer) {
    if (answer.status != 200) return probe_says::unknown{};
    const auto said = http::parse_bounded(answer.body);
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
    target.append(path.find('?') == std::string_view::npos ? "?key=" : "&key=")
        .append(percent_escaped(about.key))
        .append("&operation=")
        .append(percent_escaped(about.operation))
        .append("&tenant=")
        .append(percent_escaped(about.tenant));
    return target;
}

void probe_upstream(std::shared_ptr<gateway_state> gateway, std::shared_ptr<worker> home,
                    const http::protected_call& about, std::uint64_t fence,
                    unique_function<void()> then) {
    gateway->probes.add();
    auto what = probe_request(*gateway, about);
    upstream_pool& pool = gateway->pool(*home);
    pool.submit(std::make_shared<fetch>(
        std::move(what), [gateway = std::move(gateway), home = std::move(home), about, fence,
                          then = std::move(then)](auto came) mutable {
            probe_verdict said;
            const auto* whole = std::get_if<fetch_result>(&came);
            if (whole != nullptr && !whole->cut) said = read_probe(whole->got);
            resolve(*gateway, std::move(home), about, fence, std::move(said), std::move(then));
        }));
}

} // namespace semel::edge
