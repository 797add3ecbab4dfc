#include "outbox/sinks/nats_sink.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "nats/nats.hpp"
#include "outbox/sinks/carried.hpp"
#include "outbox/sinks/name_pattern.hpp"
#include "outbox/sinks/per_key.hpp"
#include "semel/base/mutex.hpp"

namespace semel::outbox {

namespace {

using std::chrono::milliseconds;

struct nats_sink_options {
    std::string subject = "{topic}";
    std::int64_t window = 4'096;     // messages that wait for their acknowledgement
    std::int64_t timeout_ms = 5'000; // of a batch
};

// A wave so small is sent at once; libnats gathers larger ones by itself.
constexpr std::size_t small_wave = 64;
constexpr std::int64_t look_every_ms = 50;

bool is_hopeless(natsStatus status, jsErrCode code) {
    return status == NATS_MAX_PAYLOAD || code == JSStreamMessageExceedsMaximumErr;
}

std::string text_of(const jsPubAckErr& why, std::string_view subject) {
    if (why.Err == NATS_NO_RESPONDERS) {
        return "nats: no stream takes the subject '" + std::string{subject} + "'";
    }
    const char* text = why.ErrText != nullptr ? why.ErrText : natsStatus_GetText(why.Err);
    return "nats: " + std::string{text};
}

// The server's answers by the id of the message. A thread of libnats writes them.
class verdicts {
public:
    // `why` is null for what it has taken.
    void add(natsMsg* of, const jsPubAckErr* why) {
        const char* id = "";
        natsMsgHeader_Get(of, "Nats-Msg-Id", &id);
        delivery answer{.how = delivered::yes};
        if (why != nullptr) {
            const bool hopeless = is_hopeless(why->Err, why->ErrCode);
            answer = {.how = hopeless ? delivered::rejected : delivered::later,
                      .error = text_of(*why, natsMsg_GetSubject(of))};
        }
        const detail::guard lock{mutex_};
        all_.insert_or_assign(id, std::move(answer));
        ++count_;
    }
    [[nodiscard]] std::size_t count() const {
        const detail::guard lock{mutex_};
        return count_;
    }
    // Those that came since the last time.
    std::unordered_map<std::string, delivery> take() {
        const detail::guard lock{mutex_};
        count_ = 0;
        return std::exchange(all_, {});
    }

private:
    mutable detail::mutex mutex_;
    std::unordered_map<std::string, delivery> all_ SEMEL_GUARDED_BY(mutex_);
    std::size_t count_ SEMEL_GUARDED_BY(mutex_) = 0;
};

class nats_sink final : public sink {
public:
    nats_sink(nats::connection_options connection, const nats_sink_options& options)
        : on_(std::move(connection)), options_(options), subject_(options.subject) {}

    result<void> connect() override {
        if (!on_.alive()) js_.reset();
        auto connected = on_.ready();
        if (!connected) return std::move(connected).error();
        if (js_ != nullptr) return {};
        jsOptions options;
        jsOptions_Init(&options);
        options.PublishAsync.MaxPending = options_.window;
        options.PublishAsync.StallWait = options_.timeout_ms;
        options.PublishAsync.AckHandler = [](jsCtx*, natsMsg* of, jsPubAck*, jsPubAckErr* why,
                                             void* self) {
            static_cast<nats_sink*>(self)->said_.add(of, why);
            natsMsg_Destroy(of);
        };
        options.PublishAsync.AckHandlerClosure = this;
        jsCtx* made = nullptr;
        const auto status = natsConnection_JetStream(&made, on_.get(), &options);
        if (status != NATS_OK) return nats::failure_of(status, "JetStream");
        js_.reset(made);
        return {};
    }

    void deliver(std::span<const message> batch, order kept, std::span<delivery> answers) override {
        if (auto connected = connect(); !connected) {
            return give_back(batch, kept, answers, connected.error().detail);
        }
        batch_ = batch;
        answers_ = answers;
        deadline_ = local_clock::now() + milliseconds{options_.timeout_ms};
        if (kept == order::per_key) {
            deliver_in_waves();
        } else {
            wave_.clear();
            for (std::size_t i = 0; i < batch.size(); ++i) wave_.push_back(i);
            deliver_wave();
        }
    }

private:
    // Only one message of a key is on its way at a time: a stream may refuse one and take the next.
    void deliver_in_waves() {
        std::unordered_map<std::string_view, std::size_t> seen;
        std::vector<std::vector<std::size_t>> waves;
        for (std::size_t i = 0; i < batch_.size(); ++i) {
            const std::size_t number = seen[key_of(batch_[i].event)]++;
            if (number == waves.size()) waves.emplace_back();
            waves[number].push_back(i);
        }
        stuck_keys stuck{order::per_key};
        for (const auto& one : waves) {
            wave_.clear();
            for (const std::size_t i : one) {
                const bool held = stuck.holds(batch_[i].event);
                if (held) answers_[i] = {.how = delivered::held};
                if (!held) wave_.push_back(i);
            }
            deliver_wave();
            for (const std::size_t i : one) {
                if (answers_[i].how != delivered::yes) stuck.add(batch_[i].event);
            }
        }
    }

