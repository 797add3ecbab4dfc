#include "consumer/redis_source.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <utility>

#include "consumer/stream_entry.hpp"
#include "databases/redis/client/errors.hpp"
#include "databases/redis/client/link.hpp"
#include "databases/redis/client/opening.hpp"
#include "open/targets.hpp"

namespace semel::consumer {

namespace {

using redis::value;
using std::chrono::milliseconds;

// So many messages wait for their next try in this process; then no new ones are fetched.
constexpr std::size_t delayed_max = 10'000;

std::string milliseconds_text(duration length) {
    return std::to_string(std::chrono::duration_cast<milliseconds>(length).count());
}

struct redis_source_options {
    std::string stream = {};
    std::string group = {};
    std::string consumer = {}; // empty: another one every time
    std::string dead = {};
    duration claim_after = {};
};

class redis_source final : public source {
public:
    redis_source(redis::link_options link, redis_source_options options)
        : on_(std::move(link)), options_(std::move(options)) {
        // A name that was there before may have left messages behind.
        if (!options_.consumer.empty()) own_from_ = "0";
        name_ = options_.consumer.empty() ? fresh_name() : options_.consumer;
    }

    result<void> fetch(std::size_t messages_max, duration patience) override {
        batch_.clear();
        ids_.clear();
        if (auto connected = prepare(); !connected) return connected;
        take_due();
        auto done = fetch_more(messages_max, patience);
        // What is there already must not be forgotten; the next fetch will fail as well.
        if (!done && batch_.empty()) return done;
        return {};
    }

    [[nodiscard]] std::span<const received> batch() const override { return batch_; }

    result<void> settle(std::span<const disposal> what) override {
        requests_.clear();
        std::vector<std::string_view> finished;
        std::vector<std::size_t> parked;
        for (std::size_t i = 0; i < what.size(); ++i) {
            if (what[i].what == disposal::kind::acknowledge) finished.push_back(ids_[i]);
            if (what[i].what == disposal::kind::park) parked.push_back(i);
            if (what[i].what == disposal::kind::again) delay(i, what[i].after);
        }
        if (!finished.empty()) add(acknowledging(finished));
        for (const std::size_t i : parked) add_parking(i, what[i]);
        return exchange_settling(finished.empty() ? 0 : 1, parked);
    }

    void keep() override {
        auto ids = delayed_ids();
        ids.insert(ids.end(), ids_.begin(), ids_.end());
        touch(ids, duration{0});
    }

    // Made to look idle for long enough, so that the others of the group take them at once.
    void finish() override {
        if (!on_.ready()) return;
        touch(delayed_ids(), options_.claim_after);
        delayed_.clear();
        if (!options_.consumer.empty()) return;
        const auto left = ask({"XPENDING", options_.stream, options_.group, "-", "+", "1", name_});
        if (!left || !(*left)->is(value::type::array) || !(*left)->items.empty()) return;
        static_cast<void>(ask({"XGROUP", "DELCONSUMER", options_.stream, options_.group, name_}));
    }

private:
    using parts = std::vector<std::string_view>;

    static std::string fresh_name() {
        std::random_device random;
        return "semel-" + std::to_string(random()) + std::to_string(random());
    }

    // ---- asking -----------------------------------------------------------------------------

    result<const value*> ask(const parts& what) {
        if (auto connected = on_.ready(); !connected) return std::move(connected).error();
        requests_.clear();
        add(what);
        if (auto sent = on_.send(requests_); !sent.done) return std::move(sent.done).error();
        return reply();
    }

    void add(const parts& what) {
        redis::append_request(requests_, what.size());
        for (const auto& one : what) redis::append_part(requests_, one);
    }

    result<const value*> reply() {
        auto got = on_.receive();
        if (!got || !(*got)->is(value::type::error)) return got;
        if ((*got)->text.starts_with("NOGROUP")) {
            prepared_ = false;
            return failure{.code = errc::unavailable,
                           .possible = effect::none,
                           .detail = "redis: " + std::string{(*got)->text}};
        }
        redis::verdict found = redis::verdict_of((*got)->text);
        if (found.after == redis::connection_use::replace) on_.close();
        return std::move(found.why);
    }

    result<void> prepare() {
        if (auto connected = on_.ready(); !connected) return connected;
        if (prepared_) return {};
        requests_.clear();
        add({"XGROUP", "CREATE", options_.stream, options_.group, "0", "MKSTREAM"});
        if (auto sent = on_.send(requests_); !sent.done) return std::move(sent.done).error();
        const auto got = on_.receive();
        if (!got) return got.error();
        const bool there = (*got)->text.starts_with("BUSYGROUP");
        if ((*got)->is(value::type::error) && !there) return redis::verdict_of((*got)->text).why;
        prepared_ = true;
        return {};
    }

