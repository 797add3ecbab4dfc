// One request on its way through the console.
#pragma once

#include <memory>

#include "edge/console/access.hpp"
#include "edge/console/console_core.hpp"

namespace semel::edge {

class console_visit {
public:
    console_visit(std::shared_ptr<console_core> core, served_request request, reply answer)
        : core_(std::move(core)), request_(std::move(request)), answer_(std::move(answer)) {}

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
    void mismatches();
    void configuration();

    // Acting. Each needs the scope `admin`.
    void resolve();
    void remove();
    bool refuses_chore(const record_id& id);
    void send(const record_id& id, command what);

    // The outbox, where there is one.
    void outbox();
    void outbox_rows();
    void outbox_row_whole();
    void requeue();
    bool has_outbox();

    // Checks; each answers what it refuses.
    bool method_is(std::string_view needed);
    bool known();
    bool may_see_all();
    bool may_change();
    [[nodiscard]] std::optional<record_id> read_id();
    [[nodiscard]] std::optional<json> read_body();

    // For those who watch.
    using seen = security_event::kind;
    void note(seen what) const;

    void tell(json body) { answer_(to_response(outcome(std::move(body)))); }
    void refuse(const http::problem& why);
    void refuse(told with) { answer_(to_response(std::move(with))); }
    void malformed(std::string why);
    void unavailable(const failure& why);

    [[nodiscard]] console_operation about(const std::string& operation) const;
    [[nodiscard]] json session_json(const console_caller& who) const;
    [[nodiscard]] const http::request_head& head() const { return request_.what.head; }

    std::shared_ptr<console_core> core_;
    served_request request_;
    reply answer_;
    std::optional<console_caller> who_; // once known() has said yes
};

} // namespace semel::edge
