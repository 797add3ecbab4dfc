#include "databases/redis/front/front_task.hpp"

#include <algorithm>
#include <chrono>

#include "databases/redis/client/scripts.hpp"
#include "databases/redis/front/front_codec.hpp"

namespace semel::redis {

namespace {

std::int64_t milliseconds_of(duration life) {
    return std::max<std::int64_t>(std::chrono::ceil<std::chrono::milliseconds>(life).count(), 1);
}

// What counts as newer at the same fence: the end of an attempt.
std::int64_t rank_of(const front_entry& entry) {
    const bool open =
        entry.what == front_entry::kind::gate || entry.what == front_entry::kind::rumour;
    return open ? 1 : 2;
}

struct script_call {
    script which;
    bool spelled_out;
};

void open_script(std::string& to, const script_call& call, std::string_view key,
                 std::size_t arguments) {
    const script_text& text = text_of(call.which);
    append_request(to, 4 + arguments);
    append_part(to, std::string_view{call.spelled_out ? "EVAL" : "EVALSHA"});
    append_part(to, call.spelled_out ? text.text : text.sha1);
    append_part(to, std::int64_t{1});
    append_part(to, key);
}

} // namespace

front_task::front_task(std::string key, front_command what, redis_wake wake)
    : key_(std::move(key)), what_(std::move(what)), wake_(wake) {
    if (std::holds_alternative<fronts::pass>(what_)) answer_ = front_sight{};
}

bool front_task::is_script() const {
    return std::holds_alternative<fronts::put>(what_) ||
           std::holds_alternative<fronts::settle>(what_) ||
           std::holds_alternative<fronts::prolong>(what_);
}

void front_task::ask(std::string& to) const {
    std::visit([&](const auto& one) { ask_for(one, to); }, what_);
}

void front_task::ask_for(const fronts::look& what, std::string& to) const {
    append_request(to, 7);
    append_part(to, std::string_view{"SET"});
    append_part(to, key_);
    append_part(to, encode_token(what.token));
    append_part(to, std::string_view{"NX"});
    append_part(to, std::string_view{"GET"});
    append_part(to, std::string_view{"PX"});
    append_part(to, milliseconds_of(what.life));
}

void front_task::ask_for(const fronts::put& what, std::string& to) const {
    open_script(to, {script::front_put, spelled_out_}, key_, 5);
    append_part(to, std::string_view{encode_token(what.token)}.substr(1));
    append_part(to, static_cast<std::int64_t>(what.entry.holder.fence));
    append_part(to, rank_of(what.entry));
    append_part(to, encode_entry(what.token, what.entry));
    append_part(to, milliseconds_of(what.life));
}

void front_task::ask_for(const fronts::settle& what, std::string& to) const {
    const char letter = kind_letter(what.end.what);
    open_script(to, {script::front_advance, spelled_out_}, key_, 6);
    append_part(to, encode_claim(what.by));
    append_part(to, std::string_view{"gh"});
    append_part(to, std::string_view{&letter, 1});
    append_part(to, encode_tail(what.end));
    append_part(to, milliseconds_of(what.life));
    append_part(to, std::string_view{wake_ == redis_wake::publish ? "publish" : "none"});
}

void front_task::ask_for(const fronts::prolong& what, std::string& to) const {
    open_script(to, {script::front_advance, spelled_out_}, key_, 5);
    append_part(to, encode_claim(what.by));
    append_part(to, std::string_view{"g"});
    append_part(to, std::string_view{"g"});
    append_part(to, encode_tail({.lease_until = what.lease_until, .until = what.until}));
    append_part(to, milliseconds_of(what.life));
}

void front_task::ask_for(const fronts::forget&, std::string& to) const {
    append_request(to, 2);
    append_part(to, std::string_view{"UNLINK"});
    append_part(to, key_);
}

connection_use front_task::hear(const value& got) {
    if (got.is(value::type::error)) {
        if (lacks_script(got.text) && !spelled_out_) {
            spelled_out_ = true;
            return connection_use::keep;
        }
        verdict found = verdict_of(got.text);
        give_up(std::move(found.why));
        return found.after;
    }
    const auto* const looked = std::get_if<fronts::look>(&what_);
    if (looked == nullptr) {
        answer_ = front_sight{};
    } else if (got.is(value::type::bulk)) {
        answer_ = decode_sight(got.text);
    } else {
        answer_ = front_sight{.token = looked->token};
    }
    return connection_use::keep;
}

} // namespace semel::redis
