// One command of a front on its way through the server: what to ask, and what the answer means.
// Pure: bytes in, bytes out.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "databases/redis/client/errors.hpp"
#include "databases/redis/client/resp.hpp"
#include "semel/base/result.hpp"
#include "semel/databases/redis.hpp"
#include "semel/store/tiered.hpp"

namespace semel::redis {

class front_task {
public:
    front_task(std::string key, front_command what, redis_wake wake = redis_wake::publish);

    [[nodiscard]] bool answered() const { return answer_.has_value(); }
    [[nodiscard]] bool failed() const { return answered() && !answer_->has_value(); }
    [[nodiscard]] bool forgets() const { return std::holds_alternative<fronts::forget>(what_); }
    [[nodiscard]] bool looks() const { return std::holds_alternative<fronts::look>(what_); }
    // The server may not know it, and is then asked a second time.
    [[nodiscard]] bool is_script() const;
    [[nodiscard]] const std::string& key() const { return key_; }

    // Appends the request.
    void ask(std::string& to) const;
    // Takes the reply. If the task has no answer afterwards, the script was unknown: send the
    // request again.
    connection_use hear(const value& got);
    void give_up(failure why) { answer_ = std::move(why); }

    // Once, when answered.
    [[nodiscard]] result<front_sight> take() { return *std::move(answer_); }

private:
    void ask_for(const fronts::look& what, std::string& to) const;
    void ask_for(const fronts::put& what, std::string& to) const;
    void ask_for(const fronts::settle& what, std::string& to) const;
    void ask_for(const fronts::prolong& what, std::string& to) const;
    void ask_for(const fronts::forget& what, std::string& to) const;
    void ask_for(const fronts::pass&, std::string&) const {}

    std::string key_;
    front_command what_;
    redis_wake wake_;
    bool spelled_out_ = false; // the server did not know the script
    std::optional<result<front_sight>> answer_;
};

} // namespace semel::redis
