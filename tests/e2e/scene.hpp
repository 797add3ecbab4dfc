// Two gateways on one PostgreSQL in front of one shop, of which the first is killed.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "http/support/client.hpp"
#include "http/support/gateway_process.hpp"
#include "http/support/upstream.hpp"
#include "support/postgres_server.hpp"

namespace semel::e2e {

namespace support = edge::support;

// Where the shop stops while it serves its first order, until it is let go.
enum class stall { never, working, half_head, half_body };

// A service that makes an order for every POST it has read to its end, and tells at /outcome what
// it has made.
class shop {
public:
    explicit shop(stall at);
    ~shop() { go_on(); }

    [[nodiscard]] std::string url() const;
    [[nodiscard]] int orders() const { return orders_; }
    // The first order has been made; its answer goes no further than the stall.
    [[nodiscard]] bool has_stalled() { return stalled_.wait(); }
    void go_on() { released_.open(); }

private:
    void serve(const support::seen_request& request, support::socket& to);

    const stall at_;
    std::atomic<int> orders_ = 0;
    support::gate_flag stalled_, released_;
    support::upstream behind_; // last: its threads use the others
};

// With its tables.
class migrated_prefix : public testing_support::postgres_prefix {
public:
    migrated_prefix();
};

struct scene_options {
    std::string policy = "retry";
    stall at = stall::never;
    std::string lease = "60s";       // never lapses by itself while a test runs
    std::string first_upstream = {}; // of the gateway that is killed; empty: the shop
};

class scene {
public:
    explicit scene(const scene_options& with);

    // ---- the way to the point where the first gateway is killed
    [[nodiscard]] support::client& client() { return *client_; }
    void send_order(std::size_t body_bytes = 2);
    [[nodiscard]] bool is_claimed();
    [[nodiscard]] bool is_completed();
    // From here on whoever wants to write the record, or any record, waits.
    void lock_record();
    void lock_table();
    // A statement with this text waits for such a lock.
    [[nodiscard]] bool waits(const std::string& text);
    // Statements whose process has gone are carried out, or are not.
    void unlock();
    void unlock_after_ending_statements();
    void kill_first();

    // ---- afterwards
    // The order again, through the second gateway.
    [[nodiscard]] support::answer repeat() const;
    // As if the lease had run out meanwhile.
    void let_lease_lapse();
    // "absent", "processing", "lapsed" (processing past its lease), "succeeded" or "failed"
    [[nodiscard]] std::string record();
    [[nodiscard]] shop& behind() { return shop_; }
    [[nodiscard]] const std::string& policy() const { return options_.policy; }

private:
    [[nodiscard]] std::vector<std::string> arguments(const std::string& upstream) const;
    [[nodiscard]] support::post_options order() const;
    std::string ask(const std::string& sql);

    const scene_options options_;
    shop shop_;
    migrated_prefix prefix_;
    testing_support::postgres_client watcher_, locker_;
    support::gateway_process first_, second_;
    std::unique_ptr<support::client> client_;
    std::size_t body_bytes_ = 2;
};

} // namespace semel::e2e
