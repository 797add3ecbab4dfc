#include "databases/redis/store/backend.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>

#include "semel/base/mutex.hpp"

namespace semel::redis {

namespace {

constexpr std::size_t request_bytes_kept = std::size_t{4} << 20;
// A command that has to ask again has lost a race that another one has won. So this ends by itself;
// the limit ends it in any case.
constexpr int rounds_max = 100;

failure contended() {
    return {.code = errc::conflict,
            .possible = effect::none,
            .detail = "redis: others have changed the record again and again; try again later"};
}

// Before the looks that are judged by it: what is lapsed or expired by then is so when they come.
void append_time_request(std::string& to) {
    append_request(to, 1);
    append_part(to, std::string_view{"TIME"});
}

std::int64_t number_in(std::string_view text) {
    std::int64_t made = 0;
    std::from_chars(text.data(), text.data() + text.size(), made);
    return made;
}

// Seconds, and the microseconds beside them.
result<time_point> time_of(const value& got) {
    using type = value::type;
    if (got.is(type::error)) return verdict_of(got.text).why;
    if (!got.is(type::array) || got.items.size() != 2) {
        return failure{.code = errc::not_a_store,
                       .possible = effect::none,
                       .detail = "redis: the server does not tell the time; is this Redis?"};
    }
    return time_point{std::chrono::seconds{number_in(got.items[0].text)} +
                      std::chrono::microseconds{number_in(got.items[1].text)}};
}

} // namespace

void backend::execute(std::span<job* const> batch) {
    if (counters_ != nullptr) {
        counters_->count_batch(batch.size());
    }
    const detail::guard lock{on_->mutex};
    try {
        run(batch, on_->it);
    } catch (...) {
        // In the middle of anything; the connection goes with it.
        on_->it.close();
        const failure why = caught_failure();
        give_up_from(0, why);
        for (job* one : batch) {
            if (!one->answer) one->answer = why; // it has not become a task yet
        }
    }
    if (requests_.capacity() > request_bytes_kept) std::string{}.swap(requests_);
}

void backend::run(std::span<job* const> batch, link& on) {
    accepted_ = 0;
    open_.clear();
    for (job* one : batch) open_.emplace_back(*one, setting_, begins_.next());
    for (int round = 0; !open_.empty() && round < rounds_max; ++round) exchange(on);
    for (task& one : open_) one.give_up(contended());
}

// One round trip for all that is open; what is answered by it is open no more.
void backend::exchange(link& on) {
    accepted_ = 0;
    if (auto connected = on.ready(); !connected) {
        give_up_from(0, connected.error());
        return open_.clear();
    }
    requests_.clear();
    ends_.clear();
    asks_time_ =
        std::any_of(open_.begin(), open_.end(), [](const task& one) { return one.needs_time(); });
    if (asks_time_) append_time_request(requests_);
    for (const task& one : open_) {
        one.ask(requests_);
        ends_.push_back(requests_.size());
    }
    const auto sent = on.send(requests_);
    accepted_ = sent.accepted;
    if (!sent.done) {
        give_up_from(0, sent.done.error());
        return open_.clear();
    }
    take_replies(on);
    const auto answered = [](const task& one) { return one.answered(); };
    open_.erase(std::remove_if(open_.begin(), open_.end(), answered), open_.end());
}

void backend::take_replies(link& on) {
    auto after = connection_use::keep;
    result<time_point> now{time_point{}};
    if (asks_time_) {
        const auto got = on.receive();
        if (!got) return give_up_from(0, got.error());
        now = time_of(**got);
    }
    for (std::size_t at = 0; at < open_.size(); ++at) {
        const auto got = on.receive();
        if (!got) return give_up_from(at, got.error());
        task& one = open_[at];
        if (one.hear(**got, now) == connection_use::replace) after = connection_use::replace;
        if (!one.answered()) continue;
        if (one.met() != expected::anything) begins_.add(one.met());
        if (counters_ != nullptr) counters_->record_writes.add(one.written());
    }
    if (after == connection_use::replace) on.close();
}

// No replies come any more. A request that the system has not even taken over in full was not
// executed; any other may have been, or may still be.
void backend::give_up_from(std::size_t first, const failure& why) {
    for (std::size_t at = first; at < open_.size(); ++at) {
        if (open_[at].answered()) continue;
        failure own = why;
        const bool sent = at < ends_.size() && ends_[at] <= accepted_;
        own.possible = sent && open_[at].writes() ? effect::unknown : effect::none;
        open_[at].give_up(std::move(own));
    }
}

} // namespace semel::redis
