#include "engine/deliver.hpp"

#include <memory>
#include <utility>

#include "engine/engine_core.hpp"

namespace semel {

namespace {

class background_command : public std::enable_shared_from_this<background_command> {
public:
    background_command(std::shared_ptr<engine_core> core, record_id id, complete_options what,
                       unique_function<void(result<reply>)> done)
        : core_(std::move(core)),
          id_(std::move(id)),
          machine_(std::move(what)),
          done_(std::move(done)) {}

    void start() { perform(machine_.start()); }

private:
    void perform(complete_step step) {
        if (auto* next = std::get_if<complete_steps::ask>(&step)) return ask(std::move(next->what));
        if (const auto* pause = std::get_if<complete_steps::wait>(&step)) {
            return core_->runtime->at(pause->until, [self = shared_from_this()] {
                // `done_` may end in the user's code, which the timer thread must not run.
                self->core_->runtime->post([self] { self->perform(self->machine_.on_timer()); });
            });
        }
        if (auto* over = std::get_if<complete_steps::settled>(&step)) {
            return done_(std::move(over->with));
        }
        done_(std::move(std::get<complete_steps::gave_up>(step).why));
    }

    void ask(command what) {
        envelope sent{.id = id_, .what = std::move(what)};
        core_->records->submit(std::move(sent), [self = shared_from_this()](result<reply> got) {
            self->on_answer(std::move(got));
        });
    }

    void on_answer(result<reply> got) {
        if (got) return perform(machine_.on_reply(*std::move(got)));
        if (core_->giving_up()) return done_(std::move(got));
        perform(machine_.on_failure(std::move(got).error(), core_->runtime->now()));
    }

    std::shared_ptr<engine_core> core_;
    record_id id_;
    complete_machine machine_;
    unique_function<void(result<reply>)> done_;
};

} // namespace

void deliver(engine_core& core, record_id id, complete_options what,
             unique_function<void(result<reply>)> done) {
    std::make_shared<background_command>(core.shared_from_this(), std::move(id), std::move(what),
                                         std::move(done))
        ->start();
}

} // namespace semel
