// One call of execute: from the first question to the acknowledged end. All its events run on its
// strand, so nothing here needs a lock of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/begin_machine.hpp"
#include "core/complete_machine.hpp"
#include "engine/flights.hpp"
#include "engine/lease_keeper.hpp"
#include "engine/outcomes.hpp"
#include "engine/plan.hpp"
#include "engine/strand.hpp"
#include "semel/engine.hpp"
#include "semel/store.hpp"

namespace semel {

class engine_core;

class attempt final : public std::enable_shared_from_this<attempt>,
                      public execution_port,
                      public pending_call {
public:
    // Blocking: the work runs on the constructing thread, in wait_for_answer().
    attempt(engine_core& core, plan&& what, detail::work& work);
    // Asynchronous.
    attempt(engine_core& core, plan&& what, engine::started_work work,
            unique_function<void(raw_outcome)> done);
    ~attempt() override;

    // Blocking form: start(), then wait_for_answer().
    void start();
    [[nodiscard]] raw_outcome wait_for_answer();
    // Asynchronous form.
    void begin();
    void cancel() override;

    // For flights; on the strand.
    [[nodiscard]] local_time asked_at() const { return asked_at_; }
    // For flights; any thread.
    void on_news(raw_outcome news);
    void on_promoted(flights::role as);
    [[nodiscard]] std::uint64_t hash() const { return plan_.hash; }
    [[nodiscard]] const std::optional<fingerprint>& content() const { return plan_.content; }
    [[nodiscard]] const operation_policy& policy() const { return *plan_.policy; }
    [[nodiscard]] bool waits() const { return plan_.wait == wait_mode::wait; }
    [[nodiscard]] local_time local_now() const;
    [[nodiscard]] bool has_lost_lease() const;
    [[nodiscard]] bool has_confirmed_lease(local_time since) const;
    [[nodiscard]] local_time came_at() const { return came_at_; }
    [[nodiscard]] flight& own_flight() { return flight_; }

    // execution_port
    const record_id& id() const override { return plan_.id; }
    claim by() const override { return started_.by; }
    std::uint32_t attempt_count() const override { return started_.attempt; }
    bool taken_over() const override;
    std::stop_token stop_token() const override;
    const std::string* recorded(std::string_view name) const override;
    result<void> may_record(std::string_view name) const override;
    void record(std::string_view name, std::string data) override;
    void record_async(std::string name, std::string data,
                      unique_function<void(result<void>)> done) override;
    void set_result_ref(std::string ref) override { result_ref_ = std::move(ref); }

private:
    class work_ender;
    enum class stage : std::uint8_t { fresh, parked, beginning, working, completing, over };
    using on_answer = void (attempt::*)(result<reply>&&);

    // Getting in.
    void lead();
    void ask_until(local_time patience_until);
    void perform(begin_step&& step);
    void on_begin_answer(result<reply>&& got);
    void on_started(begin_steps::run&& run);
    void settle_begin(raw_outcome&& with);

    // The work.
    void run_work();
    void on_work_end(work_end&& end);

    // Getting out.
    void perform(complete_step&& step);
    void on_complete_answer(result<reply>&& got);
    void note_burial();
    void end_unrun();
    void carry(command&& what);
    void send_end(command&& what);
    void on_unsendable();
    void on_settled(const reply& got);
    void on_gave_up(const failure& why);
    void close(ending::next then, raw_outcome&& with);
    [[nodiscard]] raw_outcome told_of(const raw_outcome& with) const;
    [[nodiscard]] raw_outcome unconfirmed() const;

    void ask(command&& what, on_answer then);
    template <class Event> static void on_callback_thread(std::shared_ptr<attempt> of, Event event);
    // What else keeps the attempt alive: while it waits for the store or for its leader, they hold
    // it. Between two questions only the timer holds it.
    enum class held_by : std::uint8_t { timer, others };
    void arm(local_time when, held_by who);
    void expect_end();
    void on_timer();
    void listen();
    void on_change();
    void on_parked_too_long();
    void stop_following();
    void on_cancel();
    void answer(raw_outcome&& with);

    // Constant after construction.
    const std::shared_ptr<engine_core> core_; // the last completion may outlive the engine
    const plan plan_;
    const owner_id owner_;
    detail::work* const work_; // null: asynchronous

    strand strand_;
    execution view_{*this};

    // Owned by the strand.
    engine::started_work started_work_;
    unique_function<void(raw_outcome)> done_;
    stage stage_ = stage::fresh;
    bool leading_ = false;
    bool inline_; // a blocking caller is here: ask the store on its thread
    std::optional<raw_outcome> answered_;
    std::optional<begin_machine> begin_;
    std::optional<complete_machine> complete_;
    std::optional<local_time> timer_;
    std::uint64_t timer_serial_ = 0;
    std::unique_ptr<record_watch> watch_; // while it polls, where the store hears of changes
    bool missed_news_ = false;            // they came while the store had the question
    local_time came_at_ = {};             // constant after start()
    local_time wait_until_ = {};
    local_time confirm_until_ = {};
    local_time retry_at_ = {}; // of the completion; zero while the store has the question
    local_time now_ = {};      // when the present event began
    local_time asked_at_ = {}; // when the last question left, or a little before
    answers::started started_ = {};
    mutable lease lease_ = {}; // its stop state is made on demand
    std::string result_ref_;
    raw_outcome own_; // the caller's outcome once the end is acknowledged
    ending::next then_ = ending::next::settled;
    bool admitted_ = false;

    flight flight_; // guarded by its stripe in `flights`
};

} // namespace semel
