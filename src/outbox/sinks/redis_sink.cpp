#include "outbox/sinks/redis_sink.hpp"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "databases/redis/client/errors.hpp"
#include "databases/redis/client/link.hpp"
#include "databases/redis/client/opening.hpp"
#include "open/targets.hpp"
#include "outbox/sinks/name_pattern.hpp"
#include "outbox/sinks/per_key.hpp"
#include "outbox/sinks/stream_fields.hpp"

namespace semel::outbox {

namespace {

using redis::connection_use;
using redis::value;

// One exchange carries about so much: the time-out is per exchange, and so is the memory.
constexpr std::size_t exchange_bytes = std::size_t{4} << 20;
// What Redis takes as one string, unless its operator has set another limit.
constexpr std::size_t payload_bytes_max = std::size_t{512} << 20;

struct redis_sink_options {
    std::string stream = "{topic}";
    std::uint64_t entries_max = 0; // 0: the stream is not trimmed
};

class redis_sink final : public sink {
public:
    redis_sink(redis::link_options link, const redis_sink_options& options)
        : on_(std::move(link)), stream_(options.stream) {
        if (options.entries_max > 0) entries_max_ = std::to_string(options.entries_max);
    }

    result<void> connect() override {
        const auto heard = on_.ask({"PING"});
        return heard ? result<void>{} : heard.error();
    }

    void deliver(std::span<const message> batch, order kept, std::span<delivery> answers) override {
        if (auto connected = on_.ready(); !connected) {
            return give_back(batch, kept, answers, connected.error().detail);
        }
        if (kept == order::per_key) {
            deliver_together(batch, answers);
        } else {
            deliver_pipelined(batch, answers);
        }
        if (std::exchange(close_after_, false)) on_.close();
    }

private:
    // ---- without order: whatever is confirmed is delivered ----------------------------------

    void deliver_pipelined(std::span<const message> batch, std::span<delivery> answers) {
        std::size_t done = 0;
        while (done < batch.size()) {
            start_requests();
            for (; done < batch.size() && requests_.size() < exchange_bytes; ++done) {
                if (refuse_large(batch[done].event, answers[done])) continue;
                add(batch[done].event, done);
            }
            if (const auto gone = exchange(answers)) {
                return give_back(batch, order::none, answers, gone->detail, asked_[answered_]);
            }
        }
    }

    std::optional<failure> exchange(std::span<delivery> answers) {
        if (asked_.empty()) return std::nullopt;
        if (auto sent = on_.send(requests_); !sent.done) return std::move(sent.done).error();
        for (; answered_ < asked_.size(); ++answered_) {
            auto got = on_.receive();
            if (!got) return std::move(got).error();
            answers[asked_[answered_]] = answer_of(**got);
        }
        return std::nullopt;
    }

    // ---- with order: all of the batch, or none of it ----------------------------------------

    // A command that is refused in the middle, say for lack of memory, must not let a later one of
    // its key through. In a transaction Redis refuses all of them; then those that it has named are
    // left out, with what follows them, and the others tried again.
    void deliver_together(std::span<const message> batch, std::span<delivery> answers) {
        refused_.clear();
        while (true) {
            gather(batch, answers);
            if (asked_.empty()) break;
            const std::size_t known = refused_.size();
            const auto gone = perform(answers);
            if (!gone) break;
            if (refused_.size() > known) continue;
            for (const std::size_t i : asked_) {
                answers[i] = {.how = delivered::later, .error = gone->detail};
            }
            break;
        }
        hold_followers(batch, answers);
    }

    void gather(std::span<const message> batch, std::span<delivery> answers) {
        stuck_keys stuck{order::per_key};
        start_requests();
        redis::append_request(requests_, 1);
        redis::append_part(requests_, "MULTI");
        for (std::size_t i = 0; i < batch.size(); ++i) {
            const auto refused = refused_.find(i);
            if (refused != refused_.end()) {
                answers[i] = {.how = delivered::later, .error = refused->second};
                stuck.add(batch[i].event);
            } else if (stuck.holds(batch[i].event)) {
                answers[i] = {.how = delivered::held};
            } else if (refuse_large(batch[i].event, answers[i])) {
                stuck.add(batch[i].event);
            } else {
                add(batch[i].event, i);
            }
        }
        redis::append_request(requests_, 1);
        redis::append_part(requests_, "EXEC");
    }

