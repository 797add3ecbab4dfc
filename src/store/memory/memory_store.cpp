#include <array>
#include <utility>

#include "base/home_process.hpp"
#include "core/local_hash.hpp"
#include "semel/store/memory.hpp"
#include "store/memory/search.hpp"
#include "store/memory/stripe.hpp"

namespace semel {

namespace {

constexpr std::size_t stripe_count = 256;

// The store's clock: the wall clock at construction, carried on by the boot-time clock. Records do
// not outlive the process, so steps of the wall clock need not reach them.
class memory_clock {
public:
    [[nodiscard]] time_point now() const { return wall_ + (local_clock::now() - local_); }

private:
    time_point wall_ = std::chrono::time_point_cast<duration>(std::chrono::system_clock::now());
    local_time local_ = local_clock::now();
};

template <std::size_t... I>
std::array<stripe, sizeof...(I)> make_stripes(memory_budget& budget, std::index_sequence<I...>) {
    return {((void)I, stripe{budget})...};
}

class memory_store final : public store {
public:
    explicit memory_store(const memory_store_options& options)
        : budget_{.options = options},
          stripes_(make_stripes(budget_, std::make_index_sequence<stripe_count>{})) {}

    void submit(envelope what, completion done) override {
        done(call(what.id, std::move(what.what), what.now));
    }

    result<reply> call(const record_id& id, command what, std::optional<time_point> now) override {
        if (home_.left()) return opened_before_fork("the store");
        const std::uint64_t hash = local_hash_of(id);
        const time_point when = now ? *now : clock_.now();
        if (budget_.full() && std::holds_alternative<commands::begin>(what)) make_room(when);
        return at(hash).execute(id, hash, std::move(what), when);
    }

    result<sweep_report> sweep(const sweep_request& request) override {
        if (home_.left()) return opened_before_fork("the store");
        const time_point now = request.now ? *request.now : clock_.now();
        sweep_report total;
        for (auto& one : stripes_) {
            const auto did = one.sweep(request.records_max - total.removed, now);
            total.removed += did.removed;
            if (did.state == sweep_state::more) total.state = sweep_state::more;
        }
        return total;
    }

    result<std::vector<audit_entry>> audit(const record_id& id) override {
        if (home_.left()) return opened_before_fork("the store");
        return at(local_hash_of(id)).audit(id);
    }

    result<record_page> search(const record_query& query) override {
        if (home_.left()) return opened_before_fork("the store");
        return search_stripes(stripes_, query, query.now ? *query.now : clock_.now());
    }

    [[nodiscard]] store_traits traits() const override {
        return {.in_memory = true, .durable = false};
    }

private:
    // All stripes share the bounds: an expired record in any stripe makes room for a begin in this
    // one.
    void make_room(time_point now) { (void)sweep({.now = now}); }

    // The low bits choose the slot inside a stripe's table, so the stripe is chosen by high ones.
    stripe& at(std::uint64_t hash) { return stripes_[hash >> 56]; }

    const home_process home_;
    const memory_clock clock_;
    memory_budget budget_;
    std::array<stripe, stripe_count> stripes_;
};

} // namespace

std::unique_ptr<store> open_memory_store(const memory_store_options& options) {
    return std::make_unique<memory_store>(options);
}

} // namespace semel
