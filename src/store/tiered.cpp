#include "semel/store/tiered.hpp"

#include <atomic>
#include <random>
#include <utility>

#include "base/home_process.hpp"
#include "semel/base/mutex.hpp"
#include "store/tier_plan.hpp"

namespace semel {

namespace {

// The time of the truth's clock, continued with this machine's clock.
class borrowed_clock {
public:
    // `sent` lies before the moment when the truth read its clock, so later times are never too
    // early.
    void learn(time_point now, local_time sent) {
        ahead_ = now.time_since_epoch().count() - sent.time_since_epoch().count();
        learnt_ = sent.time_since_epoch().count();
    }

    // Nothing before the first lesson, and after a while without one.
    [[nodiscard]] std::optional<time_point> now(local_time local) const {
        const duration age = local.time_since_epoch() - duration{learnt_};
        if (learnt_ == never || age > age_max) return std::nullopt;
        return time_point{local.time_since_epoch() + duration{ahead_}};
    }

private:
    static constexpr duration::rep never = -1;
    // Two clocks do not drift apart by more than some microseconds in this time.
    static constexpr duration age_max = std::chrono::minutes{1};

    std::atomic<duration::rep> ahead_ = 0;
    std::atomic<duration::rep> learnt_ = never;
};

// Commands on their way: the store waits for them before it goes.
class travellers {
public:
    ~travellers() {
        if (home_.left()) return; // they come to their end in the parent
        detail::guard lock{mutex_};
        none_.wait(lock, [this]() SEMEL_REQUIRES(mutex_) { return count_ == 0; });
    }
    void enter() {
        const detail::guard lock{mutex_};
        ++count_;
    }
    void leave() {
        const detail::guard lock{mutex_};
        // Under the lock: nothing here may be touched once it can be taken.
        if (--count_ == 0) none_.notify_all();
    }

private:
    detail::mutex mutex_;
    detail::condition none_;
    std::size_t count_ SEMEL_GUARDED_BY(mutex_) = 0;
    const home_process home_ = {};
};

std::uint64_t random_word() {
    std::random_device source;
    return std::uint64_t{source()} << 32 | source();
}

class tiered_store final : public store {
public:
    tiered_store(std::unique_ptr<front_tier> front, std::unique_ptr<store> truth,
                 tiered_store_options options)
        : options_(std::move(options)), front_(std::move(front)), truth_(std::move(truth)) {}

    void submit(envelope what, completion done) override {
        if (home_.left()) return done(opened_before_fork("the store"));
        under_way_.enter();
        auto first = asked_first(what.what, next_token());
        if (!first) return ask_truth(std::move(what), std::nullopt, std::move(done));
        const record_id id = what.id;
        front_->submit(id, *std::move(first),
                       [this, what = std::move(what),
                        done = std::move(done)](result<front_sight> seen) mutable {
                           if (refused(seen)) return give(done, std::move(seen).error());
                           if (auto known = known_from(seen, what.what, what.now)) {
                               return give(done, *std::move(known));
                           }
                           const auto token = token_in(seen);
                           ask_truth(std::move(what), token, std::move(done));
                       });
    }

    result<reply> call(const record_id& id, command what, std::optional<time_point> now) override {
        if (home_.left()) return opened_before_fork("the store");
        std::optional<std::uint64_t> token;
        auto first = asked_first(what, next_token());
        // A caller that waits for each answer keeps the order by that.
        if (first && !std::holds_alternative<fronts::pass>(*first)) {
            auto seen = front_->call(id, *std::move(first));
            if (refused(seen)) return std::move(seen).error();
            if (auto known = known_from(seen, what, now)) return *std::move(known);
            token = token_in(seen);
        }
        tier_lesson lesson{what};
        const local_time sent = local_now();
        result<reply> got = truth_->call(id, std::move(what), now);
        auto told = learn(lesson, got, {.token = token, .sent = sent, .now = now});
        if (!told) return got;
        if (lesson.awaited()) {
            count(front_->call(id, *std::move(told)));
        } else {
            tell(id, *std::move(told));
        }
        return got;
    }

    result<sweep_report> sweep(const sweep_request& request) override {
        auto report = truth_->sweep(request);
        // By the truth's own clock a swept record has expired in the front too. A test may set time
        // back.
        if (request.now && !home_.left()) front_->clear();
        return report;
    }

    result<std::vector<audit_entry>> audit(const record_id& id) override {
        return truth_->audit(id);
    }

    result<record_page> search(const record_query& query) override { return truth_->search(query); }

    [[nodiscard]] store_traits traits() const override { return truth_->traits(); }

