// Carries one command to the store and brings back what is certain. The machines of `core` decide;
// a call asks and waits for them. One question is under way at a time, so a call needs no lock. It
// moves between threads with its answers.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "core/begin_machine.hpp"
#include "core/complete_machine.hpp"
#include "edge/center/center_command.hpp"
#include "edge/center/center_core.hpp"
#include "semel/base/function.hpp"
#include "semel/store.hpp"

namespace semel::edge {

using call_end = unique_function<void(json_response)>;

class center_call : public std::enable_shared_from_this<center_call> {
public:
    center_call(std::shared_ptr<center_core> core, center_command what, call_end done);
    virtual ~center_call() = default;
    center_call(const center_call&) = delete;
    center_call& operator=(const center_call&) = delete;

    // The first question, to be asked alone or with others. Once.
    [[nodiscard]] submission first();
    // Ends the wait of this number, if it has not ended.
    void wake(std::uint64_t wait);
    // Ends whatever wait there is.
    void wake_now();

    [[nodiscard]] const record_id& id() const { return id_; }
    [[nodiscard]] std::uint64_t hash() const { return hash_; }

protected:
    enum class waits_for : std::uint8_t { news, time };

    [[nodiscard]] virtual command start() = 0;
    virtual void on_reply(semel::reply&& got) = 0;
    virtual void on_failure(failure&& why) = 0;
    virtual void on_timer() = 0;
    virtual void stop_waiting() = 0;

    void ask(command what);
    // Refused when there are too many waiters, or none are wanted any more.
    enum class waiting : std::uint8_t { granted, refused };
    waiting wait_until(local_time when, waits_for what);
    void finish(json_response with);

    [[nodiscard]] center_core& core() { return *core_; }
    [[nodiscard]] local_time now() const { return core_->runtime.now(); }

private:
    [[nodiscard]] completion heard();
    void hear(result<semel::reply>&& got);

    const std::shared_ptr<center_core> core_; // shared by all calls, which may outlive the center
    const record_id id_;
    const std::uint64_t hash_;
    call_end done_;
    std::unique_ptr<record_watch> watch_;
    std::uint64_t waits_ = 0;
    std::atomic<std::uint64_t> armed_ = 0; // the number of the wait that has not ended; 0: none
};

// A begin, with or without waiting for the result of another attempt.
class begin_call final : public center_call {
public:
    begin_call(const std::shared_ptr<center_core>& core, center_command what, call_end done);

private:
    command start() override;
    void on_reply(semel::reply&& got) override {
        perform(machine_.on_reply(std::move(got), now()));
    }
    void on_failure(failure&& why) override { perform(machine_.on_failure(std::move(why), now())); }
    void on_timer() override { perform(machine_.on_timer()); }
    void stop_waiting() override { machine_.stop_waiting(); }
    void perform(begin_step&& step);
    void take(begin_steps::wait&& step);
    void report(const answer& said);

    const std::optional<fingerprint> content_;
    begin_machine machine_;
};

// Everything else: each such command names its attempt, or only reads, and may be asked again.
class owner_call final : public center_call {
public:
    owner_call(const std::shared_ptr<center_core>& core, center_command what, call_end done);

private:
    command start() override;
    void on_reply(semel::reply&& got) override;
    void on_failure(failure&& why) override;
    void on_timer() override { perform(machine_.on_timer()); }
    void stop_waiting() override { stopped_ = true; }
    void perform(complete_step&& step);
    void settle(semel::reply&& got);
    [[nodiscard]] bool ended_before(const semel::reply& got) const;
    void compare(semel::reply&& got);

    complete_machine machine_;
    const bool kept_;
    bool stopped_ = false;
    // A question of ours got no definite answer: it may have been applied.
    bool in_doubt_ = false;
    // The store is asked for the result that an earlier completion has stored.
    bool compares_ = false;
};

[[nodiscard]] std::shared_ptr<center_call> make_call(const std::shared_ptr<center_core>& core,
                                                     center_command what, call_end done);

} // namespace semel::edge
