// One request on its way through the console.
#pragma once

#include <memory>

#include "edge/console/access.hpp"
#include "edge/console/console_core.hpp"

namespace semel::edge {

class console_request : public api_request {
public:
    console_request(std::shared_ptr<console_core> core, served_request request, reply answer)
        : api_request({core->options.problems}, std::move(request), std::move(answer)),
          core_(std::move(core)) {}

    void run();

private:
    void route(std::string_view path);

    // Who is signed in.
    void session();
    void sign_in();
    void sign_out();

    // Looking.
    void overview();
    void records();
    void record();
    void show(const record_id& id, const semel::reply& got);
    void mismatches();
    void configuration();

    // Acting. Each needs the scope `admin`.
    void resolve();
    void remove();
    bool refuses_chore(const record_id& id);
    void settle(const record_id& id, command what);

    // The outbox, where there is one.
    void outbox();
    void outbox_rows();
    void outbox_row_whole();
    void requeue();
    bool has_outbox();

    // Checks; each answers what it refuses.
    bool known();
    bool may_see_all();
    bool may_change();
    [[nodiscard]] std::optional<record_id> read_id();

    // For those who watch.
    using seen = security_event::kind;
    void note(seen what) const;

    void refuse(const failure& why);
    using api_request::refuse;

    // Asks the console's stores where blocking is allowed. `then` gets the answer; a failure is
    // refused.
    template <class Question, class Then> void ask(Question question, Then then) {
        core_->chore([self = std::make_shared<console_request>(std::move(*this)),
                      question = std::move(question), then = std::move(then)]() mutable {
            auto got = question(*self->core_);
            if (!got) return self->refuse(got.error());
            then(*self, *std::move(got));
        });
    }
    template <class Question, class Then> void ask_outbox(Question question, Then then) {
        ask([question](console_core& core) { return core.outbox.ask(question); }, std::move(then));
    }

    [[nodiscard]] console_operation about(const std::string& operation) const;
    [[nodiscard]] json session_json(const console_caller& who) const;

    std::shared_ptr<console_core> core_;
    std::optional<console_caller> who_; // once known() has said yes
};

} // namespace semel::edge
