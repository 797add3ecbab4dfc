// The callback form of the engine, with the work's end in the test's hands.
#pragma once

#include <future>
#include <memory>
#include <string>
#include <utility>

#include "engine_fixture.hpp"

namespace semel::tests {

inline work_end answered_with(std::string body) {
    return answered_end{{.body = std::move(body), .type = "text/plain"}};
}

// One call of engine::start. Its work does nothing until end() or drop().
class async_call {
public:
    async_call(engine& on, request what) {
        auto work = [held = held_](execution& run, unique_function<void(work_end)> done) {
            held->stop = run.stop_token();
            held->done = std::move(done);
            held->started.set_value();
        };
        handle_ = on.start(std::move(what), std::move(work), [held = held_](raw_outcome out) {
            held->answer.set_value(std::move(out));
        });
    }

    void wait_started() { started_.wait(); }
    [[nodiscard]] bool started() const { return ready(started_); }
    [[nodiscard]] bool answered() const { return ready(answer_); }
    [[nodiscard]] std::stop_token stop() const { return held_->stop; }
    void end(work_end with) { held_->done(std::move(with)); }
    void drop() { held_->done = {}; }
    void cancel() { handle_->cancel(); }
    raw_outcome get() { return answer_.get(); }

private:
    template <class Future> static bool ready(const Future& of) {
        return of.wait_for(std::chrono::seconds{0}) == std::future_status::ready;
    }

    struct held {
        std::promise<void> started;
        std::promise<raw_outcome> answer;
        std::stop_token stop;
        unique_function<void(work_end)> done;
    };
    std::shared_ptr<held> held_ = std::make_shared<held>();
    std::future<void> started_ = held_->started.get_future();
    std::future<raw_outcome> answer_ = held_->answer.get_future();
    std::shared_ptr<pending_call> handle_;
};

} // namespace semel::tests
