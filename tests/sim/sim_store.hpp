// One process's driver: the production batch lanes in front of the simulated database, with a
// network between them that loses, delays and refuses.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "semel/store.hpp"
#include "sim/database.hpp"
#include "sim/ghost.hpp"
#include "sim/scene.hpp"
#include "store/lane.hpp"

namespace semel::sim {

// What is wrong between the processes and the database right now.
struct network {
    duration outage_until = {};
    [[nodiscard]] bool down(duration now) const { return now < outage_until; }
};

class sim_store final : public store {
public:
    sim_store(scene& with, ghost& truth, database& behind, const network& between, process_id who);
    ~sim_store() override;

    void submit(envelope what, completion done) override;
    void submit_all(std::vector<submission> many) override;
    std::unique_ptr<record_watch> watch(const record_id& id, unique_function<void()> news) override;
    result<sweep_report> sweep(const sweep_request& request) override;
    result<std::vector<audit_entry>> audit(const record_id& id) override;
    result<record_page> search(const record_query& query) override;
    [[nodiscard]] store_traits traits() const override { return {.durable = true}; }

    // The process dies: whatever was under way will not be answered.
    void forget();

private:
    class backend final : public batch_backend {
    public:
        explicit backend(sim_store& of) : of_(of) {}
        void execute(std::span<job* const> batch) override;

    private:
        sim_store& of_;
    };
    struct question {
        completion done;
        record_id id;
        bool of_owner = false; // complete, fail, release, abandon, renew, checkpoint
        bool is_lookup = false;
        std::optional<owner_id> claimed = {}; // begin
    };

    class listening;
    void carry_news(std::uint64_t serial);

    submission tracked(envelope what, completion done);
    [[nodiscard]] std::size_t route(const command& what) const;
    void wake(std::size_t lane);
    void pump(std::size_t lane);
    [[nodiscard]] result<reply> carry(const job& one);
    void apply_later(const job& one);
    void on_lane_answer(std::uint64_t serial, result<reply> got);
    void deliver(std::uint64_t serial, result<reply> got);
    void look_at(const question& asked, const result<reply>& got);
    [[nodiscard]] duration latency();

    scene& scene_;
    ghost& ghost_;
    database& database_;
    const network& network_;
    const process_id who_;
    bool dead_ = false;
    std::uint64_t serial_ = 0;
    std::map<std::uint64_t, question> asked_;
    std::map<std::uint64_t, std::shared_ptr<unique_function<void()>>> listeners_;
    std::set<std::pair<std::uint64_t, std::uint64_t>> doubtful_; // owners whose begin is in doubt
    backend backend_{*this};
    std::vector<std::unique_ptr<batch_lane>> lanes_; // one for all, one for renewals
};

} // namespace semel::sim
