// The reconciler: settles records whose owner has gone, by asking the application what happened.
//
//   semel::reconciler settles{engine.records(),
//                             {.operations = {{"PAY", {.probe = ask_the_bank}}}}};
//   settles.start();
//
// The reconciler looks for processing records whose lease has lapsed. Past alert_after it calls
// on_alert. Past settle_after it asks the operation's probe, if the record was begun with
// on_lease_expiry probe, and stores the answer as the record's end; the next repeat replays that. A
// record begun with hold waits for an operator, and one begun with retry for its client.
//
// Any number of reconcilers may work on one store. Each question is claimed by a record of its own
// (tenant "semel", operation "reconcile"), so only one reconciler asks. A verdict is bound to the
// fence that was judged, so only one verdict is stored. Every verdict is in the record's audit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "semel/base/time.hpp"
#include "semel/core/search.hpp"
#include "semel/log.hpp"
#include "semel/store.hpp"

namespace semel {

// Alerts for operators. Plain values; the callback that gets an alert sends it on.

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

namespace probes {
// The effect took place, and this is its answer.
struct committed {
    stored_result result = {};
};
// It did not, and will not: the same request may run again.
struct not_executed {};
// The probe cannot tell yet. The reconciler asks again later.
struct unknown {
    std::string why = {};
};
} // namespace probes

using probe_answer = std::variant<probes::unknown, probes::not_executed, probes::committed>;

// Blocks until it has an answer, within probe_max. An exception counts as unknown. Several threads
// may call it at once, for different records. The record has neither body nor checkpoints.
using probe = std::function<probe_answer(const found_record&)>;

struct reconcile_rule {
    duration alert_after = std::chrono::minutes{5};   // past the lease
    duration settle_after = std::chrono::minutes{10}; // past the lease
    duration retention = std::chrono::hours{24};      // of a record that was settled
    semel::probe probe = {};                          // none: an operator decides
};

struct reconciler_options {
    reconcile_rule defaults = {};
    std::map<std::string, reconcile_rule> operations = {};
    // Between two passes; longer where searching takes a tenth of that (Redis has no index for it).
    duration every = std::chrono::seconds{30};
    duration probe_max = std::chrono::minutes{1};   // after that another instance may ask
    duration ask_again = std::chrono::seconds{30};  // after an unknown; twice as long each time
    duration ask_again_max = std::chrono::hours{1}; // … up to this
    duration alert_again = std::chrono::hours{24};  // about the same record
    std::size_t records_max = 10'000;               // looked at in one pass
    std::size_t probes_at_once = 4;
    std::string actor = "reconciler"; // in the audit
    // Called once per operation and pass for records that are new to all instances; must not throw.
    std::function<void(const alert&)> on_alert = {};
    std::shared_ptr<logger> log = {};   // default: none
    std::optional<time_point> now = {}; // for tests only: it stands in for the store's clock
};

// What one pass did.
struct reconcile_report {
    std::size_t stuck = 0;     // found, of any policy, past their alert_after
    std::size_t asked = 0;     // questions
    std::size_t committed = 0; // verdicts that were stored
    std::size_t not_executed = 0;
    std::size_t unknown = 0;  // answers that settle nothing
    std::size_t late = 0;     // answers about records that were settled meanwhile
    std::size_t left = 0;     // held for an operator, or for a client to run again
    std::size_t alerted = 0;  // records that on_alert was called for
    std::size_t failures = 0; // questions to the store that it did not answer
    duration search_took = {};
};

// Sums since it began, and `stuck` of the last pass.
struct reconcile_counts {
    std::uint64_t passes = 0;
    reconcile_report sum = {};
    std::uint64_t stuck_now = 0;
};

// Thread-safe. The store outlives it.
class reconciler {
public:
    // Throws failure_error (invalid_argument) on times that are not positive.
    reconciler(store& records, reconciler_options options);
    ~reconciler();
    reconciler(const reconciler&) = delete;
    reconciler& operator=(const reconciler&) = delete;

    // One pass, now, on this thread and probes_at_once - 1 more. unavailable and the like: the
    // store could not be searched.
    result<reconcile_report> pass();

    // Passes on a thread of its own, from now until stop() or the destructor.
    void start();
    void stop();

    [[nodiscard]] reconcile_counts counts() const;

private:
    struct parts;
    std::unique_ptr<parts> parts_;
};

} // namespace semel
