#include "consumer/nats_source.hpp"

#include <chrono>
#include <cstdlib>
#include <utility>

#include "nats/nats.hpp"
#include "outbox/sinks/carried.hpp"

namespace semel::consumer {

namespace {

using std::chrono::milliseconds;
namespace carried = outbox::carried;

struct nats_source_options {
    std::string stream = {};
    std::string durable = {};
    std::string subject = {}; // empty: all of the stream
    std::string dead = {};
    duration claim_after = {};
};

std::int64_t nanoseconds_of(duration length) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(length).count();
}

std::string header_of(natsMsg* from, const char* name) {
    const char* value = nullptr;
    if (natsMsgHeader_Get(from, name, &value) != NATS_OK || value == nullptr) return {};
    return carried::value_behind(value);
}

void read_headers(natsMsg* from, std::vector<outbox::event_header>& to) {
    const char** names = nullptr;
    int count = 0;
    if (natsMsgHeader_Keys(from, &names, &count) != NATS_OK) return;
    for (int i = 0; i < count; ++i) {
        const char* value = "";
        natsMsgHeader_Get(from, names[i], &value);
        if (auto one = carried::header_behind(names[i], value)) to.push_back(*std::move(one));
    }
    std::free(static_cast<void*>(names));
}

received read_message(natsMsg* from) {
    received made;
    made.event.id = header_of(from, "Nats-Msg-Id");
    made.event.topic = header_of(from, carried::topic.data());
    made.event.key = header_of(from, carried::key.data());
    made.event.payload.assign(natsMsg_GetData(from),
                              static_cast<std::size_t>(natsMsg_GetDataLength(from)));
    if (made.event.topic.empty()) made.event.topic = natsMsg_GetSubject(from);
    read_headers(from, made.event.headers);
    jsMsgMetaData* meta = nullptr;
    if (natsMsg_GetMetaData(&meta, from) != NATS_OK) return made;
    made.deliveries = static_cast<std::uint32_t>(meta->NumDelivered);
    if (made.event.id.empty()) {
        made.event.id = std::string{meta->Stream} + ":" + std::to_string(meta->Sequence.Stream);
    }
    jsMsgMetaData_Destroy(meta);
    return made;
}

class nats_source final : public source {
public:
    nats_source(nats::connection_options connection, nats_source_options options)
        : on_(std::move(connection)), options_(std::move(options)) {}

    result<void> fetch(std::size_t messages_max, duration patience) override {
        clear();
        if (auto connected = prepare(); !connected) return connected;
        const auto wait = std::chrono::duration_cast<milliseconds>(patience);
        nats::message_list got;
        const auto status = natsSubscription_Fetch(
            &got, subscription_.get(), static_cast<int>(messages_max), wait.count(), nullptr);
        if (status == NATS_TIMEOUT && on_.alive()) return {};
        if (status != NATS_OK) {
            disconnect();
            return nats::failure_of(status, "fetch");
        }
        for (int i = 0; i < got.Count; ++i) {
            batch_.push_back(read_message(got.Msgs[i]));
            messages_.emplace_back(std::exchange(got.Msgs[i], nullptr));
        }
        return {};
    }

    [[nodiscard]] std::span<const received> batch() const override { return batch_; }

    result<void> settle(std::span<const disposal> what) override {
        result<void> all;
        for (std::size_t i = 0; i < what.size(); ++i) {
            if (auto done = settle_one(i, what[i]); !done) all = std::move(done);
        }
        return all;
    }

    void keep() override {
        for (const auto& one : messages_) natsMsg_InProgress(one.get(), nullptr);
    }