    // ---- fetching ---------------------------------------------------------------------------

    result<void> fetch_more(std::size_t messages_max, duration patience) {
        if (own_from_) return read_own(messages_max);
        if (local_clock::now() >= next_claim_) {
            if (auto claimed = claim_idle(messages_max); !claimed) return claimed;
        }
        if (batch_.size() >= messages_max || delayed_.size() >= delayed_max) return {};
        return read_new(messages_max - batch_.size(), patience_left(patience));
    }

    // No longer than until the next message is due.
    [[nodiscard]] duration patience_left(duration patience) const {
        if (!batch_.empty()) return duration{0};
        if (delayed_.empty()) return patience;
        const auto due =
            std::chrono::ceil<milliseconds>(delayed_.begin()->first - local_clock::now());
        return std::clamp<duration>(due, milliseconds{1}, patience);
    }

    void take_due() {
        const local_time now = local_clock::now();
        while (!delayed_.empty() && delayed_.begin()->first <= now) {
            auto due = delayed_.extract(delayed_.begin());
            stream_entry& one = due.mapped();
            ++one.what.deliveries;
            ids_.push_back(std::move(one.id));
            batch_.push_back(std::move(one.what));
        }
    }

    result<void> read_new(std::size_t messages_max, duration patience) {
        const std::string most = std::to_string(messages_max);
        const std::string block = milliseconds_text(patience);
        parts what{"XREADGROUP", "GROUP", options_.group, name_, "COUNT", most};
        if (patience > duration{0}) what.insert(what.end(), {"BLOCK", block});
        what.insert(what.end(), {"STREAMS", options_.stream, ">"});
        const auto got = ask(what);
        if (!got) return got.error();
        if (const value* entries = entries_of(**got)) take(*entries, looked_for::no);
        return {};
    }

    // What this consumer was given in an earlier life, a page at a time.
    result<void> read_own(std::size_t messages_max) {
        const std::string most = std::to_string(messages_max);
        const std::string from = *own_from_;
        const auto got = ask({"XREADGROUP", "GROUP", options_.group, name_, "COUNT", most,
                              "STREAMS", options_.stream, from});
        if (!got) return got.error();
        const value* const entries = entries_of(**got);
        if (entries == nullptr || entries->items.empty()) {
            own_from_.reset();
            return {};
        }
        own_from_ = std::string{entries->items.back().items.at(0).text};
        const std::size_t first = batch_.size();
        take(*entries);
        return count_deliveries(first);
    }

    static const value* entries_of(const value& reply) {
        if (!reply.is(value::type::array) || reply.items.empty()) return nullptr;
        const value& stream = reply.items.front();
        return stream.items.size() == 2 ? &stream.items[1] : nullptr;
    }

    // Messages of consumers that have died, and of our own whose acknowledgement was lost.
    result<void> claim_idle(std::size_t messages_max) {
        keep(); // what is held here is in good hands
        const std::string idle = milliseconds_text(options_.claim_after);
        const std::string most = std::to_string(messages_max);
        const std::string from = claim_from_;
        const auto got =
            ask({"XAUTOCLAIM", options_.stream, options_.group, name_, idle, from, "COUNT", most});
        if (!got) return got.error();
        if ((*got)->items.size() < 2) return {};
        claim_from_ = (*got)->items[0].text;
        if (claim_from_ == "0-0") next_claim_ = local_clock::now() + options_.claim_after / 3;
        const std::size_t first = batch_.size();
        take((*got)->items[1]);
        return count_deliveries(first);
    }

    enum class looked_for : bool { no, yes };

    void take(const value& entries, looked_for held = looked_for::yes) {
        for (const auto& one : entries.items) {
            auto made = read_entry(one, options_.stream);
            // Deleted meanwhile, which a later claim removes from the list; or held already.
            if (!made || (held == looked_for::yes && holds(made->id))) continue;
            ids_.push_back(std::move(made->id));
            batch_.push_back(std::move(made->what));
        }
    }

    [[nodiscard]] bool holds(const std::string& id) const {
        return std::find(ids_.begin(), ids_.end(), id) != ids_.end() ||
               std::any_of(delayed_.begin(), delayed_.end(),
                           [&](const auto& one) { return one.second.id == id; });
    }

    // Replies that are still to come must not be taken for those of the next requests.
    failure left_unread(failure why) {
        on_.close();
        return why;
    }

