// The console before an outbox that lives in memory, on a real listener: for the pages of the
// outbox, until a relay's own table stands behind them. Prints its address and ends with its input.
#include <iostream>
#include <map>
#include <mutex>
#include <string>

#include "edge/console/console.hpp"
#include "edge/server/server.hpp"
#include "semel/store/memory.hpp"

namespace {

using namespace semel;
using namespace semel::edge;

class outbox_in_memory final : public outbox_desk {
public:
    outbox_in_memory() {
        const auto now = std::chrono::time_point_cast<duration>(std::chrono::system_clock::now());
        for (std::int64_t row = 1; row <= 3; ++row) {
            const std::string number = std::to_string(row);
            rows_[row] = {.it = {.row = row,
                                 .attempts = 12,
                                 .created_at = now - std::chrono::minutes{row},
                                 .event = {.id = "event-" + number,
                                           .topic = "orders",
                                           .key = "order-" + number,
                                           .payload = R"({"text":"<img src=x onerror=a>"})",
                                           .headers = {{"traceparent", "00-" + number}}}},
                          .status = "dead",
                          .updated_at = now,
                          .error = "503 from the sink"};
        }
    }

    result<outbox_backlog> measure() override {
        const std::lock_guard lock{mutex_};
        outbox_backlog all{.count_max = 10'000, .oldest = std::chrono::seconds{90}};
        for (const auto& [row, one] : rows_) ++(one.status == "dead" ? all.dead : all.waiting);
        return all;
    }
    result<std::vector<outbox_row>> list(const outbox_query& which) override {
        const std::lock_guard lock{mutex_};
        std::vector<outbox_row> found;
        for (const auto& [row, one] : rows_) {
            if (row > which.after && one.status == which.status) found.push_back(one);
        }
        return found;
    }
    result<std::optional<outbox_row>> show(std::int64_t row) override {
        const std::lock_guard lock{mutex_};
        const auto at = rows_.find(row);
        if (at == rows_.end()) return std::optional<outbox_row>{};
        return std::optional{at->second};
    }
    result<std::size_t> requeue(const std::vector<std::int64_t>& rows) override {
        const std::lock_guard lock{mutex_};
        std::size_t count = 0;
        for (const std::int64_t row : rows) {
            const auto at = rows_.find(row);
            if (at == rows_.end() || at->second.status != "dead") continue;
            at->second.status = "pending";
            ++count;
        }
        return count;
    }

private:
    std::mutex mutex_;
    std::map<std::int64_t, outbox_row> rows_; // guarded by mutex_
};

std::optional<http::grant> grant_of(const fingerprint& hash) {
    using http::scope;
    if (hash == fingerprint::raw("admin")) return {{"ops", http::scope_set{scope::admin}}};
    if (hash == fingerprint::raw("operator")) return {{"ops", http::scope_set{scope::operate}}};
    if (hash == fingerprint::raw("reader")) return {{"acme", http::scope_set{scope::read}}};
    return std::nullopt;
}

} // namespace

int main() {
    const auto timers = open_system_runtime();
    const auto records = open_memory_store();
    outbox_in_memory outbox;
    console_options with{.grant_of_hash = grant_of, .store = "memory", .outbox = &outbox};
    with.grant_of = [](std::string_view token) { return grant_of(fingerprint::raw(token)); };
    console pages{*records, *timers, std::move(with)};
    const auto server = edge::server::start({.threads = 1}, pages.requests()).value();
    std::cout << "http://" << server->address().text() << std::endl;
    for (std::string line; std::getline(std::cin, line);) {
    }
}