    // A message is delivered only if the server has confirmed it. No answer is no confirmation.
    void deliver_wave() {
        static_cast<void>(said_.take());
        std::erase_if(wave_, [&](std::size_t i) { return !publish(batch_[i].event, answers_[i]); });
        if (wave_.empty()) return;
        if (wave_.size() < small_wave) natsConnection_FlushTimeout(on_.get(), left_ms());
        const bool complete = wait_for_answers();
        const bool lost = !on_.alive();
        for (const std::size_t i : wave_) {
            answers_[i] = {.how = delivered::later,
                           .error = lost ? "nats: the connection was lost"
                                         : "nats: no acknowledgement in time"};
        }
        apply(said_.take());
        if (complete) return;
        // Late acknowledgements of this batch must not count for the next one.
        js_.reset();
        on_.close();
    }

    // False: the message has not left, and the answer says why.
    bool publish(const event& what, delivery& answer) {
        // An earlier wave may have used up the time, or left the connection.
        if (js_ == nullptr || local_clock::now() >= deadline_) {
            answer = {.how = delivered::later, .error = "nats: the server takes nothing in time"};
            return false;
        }
        name_.assign(subject_.of(what.topic));
        if (!nats::is_subject(name_)) {
            answer = {.how = delivered::rejected,
                      .error = "nats: '" + name_ + "' is no subject to publish to"};
            return false;
        }
        natsMsg* raw = nullptr;
        auto status = natsMsg_Create(&raw, name_.c_str(), nullptr, what.payload.data(),
                                     static_cast<int>(what.payload.size()));
        if (status == NATS_OK) status = add_headers(raw, what);
        if (status == NATS_OK) status = js_PublishMsgAsync(js_.get(), &raw, nullptr);
        natsMsg_Destroy(raw); // null once it has left
        if (status == NATS_OK) return true;
        answer = {.how = is_hopeless(status, {}) ? delivered::rejected : delivered::later,
                  .error = nats::failure_of(status, "publish").detail};
        return false;
    }

    static natsStatus add_headers(natsMsg* to, const event& what) {
        auto status = natsMsgHeader_Set(to, "Nats-Msg-Id", carried::safe_value(what.id).c_str());
        const auto add = [&](const char* name, const std::string& value) {
            if (status == NATS_OK) status = natsMsgHeader_Add(to, name, value.c_str());
        };
        add(carried::topic.data(), carried::safe_value(what.topic));
        if (!what.key.empty()) add(carried::key.data(), carried::safe_value(what.key));
        for (const auto& one : what.headers) {
            add(carried::safe_name(one).c_str(), carried::safe_value(one.value));
        }
        return status;
    }

    [[nodiscard]] std::int64_t left_ms() const {
        const auto left = std::chrono::ceil<milliseconds>(deadline_ - local_clock::now());
        return std::max<std::int64_t>(left.count(), 1);
    }

    // False: time is up, or the connection is gone.
    bool wait_for_answers() {
        jsPubOptions options;
        jsPubOptions_Init(&options);
        while (true) {
            options.MaxWait = std::min(left_ms(), look_every_ms);
            // libnats counts a message as answered a moment before it reports the answer.
            const bool done = js_PublishAsyncComplete(js_.get(), &options) == NATS_OK;
            if (done && said_.count() >= wave_.size()) return true;
            if (!on_.alive() || local_clock::now() >= deadline_) return false;
            if (done) std::this_thread::sleep_for(milliseconds{1});
        }
    }

    void apply(const std::unordered_map<std::string, delivery>& found) {
        if (found.empty()) return;
        for (const std::size_t i : wave_) {
            const auto at = found.find(carried::safe_value(batch_[i].event.id));
            if (at != found.end()) answers_[i] = at->second;
        }
    }

    verdicts said_; // outlives those who write to it
    nats::connection on_;
    nats::jetstream_handle js_; // goes before the connection
    const nats_sink_options options_;
    name_pattern subject_;

    // Of the batch at work.
    std::span<const message> batch_;
    std::span<delivery> answers_;
    local_time deadline_ = {};
    std::vector<std::size_t> wave_;
    std::string name_;
};

} // namespace

result<std::unique_ptr<sink>> open_nats_sink(const net::parsed_url& url, const sink_options&) {
    nats_sink_options own;
    net::url_parameters given{url};
    auto connection = nats::read_connection(url, given);
    if (!connection) return std::move(connection).error();
    given.text("subject", own.subject);
    given.number("window", own.window, 1'000);
    given.number("timeout_ms", own.timeout_ms, 1'000);
    if (auto read = given.finish(); !read) return std::move(read).error();
    return std::unique_ptr<sink>{std::make_unique<nats_sink>(*std::move(connection), own)};
}

} // namespace semel::outbox
