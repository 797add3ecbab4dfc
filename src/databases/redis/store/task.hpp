// One job on its way through the scripts: what to ask the server next, and what its answers mean.
// Pure: bytes in, bytes out.
//
// A usual command is one script. If the script finds an unusual record, it returns the record, and
// the record machine judges it here. If there is something to write, a second script writes it,
// unless the record has changed since. Then the changed record is judged, and so on. A command that
// will probably be judged here anyway begins with a look, which is a plain GET.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "databases/redis/client/errors.hpp"
#include "databases/redis/client/resp.hpp"
#include "databases/redis/client/scripts.hpp"
#include "semel/base/result.hpp"
#include "semel/core/record_machine.hpp"
#include "semel/databases/redis.hpp"
#include "store/begin_streak.hpp"
#include "store/lane.hpp"

namespace semel::redis {

// What all tasks of a store have in common; outlives them.
struct task_setting {
    std::string prefix = {};
    redis_wake wake = redis_wake::publish;
};

// How long Redis keeps a record, from `now` on; none: until a command removes it.
[[nodiscard]] std::optional<std::chrono::milliseconds> time_to_live(const record& it,
                                                                    time_point now);

class task {
public:
    // `begins`: what a begin is expected to meet.
    task(job& it, const task_setting& setting, expected begins);

    [[nodiscard]] bool answered() const { return job_->answer.has_value(); }
    // The next request may change the record.
    [[nodiscard]] bool writes() const { return next_.has_value(); }
    // True if the reply to the next request is judged by a time that must be asked for separately.
    [[nodiscard]] bool needs_time() const { return !next_ && !job_->now; }
    // What a begin has met; `anything`: not known, or no begin.
    [[nodiscard]] expected met() const { return met_; }
    // Records written so far.
    [[nodiscard]] std::uint32_t written() const { return written_; }

    // Appends the next request.
    void ask(std::string& to) const;

    // Takes the reply to it. `now`: the time that was asked for in the same exchange.
    connection_use hear(const value& got, const result<time_point>& now);

    // The reply will not come. `why` says what the failure itself may have changed.
    void give_up(failure why) { job_->answer = once_open(std::move(why)); }

private:
    struct swap_request {
        std::string stamp = {}; // of the value that was read
        std::string value = {};
        std::optional<std::chrono::milliseconds> ttl = {};
        std::string audit = {};
        answer said = {};
        time_point now = {};
    };

    void open(std::string& to, script which, std::size_t keys, std::size_t arguments) const;
    void ask_look(std::string& to) const;
    void ask_begin(std::string& to) const;
    void ask_finish(std::string& to, const commands::complete& what) const;
    void ask_finish(std::string& to, const commands::fail& what) const;
    void ask_renew(std::string& to) const;
    void ask_swap(std::string& to) const;

    connection_use hear_error(std::string_view message);
    connection_use hear_looked(const value& stored, const result<time_point>& now);
    void hear_done(time_point now);
    void judge(time_point now, const value& stored);
    void reply_with(answer said, time_point now);

    [[nodiscard]] std::optional<std::chrono::milliseconds>
    unless_testing(std::optional<std::chrono::milliseconds> ttl) const;

    const task_setting* setting_;
    job* job_;
    std::string key_;
    std::optional<script> next_; // none: a look
    expected met_ = expected::anything;
    bool spelled_out_ = false; // the server did not know the script
    std::uint32_t written_ = 0;
    std::unique_ptr<swap_request> swap_; // seldom needed, and large
};

} // namespace semel::redis