    result<void> count_deliveries(std::size_t first) {
        if (first == batch_.size()) return {};
        if (auto connected = on_.ready(); !connected) return connected;
        requests_.clear();
        for (std::size_t i = first; i < ids_.size(); ++i) {
            add({"XPENDING", options_.stream, options_.group, ids_[i], ids_[i], "1"});
        }
        if (auto sent = on_.send(requests_); !sent.done) return std::move(sent.done).error();
        for (std::size_t i = first; i < ids_.size(); ++i) {
            const auto got = reply();
            if (!got) return left_unread(got.error());
            const bool known = (*got)->items.size() == 1 && (*got)->items[0].items.size() == 4;
            if (known) {
                batch_[i].deliveries =
                    static_cast<std::uint32_t>((*got)->items[0].items[3].integer);
            }
        }
        return {};
    }

    // ---- settling ---------------------------------------------------------------------------

    [[nodiscard]] parts acknowledging(const std::vector<std::string_view>& ids) const {
        parts made{"XACK", options_.stream, options_.group};
        made.insert(made.end(), ids.begin(), ids.end());
        return made;
    }

    void add_parking(std::size_t i, const disposal& why) {
        append_dead_letter(requests_, options_.dead, batch_[i], why);
    }

    result<void> exchange_settling(std::size_t acknowledgements,
                                   const std::vector<std::size_t>& parked) {
        if (requests_.empty()) return {};
        if (auto connected = on_.ready(); !connected) return connected;
        if (auto sent = on_.send(requests_); !sent.done) return std::move(sent.done).error();
        for (std::size_t i = 0; i < acknowledgements; ++i) {
            if (auto got = reply(); !got) return left_unread(std::move(got).error());
        }
        std::optional<failure> refused;
        std::vector<std::string_view> kept;
        for (const std::size_t i : parked) {
            const auto got = on_.receive();
            if (!got) return got.error();
            if ((*got)->is(value::type::error)) {
                refused = redis::verdict_of((*got)->text).why;
                delay(i, std::chrono::seconds{1});
            } else {
                kept.push_back(ids_[i]);
            }
        }
        if (auto done = acknowledge_parked(kept); !done) return done;
        if (refused) return *std::move(refused);
        return {};
    }

    // Only now: what could not be parked stays. A crash in between parks a message twice.
    result<void> acknowledge_parked(const std::vector<std::string_view>& kept) {
        if (kept.empty()) return {};
        requests_.clear();
        add(acknowledging(kept));
        if (auto sent = on_.send(requests_); !sent.done) return std::move(sent.done).error();
        if (auto got = reply(); !got) return std::move(got).error();
        return {};
    }

    void delay(std::size_t i, duration after) {
        delayed_.emplace(local_clock::now() + after,
                         stream_entry{.id = std::move(ids_[i]), .what = std::move(batch_[i])});
    }

    [[nodiscard]] parts delayed_ids() const {
        parts made;
        for (const auto& [when, one] : delayed_) made.push_back(one.id);
        return made;
    }

    // Claims for itself what is its own already, which sets how long it has been idle.
    void touch(const parts& ids, duration idle) {
        if (ids.empty()) return;
        const std::string for_long = milliseconds_text(idle);
        parts what{"XCLAIM", options_.stream, options_.group, name_, "0"};
        what.insert(what.end(), ids.begin(), ids.end());
        what.insert(what.end(), {"IDLE", for_long, "JUSTID"});
        static_cast<void>(ask(what)); // if it fails others may take them, which is safe
    }

    redis::link on_;
    const redis_source_options options_;
    std::string name_; // in the group
    bool prepared_ = false;
    std::optional<std::string> own_from_;
    std::string claim_from_ = "0-0";
    local_time next_claim_ = {};

    std::vector<received> batch_;
    std::vector<std::string> ids_; // in the stream, of the batch
    std::multimap<local_time, stream_entry> delayed_;
    std::string requests_;
};

failure refused(std::string detail) {
    return {.code = errc::invalid_argument, .possible = effect::none, .detail = std::move(detail)};
}

} // namespace

result<std::unique_ptr<source>> open_redis_source(const net::parsed_url& url,
                                                  const consumer_options& options) {
    redis_store_options connection;
    redis_source_options own{.claim_after = options.claim_after};
    net::url_parameters given{url};
    if (auto read = read_redis_connection(url, given, connection); !read) {
        return std::move(read).error();
    }
    given.text("stream", own.stream);
    given.text("group", own.group);
    given.text("consumer", own.consumer);
    own.dead = own.stream + ":dead";
    given.text("dead", own.dead);
    if (auto read = given.finish(); !read) return std::move(read).error();
    if (own.stream.empty() || own.group.empty()) {
        return refused("a consumer of Redis needs ?stream=NAME&group=NAME");
    }
    auto link = redis::link_options_of(connection);
    if (!link) return std::move(link).error();
    return std::unique_ptr<source>{
        std::make_unique<redis_source>(*std::move(link), std::move(own))};
}

} // namespace semel::consumer
