#include "sim/sim_store.hpp"

#include <utility>

namespace semel::sim {

namespace {

constexpr std::size_t main_lane = 0;
constexpr std::size_t keeper_lane = 1;

failure away(effect possible) {
    return {.code = possible == effect::unknown ? errc::timed_out : errc::unavailable,
            .possible = possible,
            .detail = "simulated"};
}

// Said here once more, so that a lane which forgets it is noticed.
bool belongs_to_owner(const command& what) {
    return what.index() >= command{commands::complete{}}.index() &&
           what.index() <= command{commands::checkpoint{}}.index();
}

// The attempt whose end this command reports.
std::optional<std::uint64_t> ended_fence(const command& what) {
    if (const auto* one = std::get_if<commands::complete>(&what)) return one->by.fence;
    if (const auto* one = std::get_if<commands::fail>(&what)) return one->by.fence;
    if (const auto* one = std::get_if<commands::release>(&what)) return one->by.fence;
    if (const auto* one = std::get_if<commands::abandon>(&what)) return one->by.fence;
    return std::nullopt;
}

} // namespace

sim_store::sim_store(scene& with, ghost& truth, database& behind, const network& between,
                     process_id who)
    : scene_(with), ghost_(truth), database_(behind), network_(between), who_(who) {
    const lane_options options{.queue_max = scene_.plan.queue_max,
                               .batch_max = scene_.plan.batch_max};
    for (const std::size_t at : {main_lane, keeper_lane}) {
        lanes_.push_back(std::make_unique<batch_lane>(
            backend_, [this, at] { wake(at); }, options));
    }
}

sim_store::~sim_store() {
    forget();
    for (auto& lane : lanes_) {
        while (lane->waiting() > 0) lane->pump();
    }
}

void sim_store::forget() {
    dead_ = true;
    // Destroyed only when the map is empty: what they own may ask again.
    const auto dropped = std::exchange(asked_, {});
}

submission sim_store::tracked(envelope what, completion done) {
    if (what.now) scene_.fail("S13", text_of(what.id) + ": the engine sent a time of its own");
    if (const auto fence = ended_fence(what.what)) ghost_.keys[what.id].ends_sent.insert(*fence);
    const auto* begin = std::get_if<commands::begin>(&what.what);
    if (begin != nullptr) {
        ghost_.keys[what.id].askers[{begin->owner.high, begin->owner.low}] = who_;
    }
    const std::uint64_t serial = serial_++;
    asked_[serial] = {.done = std::move(done),
                      .id = what.id,
                      .of_owner = belongs_to_owner(what.what),
                      .is_lookup = std::holds_alternative<commands::lookup>(what.what),
                      .claimed = begin ? std::optional{begin->owner} : std::nullopt};
    return {.what = std::move(what),
            .done = [this, serial](result<reply> got) { on_lane_answer(serial, std::move(got)); }};
}

std::size_t sim_store::route(const command& what) const {
    return std::holds_alternative<commands::renew>(what) ? keeper_lane : main_lane;
}

void sim_store::submit(envelope what, completion done) {
    if (dead_) return;
    const std::size_t lane = route(what.what);
    submission one = tracked(std::move(what), std::move(done));
    lanes_[lane]->submit(std::move(one.what), std::move(one.done));
}

void sim_store::submit_all(std::vector<submission> many) {
    for (auto& one : many) submit(std::move(one.what), std::move(one.done));
}

class sim_store::listening final : public record_watch {
public:
    listening(sim_store& of, std::uint64_t serial) : of_(of), serial_(serial) {}
    ~listening() override {
        of_.database_.stop_listening(serial_);
        of_.listeners_.erase(serial_);
    }

private:
    sim_store& of_;
    const std::uint64_t serial_;
};

std::unique_ptr<record_watch> sim_store::watch(const record_id& id, unique_function<void()> news) {
    if (dead_) return nullptr;
    const std::uint64_t serial = scene_.next_listener++;
    listeners_[serial] = std::make_shared<unique_function<void()>>(std::move(news));
    database_.listen(serial, id, [this, serial] { carry_news(serial); });
    return std::make_unique<listening>(*this, serial);
}

void sim_store::carry_news(std::uint64_t serial) {
    if (dead_ || network_.down(scene_.loop.now()) || scene_.random.hit(scene_.plan.lost_news)) {
        return scene_.seen.saw(rare::news_lost);
    }
    scene_.loop.after(latency(), who_, [this, serial] {
        const auto at = listeners_.find(serial);
        if (at == listeners_.end()) return;
        scene_.seen.saw(rare::woken_by_news);
        const auto news = at->second; // may end the watch it is called by
        (*news)();
    });
}

void sim_store::wake(std::size_t lane) {
    scene_.loop.after(latency(), who_, [this, lane] { pump(lane); });
}

void sim_store::pump(std::size_t lane) {
    if (lanes_[lane]->pump()) wake(lane);
}

duration sim_store::latency() {
    return scene_.random.between(duration{0}, scene_.plan.latency_max);
}

// ---- the network

void sim_store::backend::execute(std::span<job* const> batch) {
    for (job* one : batch) one->answer.emplace(of_.carry(*one));
}

result<reply> sim_store::carry(const job& one) {
    if (dead_) return away(effect::unknown);
    const auto& plan = scene_.plan;
    if (network_.down(scene_.loop.now())) {
        return away(scene_.random.hit(500) ? effect::none : effect::unknown);
    }
    if (scene_.random.hit(plan.refused)) return away(effect::none);
    if (scene_.random.hit(plan.lost_request)) return away(effect::unknown);
    if (scene_.random.hit(plan.delayed_apply)) {
        apply_later(one);
        return away(effect::unknown);
    }
    reply got = database_.apply(one.id, one.what, one.now);
    if (!scene_.random.hit(plan.lost_reply)) return got;
    scene_.seen.saw(rare::lost_reply);
    return away(effect::unknown);
}

// In the world's own time: the command has left the process and outlives it.
void sim_store::apply_later(const job& one) {
    const duration delay = scene_.random.between(duration{0}, scene_.plan.late_max);
    scene_.loop.after(delay, world_process,
                      [&scene = scene_, &behind = database_, id = one.id, what = one.what] {
                          scene.seen.saw(rare::late_apply);
                          static_cast<void>(behind.apply(id, what, std::nullopt));
                      });
}

// ---- the way back

void sim_store::on_lane_answer(std::uint64_t serial, result<reply> got) {
    const auto asked = asked_.find(serial);
    if (asked == asked_.end()) return;
    if (!got && got.error().code == errc::overloaded) {
        scene_.seen.saw(rare::queue_refusal);
        if (asked->second.of_owner) {
            scene_.fail("S8", text_of(asked->second.id) +
                                  ": a full queue refused a running attempt's command");
        }
    }
    const duration delay = latency();
    if (delay < std::chrono::microseconds{200}) return deliver(serial, std::move(got));
    scene_.loop.after(delay, who_, [this, serial, got = std::move(got)]() mutable {
        deliver(serial, std::move(got));
    });
}

void sim_store::deliver(std::uint64_t serial, result<reply> got) {
    auto asked = asked_.extract(serial);
    if (asked.empty()) return;
    look_at(asked.mapped(), got);
    asked.mapped().done(std::move(got));
}

void sim_store::look_at(const question& asked, const result<reply>& got) {
    if (asked.claimed && !got && got.error().possible == effect::unknown) {
        doubtful_.emplace(asked.claimed->high, asked.claimed->low);
        ghost_.keys[asked.id].lost_begins.emplace(asked.claimed->high, asked.claimed->low);
    }
    if (!asked.is_lookup || !got) return;
    const auto* found = std::get_if<answers::found>(&got->said);
    if (found == nullptr || !found->current) return;
    const owner_id owner = found->current->holder.owner;
    if (doubtful_.contains({owner.high, owner.low})) {
        scene_.seen.saw(rare::begin_resolved_by_lookup);
    }
}

// ---- housekeeping

// Asks for every record, as a sweeper with a stale index would: the database must look again.
result<sweep_report> sim_store::sweep(const sweep_request& request) {
    if (request.now) scene_.fail("S13", "the sweeper sent a time of its own");
    if (dead_ || network_.down(scene_.loop.now())) return away(effect::unknown);
    std::size_t asked = 0;
    for (const auto& [id, it] : database_.records()) {
        if (asked++ >= request.records_max) break;
        const bool seen_expired =
            it.state != record_state::processing && database_.now() >= it.expires_at;
        const duration delay = latency();
        scene_.loop.after(delay, world_process,
                          [this_scene = &scene_, behind = &database_, id = id, seen_expired] {
                              const reply got = behind->apply(id, commands::purge{}, std::nullopt);
                              if (seen_expired && std::holds_alternative<answers::kept>(got.said)) {
                                  this_scene->seen.saw(rare::purge_race);
                              }
                          });
    }
    return sweep_report{.removed = asked};
}

result<std::vector<audit_entry>> sim_store::audit(const record_id&) {
    return std::vector<audit_entry>{};
}

result<record_page> sim_store::search(const record_query&) {
    return record_page{};
}

} // namespace semel::sim
