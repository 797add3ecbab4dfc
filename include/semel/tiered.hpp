// A fast memory in front of a durable store: repeats are answered by Redis, and a database stays
// the truth.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "semel/command.hpp"
#include "semel/function.hpp"
#include "semel/metrics.hpp"
#include "semel/record.hpp"
#include "semel/result.hpp"
#include "semel/store.hpp"
#include "semel/time.hpp"

namespace semel {

// What a front remembers about one record. Times are the truth's.
struct front_entry {
    enum class kind : std::uint8_t {
        gate,   // somebody works on it: told by the one who does
        rumour, // the same, told by one who was refused: its grace is not known
        replay,
        failed, // for good
    };

    kind what = kind::gate;
    std::optional<fingerprint> content = {}; // of the begins that may be answered from here
    claim holder = {};                       // the owner of a replay may be unknown, then zero
    std::uint32_t attempt = 0;
    duration grace = {};         // gate
    time_point lease_until = {}; // gate; rumour: when to ask again
    time_point until = {};       // gate, rumour: not believed any longer
    time_point expires_at = {};  // replay, failed
    stored_result result = {};   // replay
    std::string error = {};      // failed

    friend bool operator==(const front_entry&, const front_entry&) = default;
};

// What can be asked of a front about one record. `life` is how long to keep it.
namespace fronts {

// What is known; if nothing is, remember the token, as a promise that whoever shows it has seen
// everything that happened to the record since.
struct look {
    std::uint64_t token = 0;
    duration life = {};
};

// Remember, if the token is still the record's and nothing newer is known: a higher fence, or the
// end of the same attempt. Tokens stay when entries replace one another and go with forget.
struct put {
    std::uint64_t token = 0;
    front_entry entry = {};
    duration life = {};
};

// This attempt has come to its end: its gate or rumour becomes this, and keeps content, holder and
// attempt. A token alone goes, since what is put under it may be older than this end. Else nothing.
struct settle {
    claim by = {};
    front_entry end = {};
    duration life = {};
};

// This attempt's lease is longer now. A rumour is forgotten; nothing if there is no gate.
struct prolong {
    claim by = {};
    time_point lease_until = {};
    time_point until = {};
    duration life = {};
};

// Entry and token go. If that cannot be done now, the front answers no look at this record until it
// is done, and goes on trying by itself.
struct forget {};

// Nothing: answered in turn with the others.
struct pass {};

} // namespace fronts

using front_command = std::variant<fronts::look, fronts::put, fronts::settle, fronts::prolong,
                                   fronts::forget, fronts::pass>;

// What a look has seen; empty for everything else.
struct front_sight {
    std::optional<front_entry> entry = {};
    std::uint64_t token = 0; // the record's, now
};

// Called exactly once, inline or on a thread of the front.
using front_completion = unique_function<void(result<front_sight>)>;

// Thread-safe. Commands on one record take effect in the order in which they were submitted and
// are answered in that order; each takes effect atomically. It may forget everything at any time.
// Destruction answers all that was submitted.
class front_tier {
public:
    front_tier() = default;
    front_tier(const front_tier&) = delete;
    front_tier& operator=(const front_tier&) = delete;
    virtual ~front_tier() = default;

    // Never blocks. A look may be refused at once (errc::overloaded).
    virtual void submit(const record_id& id, front_command what, front_completion done) = 0;

    // The same for a caller that can wait. From a completion of a front it need not: it may fail at
    // once, as if the front were away, but what is not a look takes effect in its turn all the
    // same.
    virtual result<front_sight> call(const record_id& id, front_command what) = 0;

    // Forgets all records, or goes on trying as with forget. Blocking. For tests, which turn clocks
    // back.
    virtual void clear() = 0;
};

struct tier_counters {
    counter answered = {}; // begins that the front has answered
    counter asked = {};    // begins that went on to the truth
    counter failures = {}; // commands the front could not take

    struct values {
        std::uint64_t answered = 0;
        std::uint64_t asked = 0;
        std::uint64_t failures = 0;
    };
    [[nodiscard]] values snapshot() const;
};

struct tier_options {
    // How long "somebody works on it" is believed without asking the truth again.
    duration gate_life = std::chrono::seconds{20};
    tier_counters* counters = nullptr;      // outlives the store; null: nothing is counted
    std::function<local_time()> clock = {}; // for tests only; empty: local_clock
};

// Every command but a repeat is decided by `truth`, which issues the fences and is written first.
// The front gets finished results after that, for as long as they are kept, and short-lived gates
// for running attempts; so a repeat with the same content is answered without the truth. Another
// content is compared by the truth alone.
//
// A front that is lost, slow or empty costs time and changes nothing else, with one exception: a
// gate that could not be taken back answers in_progress until it lapses. What an operator removes
// while the front cannot be reached is removed at once; processes that still reach the front may
// replay it until the front has been told.
[[nodiscard]] std::unique_ptr<store>
tiered(std::unique_ptr<front_tier> front, std::unique_ptr<store> truth, tier_options options = {});

} // namespace semel
