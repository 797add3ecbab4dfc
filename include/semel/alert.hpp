// Alerts for operators. Plain values; the callback that gets an alert sends it on.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "semel/time.hpp"

namespace semel {

enum class alert_kind : std::uint8_t {
    stuck,        // records whose owner has gone and that are not settled
    retry_storm,  // repeats have become a large share of all requests
    mismatches,   // keys that are used again for other requests
    store_errors, // questions that the store could not answer
    outbox_lag,   // events that wait too long
};

[[nodiscard]] std::string_view name(alert_kind kind);

enum class alert_state : std::uint8_t { firing, resolved };

// No bodies; keys only as log lines have them.
struct alert {
    alert_kind kind = alert_kind::stuck;
    alert_state state = alert_state::firing;
    std::string operation = {}; // stuck only
    std::uint64_t count = 0;    // how many records, requests or questions it is about
    double share = 0;           // of all, 0 to 1; rates only
    duration oldest = {};       // stuck and outbox_lag: how long the first of them waits
    std::string summary = {};   // one sentence for people
    std::string tenant = {};    // stuck only: of the oldest record
    std::string key = {};       // the same; the first digits of its hash, as in the log
    std::string link = {};      // to the page of the console that shows more; empty: none is known
};

// What a webhook is sent: one JSON object.
[[nodiscard]] std::string to_json(const alert& what);

// What has been counted so far, of which the differences matter.
struct traffic {
    std::uint64_t requests = 0;   // that came to an outcome
    std::uint64_t replayed = 0;   // of these
    std::uint64_t mismatched = 0; // of these
    std::uint64_t store_calls = 0;
    std::uint64_t store_failures = 0;
    duration outbox_lag = {}; // now; zero where there is no outbox
};

struct alert_limits {
    double replay_share = 0.5;
    double mismatch_share = 0.05;
    double store_failure_share = 0.01;
    std::uint64_t requests_min = 100; // fewer between two looks say nothing about shares
    duration outbox_lag = std::chrono::minutes{5};
};

// Compares one look with the one before and tells what began and what is over. Not thread-safe.
class rate_alerts {
public:
    explicit rate_alerts(const alert_limits& limits) : limits_(limits) {}

    [[nodiscard]] std::vector<alert> look(const traffic& now);

private:
    void judge(std::vector<alert>& to, alert found, bool over);

    const alert_limits limits_;
    traffic before_ = {};
    std::uint8_t firing_ = 0; // a bit for each kind
};

} // namespace semel
