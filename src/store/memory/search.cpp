#include "store/memory/search.hpp"

#include <algorithm>
#include <utility>

#include "core/local_hash.hpp"
#include "store/search_cursor.hpp"

namespace semel {

namespace {

// What is looked at under one lock, and for one page.
constexpr std::size_t visit_max = 64;
constexpr std::size_t looks_max = 100'000;

// Goes through the records in the order of their hashes, then their ids.
class stripe_search {
public:
    stripe_search(std::span<stripe> stripes, const record_query& query, time_point now)
        : stripes_(stripes), query_(query), now_(now) {}

    result<record_page> run() {
        if (query_.tenant && query_.operation && query_.key) {
            return one({*query_.tenant, *query_.operation, *query_.key});
        }
        if (!query_.cursor.empty()) {
            auto last = id_in_cursor(query_.cursor);
            if (!last) return std::move(last).error();
            seen_ = *std::move(last);
            from_ = local_hash_of(*seen_);
        }
        for (std::size_t at = stripe_of(from_); at < stripes_.size(); ++at) {
            if (walk(stripes_[at]) == progress::stopped) {
                page_.cursor = cursor_of(*seen_);
                break;
            }
        }
        return std::move(page_);
    }

private:
    enum class progress { done, stopped };

    [[nodiscard]] std::size_t stripe_of(std::uint64_t hash) const { return hash >> 56; }

    record_page one(const record_id& id) {
        const std::uint64_t hash = local_hash_of(id);
        stripes_[stripe_of(hash)].visit({&hash, 1}, [&](const record_id& its, const record& it) {
            if (matches(query_, its, it, now_)) take(its, it);
        });
        return std::move(page_);
    }

    progress walk(stripe& through) {
        const auto hashes = through.hashes_from(from_);
        for (std::size_t at = 0; at < hashes.size(); at += visit_max) {
            if (full()) return progress::stopped;
            const std::size_t count = std::min(visit_max, hashes.size() - at);
            through.visit(std::span{hashes}.subspan(at, count),
                          [&](const record_id& id, const record& it) { look(id, it); });
        }
        return full() ? progress::stopped : progress::done;
    }

    [[nodiscard]] bool full() const {
        return page_.records.size() == query_.records_max || looks_ >= looks_max;
    }

    void look(const record_id& id, const record& it) {
        if (full() || !comes_after_seen(id)) return;
        seen_ = id;
        ++looks_;
        if (matches(query_, id, it, now_)) take(id, it);
    }

    // Only records with the hash of the cursor can be before it.
    [[nodiscard]] bool comes_after_seen(const record_id& id) const {
        return looks_ > 0 || !seen_ || local_hash_of(id) != from_ || id > *seen_;
    }

    void take(const record_id& id, const record& it) {
        page_.records.push_back({.id = id, .it = shown(it, query_.results)});
    }

    const std::span<stripe> stripes_;
    const record_query& query_;
    const time_point now_;
    std::uint64_t from_ = 0;
    std::optional<record_id> seen_ = {}; // the last one
    std::size_t looks_ = 0;
    record_page page_;
};

} // namespace

result<record_page> search_stripes(std::span<stripe> stripes, const record_query& query,
                                   time_point now) {
    if (auto sound = check(query); !sound) return std::move(sound).error();
    return stripe_search{stripes, query, now}.run();
}

} // namespace semel