    // The front knows the ends that were sent to it, the truth knows all of them.
    [[nodiscard]] std::unique_ptr<record_watch> watch(const record_id& id,
                                                      unique_function<void()> news) override {
        if (home_.left()) return nullptr;
        const auto either = std::make_shared<unique_function<void()>>(std::move(news));
        auto heard = truth_->watch(id, [either] { (*either)(); });
        if (heard == nullptr) heard = front_->watch(id, [either] { (*either)(); });
        return heard;
    }

private:
    struct question {
        std::optional<std::uint64_t> token = {};
        local_time sent = {};
        std::optional<time_point> now = {};
    };

    void ask_truth(envelope what, std::optional<std::uint64_t> token, completion done) {
        const question asked{.token = token, .sent = local_now(), .now = what.now};
        completion hearing = hear(what, asked, std::move(done));
        truth_->submit(std::move(what), std::move(hearing));
    }

    // Takes what it needs of the envelope before the truth does.
    completion hear(const envelope& what, const question& asked, completion done) {
        return [this, id = what.id, lesson = tier_lesson{what.what}, asked,
                done = std::move(done)](result<reply> got) mutable {
            auto told = learn(lesson, got, asked);
            if (!told) return give(done, std::move(got));
            if (!lesson.awaited()) {
                tell(id, *std::move(told));
                return give(done, std::move(got));
            }
            front_->submit(id, *std::move(told),
                           [this, got = std::move(got),
                            done = std::move(done)](result<front_sight> heard) mutable {
                               count(heard);
                               give(done, std::move(got));
                           });
        };
    }

    // The command for the front, if it needs one.
    std::optional<front_command> learn(tier_lesson& lesson, const result<reply>& got,
                                       const question& asked) {
        if (got && !asked.now) clock_.learn(got->now, asked.sent);
        return std::move(lesson).after(got, {.token = asked.token,
                                             .gate_life = options_.gate_life,
                                             .testing = asked.now.has_value()});
    }

    // No caller waits for the answer.
    void tell(const record_id& id, front_command what) {
        under_way_.enter();
        front_->submit(id, std::move(what), [this](result<front_sight> heard) {
            count(heard);
            under_way_.leave();
        });
    }

    void give(completion& done, result<reply> got) {
        done(std::move(got));
        under_way_.leave();
    }

    // A full queue is no missing front: it must not be passed by.
    static bool refused(const result<front_sight>& seen) {
        return !seen && seen.error().code == errc::overloaded;
    }

    std::optional<reply> known_from(result<front_sight>& seen, const command& what,
                                    const std::optional<time_point>& test_now) {
        count(seen);
        const auto* const begin = std::get_if<commands::begin>(&what);
        if (begin == nullptr) return std::nullopt;
        auto known = known_by_now(seen, *begin, test_now);
        if (options_.counters != nullptr) {
            (known ? options_.counters->answered : options_.counters->asked).add();
        }
        return known;
    }

    std::optional<reply> known_by_now(result<front_sight>& seen, const commands::begin& what,
                                      const std::optional<time_point>& test_now) {
        if (!seen || !seen->entry) return std::nullopt;
        const auto now = test_now ? test_now : clock_.now(local_now());
        if (!now) return std::nullopt;
        auto said = answer_from(*std::move(seen->entry), what, *now);
        if (!said) return std::nullopt;
        return reply{.said = *std::move(said), .now = *now};
    }

    static std::optional<std::uint64_t> token_in(const result<front_sight>& seen) {
        if (!seen) return std::nullopt;
        return seen->token;
    }

    void count(const result<front_sight>& heard) {
        if (!heard && options_.counters != nullptr) options_.counters->failures.add();
    }

    // No two processes draw the same, and no process twice.
    std::uint64_t next_token() { return tokens_.fetch_add(1, std::memory_order_relaxed); }

    [[nodiscard]] local_time local_now() const {
        return options_.clock ? options_.clock() : local_clock::now();
    }

    const home_process home_ = {};
    const tiered_store_options options_;
    borrowed_clock clock_;
    std::atomic<std::uint64_t> tokens_ = random_word();
    const std::unique_ptr<front_tier> front_;
    const std::unique_ptr<store> truth_;
    // Goes first: what is on its way leads from the one to the other and back.
    travellers under_way_;
};

} // namespace

std::unique_ptr<record_watch> front_tier::watch(const record_id&, unique_function<void()>) {
    return nullptr;
}

std::unique_ptr<store> open_tiered_store(std::unique_ptr<front_tier> front,
                                         std::unique_ptr<store> truth,
                                         tiered_store_options options) {
    return std::make_unique<tiered_store>(std::move(front), std::move(truth), std::move(options));
}

} // namespace semel
