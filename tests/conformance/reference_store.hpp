// The record machine behind one lock: the plainest store that conforms, and one that can be told to
// have a fault, to show that the suite finds it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "semel/conformance.hpp"
#include "semel/core/record_machine.hpp"
#include "semel/store.hpp"

namespace semel::conformance {

// Every member is a fault; the plain ones do nothing.
struct faults {
    std::function<void(record_id&)> id = [](record_id&) {};
    std::function<void(command&)> asked = [](command&) {};
    std::function<void(instant&)> at = [](instant&) {};
    std::function<void(record&)> written = [](record&) {};
    std::function<void(applied&)> made = [](applied&) {};
    std::function<void(record_query&)> searched = [](record_query&) {};
    std::function<void(record_page&)> found = [](record_page&) {};
    enum class audits { kept, lost } audit = audits::kept;
};

// What outlives a reference store. Thread-safe.
class reference_state {
public:
    explicit reference_state(faults wrong) : wrong_(std::move(wrong)) {}

    reply execute(record_id id, command what, std::optional<time_point> when) {
        const time_point now = when ? *when : wall_clock();
        wrong_.id(id);
        wrong_.asked(what);
        const std::lock_guard lock{mutex_};
        instant at{.now = now, .fence_floor = fence_floor_};
        wrong_.at(at);
        const auto found = records_.find(id);
        applied made =
            apply(found == records_.end() ? nullptr : &found->second, std::move(what), at);
        wrong_.made(made);
        keep(id, made);
        return {.said = std::move(made.said), .now = now};
    }

    sweep_report sweep(const sweep_request& request) {
        sweep_report report;
        for (const auto& id : ids()) {
            if (report.removed == request.records_max) {
                report.state = sweep_state::more;
                break;
            }
            const reply got = execute(id, commands::purge{}, request.now);
            if (std::holds_alternative<answers::removed>(got.said)) ++report.removed;
        }
        return report;
    }

    std::vector<audit_entry> audit(const record_id& id) {
        const std::lock_guard lock{mutex_};
        return audit_[id];
    }

    // The cursor has a stroke for every record that was looked at.
    result<record_page> search(record_query query) {
        wrong_.searched(query);
        if (auto sound = check(query); !sound) return std::move(sound).error();
        if (query.cursor.find_first_not_of('|') != std::string::npos) {
            return failure{.code = errc::invalid_argument, .detail = "not a cursor"};
        }
        const time_point now = query.now ? *query.now : wall_clock();
        record_page page;
        std::size_t place = 0;
        const std::lock_guard lock{mutex_};
        for (const auto& [id, it] : records_) {
            if (place++ < query.cursor.size() || !matches(query, id, it, now)) continue;
            page.records.push_back({.id = id, .it = shown(it, query.results)});
            if (page.records.size() < query.records_max) continue;
            page.cursor = std::string(place, '|');
            break;
        }
        wrong_.found(page);
        return page;
    }

    std::uint64_t writes() {
        const std::lock_guard lock{mutex_};
        return writes_;
    }

private:
    static time_point wall_clock() {
        return std::chrono::time_point_cast<duration>(std::chrono::system_clock::now());
    }

    std::vector<record_id> ids() {
        const std::lock_guard lock{mutex_};
        std::vector<record_id> all;
        for (const auto& [id, it] : records_) all.push_back(id);
        return all;
    }

    void keep(const record_id& id, applied& made) {
        if (made.audit && wrong_.audit == faults::audits::kept) audit_[id].push_back(*made.audit);
        if (made.what == change::none) return;
        ++writes_;
        if (made.what == change::put) {
            wrong_.written(*made.after);
            records_[id] = *std::move(made.after);
            return;
        }
        const auto gone = records_.extract(id);
        fence_floor_ = std::max(fence_floor_, gone.mapped().holder.fence);
    }

    const faults wrong_;
    std::mutex mutex_;
    // Guarded by mutex_.
    std::map<record_id, record> records_;
    std::map<record_id, std::vector<audit_entry>> audit_;
    std::uint64_t fence_floor_ = 0;
    std::uint64_t writes_ = 0;
};

class reference_store final : public store {
public:
    explicit reference_store(std::shared_ptr<reference_state> state) : state_(std::move(state)) {}

    void submit(envelope what, completion done) override {
        done(state_->execute(std::move(what.id), std::move(what.what), what.now));
    }
    result<sweep_report> sweep(const sweep_request& request) override {
        return state_->sweep(request);
    }
    result<std::vector<audit_entry>> audit(const record_id& id) override {
        return state_->audit(id);
    }
    result<record_page> search(const record_query& query) override { return state_->search(query); }
    [[nodiscard]] store_traits traits() const override { return {}; }

private:
    const std::shared_ptr<reference_state> state_; // shared with its backing
};

// `Store` is constructed from the state.
template <class Store> class reference_backing final : public backing {
public:
    explicit reference_backing(faults wrong)
        : state_(std::make_shared<reference_state>(std::move(wrong))) {}

    result<std::unique_ptr<store>> open() override {
        std::unique_ptr<store> one = std::make_unique<Store>(state_);
        return one;
    }
    std::optional<std::uint64_t> writes() override { return state_->writes(); }

private:
    const std::shared_ptr<reference_state> state_; // shared with the stores that are open
};

inline subject reference_subject(const faults& wrong = {}) {
    return {.name = "reference",
            .make = [wrong] { return std::make_unique<reference_backing<reference_store>>(wrong); },
            .opens = instances::many};
}

} // namespace semel::conformance
