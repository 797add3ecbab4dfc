// A memory store under a clock of the test's own, which counts what reaches it and can hold back
// its answers.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "semel/store/decorators.hpp"
#include "semel/store/memory.hpp"

namespace semel::testing {

struct hand_clock {
    time_point store = time_point{std::chrono::hours{24 * 365}};
    local_time local = local_time{std::chrono::hours{7}};

    void advance(duration by) {
        store += by;
        local += by;
    }
};

class watched_store final : public store {
public:
    explicit watched_store(const hand_clock& clock) : clock_(clock) {}
    ~watched_store() override {
        while (!held_.empty()) deliver();
    }

    void submit(envelope what, completion done) override {
        ++submits;
        ++trips;
        if (!what.now) what.now = clock_.store;
        if (!holding) return done(answer_to(what));
        held_.push_back({std::move(what), std::nullopt, std::move(done)});
    }

    result<reply> call(const record_id& id, command what, std::optional<time_point> now) override {
        ++trips;
        return answer_to({.id = id, .what = std::move(what), .now = now ? *now : clock_.store});
    }

    result<sweep_report> sweep(const sweep_request& request) override {
        sweep_request timed = request;
        if (!timed.now) timed.now = clock_.store;
        return inner_->sweep(timed);
    }
    result<std::vector<audit_entry>> audit(const record_id& id) override {
        return inner_->audit(id);
    }
    result<record_page> search(const record_query& query) override {
        record_query timed = query;
        if (!timed.now) timed.now = clock_.store;
        return inner_->search(timed);
    }
    [[nodiscard]] store_traits traits() const override { return {.durable = true}; }

    // The oldest, or the one at `index`, takes effect; its answer is still on its way.
    void execute(std::size_t index = 0) {
        held& one = held_.at(index);
        if (!one.answer) one.answer = answer_to(one.what);
    }
    // … and arrives.
    void deliver(std::size_t index = 0) {
        execute(index);
        held one = std::move(held_.at(index));
        held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(index));
        one.done(*std::move(one.answer));
    }

    std::optional<failure> next_failure = {}; // given instead of the next answer
    bool holding = false;                     // submitted commands wait for execute and deliver
    int trips = 0;
    int submits = 0;

private:
    struct held {
        envelope what;
        std::optional<result<reply>> answer;
        completion done;
    };

    result<reply> answer_to(const envelope& what) {
        if (next_failure) return *std::exchange(next_failure, std::nullopt);
        return inner_->call(what.id, what.what, what.now);
    }

    const hand_clock& clock_;
    std::unique_ptr<store> inner_ = open_memory_store();
    std::deque<held> held_;
};

inline fingerprint print(char seed) {
    fingerprint::bytes_type bytes;
    bytes.fill(static_cast<std::byte>(seed));
    return fingerprint{bytes};
}

inline record_id order(std::string key) {
    return {.tenant = "acme", .operation = "ORDER_CREATE", .key = std::move(key)};
}

inline commands::begin begin_with(std::optional<fingerprint> content,
                                  on_mismatch mismatch = on_mismatch::refuse) {
    return {.content = content,
            .owner = {.high = 1, .low = 2},
            .lease = std::chrono::seconds{30},
            .mismatch = mismatch};
}

inline stored_result body_of(std::string body) {
    stored_result made{.body = std::move(body), .type = "text/plain", .ref = "order-1"};
    seal(made);
    return made;
}

// A cache over a watched store, both under one hand-moved clock.
struct cached_fixture {
    explicit cached_fixture(cached_store_options options = {}) {
        auto owned = std::make_unique<watched_store>(clock);
        inner = owned.get();
        options.counters = &counters;
        options.clock = [this] { return clock.local; };
        outer = open_cached_store(std::move(owned), std::move(options));
    }

    result<reply> begin(const record_id& id, std::optional<fingerprint> content,
                        std::optional<time_point> now = {}) {
        return outer->call(id, begin_with(content), now);
    }

    claim start(const record_id& id, std::optional<fingerprint> content) {
        return std::get<answers::started>(begin(id, content).value().said).by;
    }

    result<reply> complete(const record_id& id, const claim& by, std::string body,
                           duration retention = std::chrono::hours{1}) {
        commands::complete what{.by = by, .result = body_of(std::move(body))};
        what.retention = retention;
        return outer->call(id, std::move(what));
    }

    // Executed without this cache seeing it: as another process would.
    result<reply> elsewhere(const record_id& id, command what) {
        return inner->call(id, std::move(what), clock.store);
    }

    // A record that succeeded long ago, by another process.
    void finished_elsewhere(const record_id& id, std::optional<fingerprint> content,
                            std::string body, duration retention = std::chrono::hours{1}) {
        const auto said = elsewhere(id, begin_with(content)).value().said;
        commands::complete what{.by = std::get<answers::started>(said).by,
                                .result = body_of(std::move(body))};
        what.retention = retention;
        elsewhere(id, std::move(what)).value();
    }

    // How often the store was asked while `act` ran.
    template <class Act> int trips_of(Act act) {
        const int before = inner->trips;
        act();
        return inner->trips - before;
    }

    hand_clock clock;
    cache_counters counters;
    watched_store* inner = nullptr;
    std::unique_ptr<store> outer;
};

inline std::string body_in(const result<reply>& got) {
    const auto* const said = got ? std::get_if<answers::replay>(&got->said) : nullptr;
    return said == nullptr ? "(no replay)" : said->result.body;
}

} // namespace semel::testing