    std::optional<failure> perform(std::span<delivery> answers) {
        if (auto sent = on_.send(requests_); !sent.done) return std::move(sent.done).error();
        std::optional<failure> refused;
        for (std::size_t i = 0; i < asked_.size() + 1; ++i) { // MULTI, and one "QUEUED" each
            auto got = on_.receive();
            if (!got) return std::move(got).error();
            if (!(*got)->is(value::type::error)) continue;
            refused = refusal(**got);
            // Of this one alone, as a stream that this user may not write to; not of the server.
            const bool own = i > 0 && refused->code == errc::invalid_argument;
            if (own) refused_.emplace(asked_[i - 1], refused->detail);
        }
        auto got = on_.receive();
        if (!got) return std::move(got).error();
        if ((*got)->is(value::type::error)) return refused ? refused : refusal(**got);
        if ((*got)->items.size() != asked_.size()) return strange_answer();
        for (std::size_t i = 0; i < asked_.size(); ++i) {
            answers[asked_[i]] = answer_of((*got)->items[i]);
        }
        return std::nullopt;
    }

    // Only the first of a key that has not got through is `later`.
    static void hold_followers(std::span<const message> batch, std::span<delivery> answers) {
        stuck_keys stuck{order::per_key};
        for (std::size_t i = 0; i < batch.size(); ++i) {
            if (answers[i].how == delivered::yes) continue;
            if (stuck.holds(batch[i].event)) answers[i] = {.how = delivered::held};
            stuck.add(batch[i].event);
        }
    }

    // ---- requests and replies ---------------------------------------------------------------

    void start_requests() {
        requests_.clear();
        asked_.clear();
        answered_ = 0;
    }

    static bool refuse_large(const event& what, delivery& answer) {
        if (what.payload.size() <= payload_bytes_max) return false;
        answer = {.how = delivered::rejected, .error = "redis: the payload has over 512 MiB"};
        return true;
    }

    void add(const event& what, std::size_t index) {
        asked_.push_back(index);
        const std::size_t trim = entries_max_.empty() ? 0 : 3;
        redis::append_request(requests_, 3 + trim + 8 + 2 * what.headers.size());
        redis::append_part(requests_, "XADD");
        redis::append_part(requests_, stream_.of(what.topic));
        if (trim > 0) {
            redis::append_part(requests_, "MAXLEN");
            redis::append_part(requests_, "~");
            redis::append_part(requests_, entries_max_);
        }
        redis::append_part(requests_, "*");
        field(stream_fields::id, what.id);
        field(stream_fields::topic, what.topic);
        field(stream_fields::key, key_of(what));
        field(stream_fields::payload, what.payload);
        for (const auto& header : what.headers) {
            name_.assign(stream_fields::header_prefix).append(header.name);
            field(name_, header.value);
        }
    }

    void field(std::string_view name, std::string_view bytes) {
        redis::append_part(requests_, name);
        redis::append_part(requests_, bytes);
    }

    delivery answer_of(const value& got) {
        if (got.is(value::type::bulk)) return {.how = delivered::yes};
        const failure why = got.is(value::type::error) ? refusal(got) : strange_answer();
        return {.how = delivered::later, .error = why.detail};
    }

    failure refusal(const value& got) {
        redis::verdict found = redis::verdict_of(got.text);
        if (found.after == connection_use::replace) close_after_ = true;
        return std::move(found.why);
    }

    static failure strange_answer() {
        return {.code = errc::not_a_store,
                .possible = effect::unknown,
                .detail = "redis: the server has answered something else than an entry's id"};
    }

    redis::link on_;
    name_pattern stream_;
    std::string entries_max_;

    std::string requests_;
    std::vector<std::size_t> asked_;             // which messages the requests are for
    std::map<std::size_t, std::string> refused_; // before anything was done, and why
    std::size_t answered_ = 0;                   // of those
    bool close_after_ = false;
    std::string name_;
};

} // namespace

result<std::unique_ptr<sink>> open_redis_sink(const net::parsed_url& url, const sink_options&) {
    redis_store_options connection;
    redis_sink_options own;
    net::url_parameters given{url};
    if (auto read = read_redis_connection(url, given, connection); !read) {
        return std::move(read).error();
    }
    given.text("stream", own.stream);
    given.number("maxlen", own.entries_max, 1'000);
    if (auto read = given.finish(); !read) return std::move(read).error();
    auto link = redis::link_options_of(connection);
    if (!link) return std::move(link).error();
    return std::unique_ptr<sink>{std::make_unique<redis_sink>(*std::move(link), own)};
}

} // namespace semel::outbox
