// A fast memory in front of a durable store: Redis answers repeats, and a database stays the truth.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "semel/base/function.hpp"
#include "semel/base/result.hpp"
#include "semel/base/time.hpp"
#include "semel/core/command.hpp"
#include "semel/core/metrics.hpp"
#include "semel/core/record.hpp"
#include "semel/store.hpp"

namespace semel {

// What a front remembers about one record. Times are the truth's.
struct front_entry {
    enum class kind : std::uint8_t {
        gate,   // an attempt is running; put by the caller of that attempt
        rumour, // the same, put by a caller that was refused: the grace is not known
        replay, // the record has a result
        failed, // the record has failed for good
    };

    kind what = kind::gate;
    std::optional<fingerprint> content = {}; // of the begins that this entry may answer
    claim holder = {};                       // the owner of a replay may be unknown: then zero
    std::uint32_t attempt = 0;
    duration grace = {};         // gate
    time_point lease_until = {}; // gate; rumour: when to ask again
    time_point until = {};       // gate, rumour: ignored from then on
    time_point expires_at = {};  // replay, failed
    stored_result result = {};   // replay
    std::string error = {};      // failed

    friend bool operator==(const front_entry&, const front_entry&) = default;
};

// What can be asked of a front about one record. `life` is how long to keep it.
namespace fronts {

// Asks for the entry. If there is none, the front stores the token. A later put with this token
// proves that its caller has seen everything that happened to the record since the look.
struct look {
    std::uint64_t token = 0;
    duration life = {};
};

// Stores the entry if the front still has this token and nothing newer. Newer is a higher fence, or
// the end of the same attempt. The token stays when one entry replaces another; forget deletes it.
struct put {
    std::uint64_t token = 0;
    front_entry entry = {};
    duration life = {};
};

// The attempt `by` has ended: replaces its gate or rumour by `end`, and keeps content, holder and
// attempt. If only a token is stored, deletes it: an entry that is put with this token may be older
// than the end. Otherwise does nothing.
struct settle {
    claim by = {};
    front_entry end = {};
    duration life = {};
};

// The lease of the attempt `by` is longer now: prolongs its gate, or deletes its rumour. Otherwise
// does nothing.
struct prolong {
    claim by = {};
    time_point lease_until = {};
    time_point until = {};
    duration life = {};
};

// Deletes entry and token. If the front cannot delete them now, it goes on trying by itself, and
// answers no look at this record until they are deleted.
struct forget {};

// Does nothing. Its answer comes in turn with those of other commands.
struct pass {};

} // namespace fronts

using front_command = std::variant<fronts::look, fronts::put, fronts::settle, fronts::prolong,
                                   fronts::forget, fronts::pass>;

// What a look has found. Empty for every other command.
struct front_sight {
    std::optional<front_entry> entry = {};
    std::uint64_t token = 0; // the one that the front has for the record now
};

// Called exactly once, inline or on a thread of the front.
using front_completion = unique_function<void(result<front_sight>)>;

// Thread-safe. Commands on one record take effect in the order in which they were submitted and
// are answered in that order; each takes effect atomically. A front may forget everything at any
// time. The destructor answers all commands that were submitted.
class front_tier {
public:
    front_tier() = default;
    front_tier(const front_tier&) = delete;
    front_tier& operator=(const front_tier&) = delete;
    virtual ~front_tier() = default;

    // Never blocks. A look may be refused at once (errc::overloaded).
    virtual void submit(const record_id& id, front_command what, front_completion done) = 0;

    // The same, and waits for the answer. If it is called inside a completion of a front, it may
    // fail at once, as if the front were away. A command that is not a look then takes effect in
    // its turn all the same.
    virtual result<front_sight> call(const record_id& id, front_command what) = 0;

    // Forgets all records, or goes on trying as forget does. Blocking. For tests, which turn clocks
    // back.
    virtual void clear() = 0;

    // As store::watch().
    [[nodiscard]] virtual std::unique_ptr<record_watch> watch(const record_id& id,
                                                              unique_function<void()> news);
};

struct tier_counters {
    counter answered = {}; // begins that the front has answered
    counter asked = {};    // begins that went on to the truth
    counter failures = {}; // commands the front could not take
};

struct tiered_store_options {
    // How long a gate answers repeats before the truth is asked again.
    duration gate_life = std::chrono::seconds{20};
    tier_counters* counters = nullptr;      // outlives the store; null: nothing is counted
    std::function<local_time()> clock = {}; // for tests only; empty: local_clock
};

// `truth` decides every command except repeats, issues the fences, and is written first. Then the
// front gets finished results, for as long as they are kept, and short-lived gates for running
// attempts. So the front can answer a repeat with the same content. Only the truth compares other
// content.
//
// A front that is lost, slow or empty costs time and changes nothing else, with one exception: a
// gate that could not be deleted answers in_progress until it lapses. If an operator removes a
// record while the front cannot be reached, the record is removed at once. But processes that still
// reach the front may replay it until the front has been told.
[[nodiscard]] std::unique_ptr<store> open_tiered_store(std::unique_ptr<front_tier> front,
                                                       std::unique_ptr<store> truth,
                                                       tiered_store_options options = {});

} // namespace semel