    void finish() override {
        if (on_.alive()) natsConnection_FlushTimeout(on_.get(), 5'000);
        clear();
        disconnect();
    }

private:
    void clear() {
        batch_.clear();
        messages_.clear();
    }

    void disconnect() {
        subscription_.reset();
        js_.reset();
        on_.close();
    }

    result<void> prepare() {
        if (!on_.alive()) disconnect();
        auto connected = on_.ready();
        if (!connected) return std::move(connected).error();
        if (subscription_ != nullptr) return {};
        jsCtx* js = nullptr;
        if (const auto status = natsConnection_JetStream(&js, on_.get(), nullptr);
            status != NATS_OK) {
            return nats::failure_of(status, "JetStream");
        }
        js_.reset(js);
        return subscribe();
    }

    result<void> subscribe() {
        jsSubOptions options;
        jsSubOptions_Init(&options);
        options.Stream = options_.stream.c_str();
        options.Config.AckWait = nanoseconds_of(options_.claim_after);
        options.Config.MaxDeliver = -1; // what is poison is decided here, and parked
        natsSubscription* made = nullptr;
        jsErrCode code{};
        const char* const subject = options_.subject.empty() ? ">" : options_.subject.c_str();
        const auto status = js_PullSubscribe(&made, js_.get(), subject, options_.durable.c_str(),
                                             nullptr, &options, &code);
        if (status == NATS_OK) {
            subscription_.reset(made);
            return {};
        }
        failure why = nats::failure_of(status, "consumer '" + options_.durable + "' of stream '" +
                                                   options_.stream + "'");
        if (code == JSStreamNotFoundErr) why.detail += "; make the stream first";
        disconnect();
        return why;
    }

    result<void> settle_one(std::size_t i, const disposal& what) {
        natsMsg* const one = messages_[i].get();
        if (what.what == disposal::kind::park) {
            if (auto parked = park(batch_[i], what); !parked) {
                natsMsg_NakWithDelay(one, 1'000, nullptr);
                return parked;
            }
        }
        const auto status =
            what.what == disposal::kind::again
                ? natsMsg_NakWithDelay(one, std::chrono::ceil<milliseconds>(what.after).count(),
                                       nullptr)
                : natsMsg_Ack(one, nullptr);
        if (status != NATS_OK) return nats::failure_of(status, "acknowledge");
        return {};
    }

    // First parked, then acknowledged. If the consumer dies in between, it is parked again under
    // the same id, which the stream of dead letters drops within its window.
    result<void> park(const received& what, const disposal& why) {
        natsMsg* raw = nullptr;
        auto status =
            natsMsg_Create(&raw, options_.dead.c_str(), nullptr, what.event.payload.data(),
                           static_cast<int>(what.event.payload.size()));
        const nats::message_handle made{raw};
        const auto add = [&](const std::string& name, const std::string& value) {
            if (status == NATS_OK) {
                status = natsMsgHeader_Add(raw, name.c_str(), carried::safe_value(value).c_str());
            }
        };
        add("Nats-Msg-Id", what.event.id);
        add(std::string{carried::topic}, what.event.topic);
        if (!what.event.key.empty()) add(std::string{carried::key}, what.event.key);
        for (const auto& one : what.event.headers) add(carried::safe_name(one), one.value);
        add("Semel-Error", why.error);
        add("Semel-Attempts", std::to_string(why.attempts));
        if (status == NATS_OK) status = js_PublishMsg(nullptr, js_.get(), raw, nullptr, nullptr);
        if (status == NATS_OK) return {};
        return nats::failure_of(status, "dead letter to " + options_.dead);
    }

    nats::connection on_;
    nats::jetstream_handle js_;
    nats::subscription_handle subscription_;
    const nats_source_options options_;

    std::vector<received> batch_;
    std::vector<nats::message_handle> messages_; // of the batch
};

failure refused(std::string detail) {
    return {.code = errc::invalid_argument, .possible = effect::none, .detail = std::move(detail)};
}

} // namespace

result<std::unique_ptr<source>> open_nats_source(const net::parsed_url& url,
                                                 const consumer_options& options) {
    nats_source_options own{.claim_after = options.claim_after};
    net::url_parameters given{url};
    auto connection = nats::read_connection(url, given);
    if (!connection) return std::move(connection).error();
    given.text("stream", own.stream);
    given.text("durable", own.durable);
    given.text("subject", own.subject);
    own.dead = "dead." + own.stream;
    given.text("dead", own.dead);
    if (auto read = given.finish(); !read) return std::move(read).error();
    if (own.stream.empty() || own.durable.empty()) {
        return refused("a consumer of NATS needs ?stream=NAME&durable=NAME");
    }
    if (!nats::is_subject(own.dead)) return refused("'" + own.dead + "' is no subject");
    return std::unique_ptr<source>{
        std::make_unique<nats_source>(*std::move(connection), std::move(own))};
}

} // namespace semel::consumer
