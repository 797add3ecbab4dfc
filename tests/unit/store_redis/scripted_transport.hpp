// A server that has learnt its lines: what is sent is kept, what is received was written before.
#pragma once

#include <algorithm>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "databases/redis/client/link.hpp"
#include "semel/databases/redis.hpp"

namespace semel::redis {

inline failure cut_off() {
    return {.code = errc::unavailable, .possible = effect::none, .detail = "cut off"};
}

inline failure too_late() {
    return {.code = errc::timed_out, .possible = effect::none, .detail = "too late"};
}

// One connection's lines.
struct lines {
    std::string sent = {};
    std::size_t sends_max = std::string::npos; // bytes it takes before it breaks
    std::string answers = {};
    std::size_t piece = std::string::npos; // bytes it gives at a time
    // When the answers are used up: closed, or silent.
    enum class end { closed, silent } then = end::closed;
    // When they may be had: one for each request, as of a server, or before anything is asked.
    enum class order { in_turn, at_once } come = order::in_turn;
    int receives = 0;         // how often it was asked for bytes
    std::size_t room_max = 0; // for how many at most
};

class scripted_transport final : public net::stream {
public:
    explicit scripted_transport(std::shared_ptr<lines> own) : own_(std::move(own)) {}

    result<std::size_t> send(std::string_view bytes, duration) override {
        const std::size_t room = own_->sends_max - own_->sent.size();
        if (room == 0) return cut_off();
        const std::size_t taken = std::min(room, bytes.size());
        own_->sent += bytes.substr(0, taken);
        asked_ += bytes.substr(0, taken);
        take_requests();
        return taken;
    }

    result<std::size_t> receive(std::span<char> into, duration) override {
        auto& left = own_->answers;
        ++own_->receives;
        own_->room_max = std::max(own_->room_max, into.size());
        if (left.empty() && own_->then == lines::end::closed) return std::size_t{0};
        if (own_->come == lines::order::at_once) due_ = left.size();
        if (due_ == 0) return too_late();
        const std::size_t given = std::min({due_, into.size(), own_->piece});
        std::copy_n(left.begin(), given, into.begin());
        left.erase(0, given);
        due_ -= given;
        return given;
    }

private:
    // Another answer is due for every request that is whole; what is no answer comes as it is.
    void take_requests() {
        value read;
        for (auto got = parse(asked_, read); got.status == parse_status::complete;
             got = parse(asked_, read)) {
            asked_.erase(0, got.bytes);
            const auto answer = parse(std::string_view{own_->answers}.substr(due_), read);
            const bool whole = answer.status == parse_status::complete;
            due_ = whole ? due_ + answer.bytes : own_->answers.size();
        }
    }

    // Shared with the test, which looks at it afterwards.
    const std::shared_ptr<lines> own_;
    std::string asked_;   // of a request that is not whole yet
    std::size_t due_ = 0; // bytes of the answers to what was asked
};

// Hands out one scripted connection after the other, then none.
class scripted_server {
public:
    std::shared_ptr<lines> connection(lines own) {
        waiting_->push_back(std::make_shared<lines>(std::move(own)));
        return waiting_->back();
    }

    [[nodiscard]] transport_maker maker() {
        return [waiting = waiting_, tries = tries_]() -> result<std::unique_ptr<net::stream>> {
            ++*tries;
            if (waiting->empty()) return cut_off();
            auto next = std::move(waiting->front());
            waiting->pop_front();
            return std::unique_ptr<net::stream>{
                std::make_unique<scripted_transport>(std::move(next))};
        };
    }

    [[nodiscard]] int tries() const { return *tries_; }

private:
    // Shared with the makers, which outlive nobody here in particular.
    std::shared_ptr<std::deque<std::shared_ptr<lines>>> waiting_ =
        std::make_shared<std::deque<std::shared_ptr<lines>>>();
    std::shared_ptr<int> tries_ = std::make_shared<int>(0);
};

// The answer to CLIENT SETNAME, with which every connection begins.
inline constexpr std::string_view hello = "+OK\r\n";

inline std::string bulk(std::string_view bytes) {
    return "$" + std::to_string(bytes.size()) + "\r\n" + std::string{bytes} + "\r\n";
}

} // namespace semel::redis
