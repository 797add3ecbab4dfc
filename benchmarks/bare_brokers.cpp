#include "bare_brokers.hpp"

#include <chrono>
#include <cstdio>
#include <stdexcept>

#include "databases/redis/client/opening.hpp"
#include "nats/nats.hpp"
#include "semel/databases/redis.hpp"

namespace semel::bench {

namespace {

// redis://host:port, as tools/servers prints it.
redis::link_options link_to(std::string_view url) {
    redis_store_options made;
    url.remove_prefix(url.find("//") + 2);
    const std::size_t colon = url.rfind(':');
    made.host = url.substr(0, colon);
    made.port = static_cast<std::uint16_t>(std::stoul(std::string{url.substr(colon + 1)}));
    return redis::link_options_of(made).value();
}

void check(natsStatus status, const char* doing) {
    if (status == NATS_OK) return;
    throw std::runtime_error{std::string{"nats: "} + doing + ": " + natsStatus_GetText(status)};
}

} // namespace

std::string broker_load::id_of(std::uint64_t number) {
    char text[32];
    std::snprintf(text, sizeof text, "%026llu", static_cast<unsigned long long>(number));
    return text;
}

// ---- Redis --------------------------------------------------------------------------------------

bare_stream::bare_stream(const std::string& url) : on_(link_to(url)) {
    const std::string payload(broker_load::payload_bytes, 'x');
    for (std::size_t i = 0; i < broker_load::batch; ++i) {
        const std::string id = broker_load::id_of(i);
        const std::string_view parts[]{
            "XADD", broker_load::topic, "*",       "id",   id, "topic", "orders",
            "key",  "customer-100",     "payload", payload};
        redis::append_request(requests_, std::size(parts));
        for (const auto& one : parts) redis::append_part(requests_, one);
    }
}

double bare_stream::rate(seconds most) {
    std::size_t done = 0;
    on_.ready().value();
    const auto start = std::chrono::steady_clock::now();
    seconds took{0};
    while (took < most) {
        on_.send(requests_).done.value();
        for (std::size_t i = 0; i < broker_load::batch; ++i) {
            if ((*on_.receive().value()).is(redis::value::type::error)) {
                throw std::runtime_error{"redis refuses an entry"};
            }
        }
        done += broker_load::batch;
        took = std::chrono::steady_clock::now() - start;
    }
    return static_cast<double>(done) / took.count();
}

void bare_stream::clean() {
    static_cast<void>(on_.ask({"DEL", broker_load::topic}).value());
}

// ---- NATS ---------------------------------------------------------------------------------------

struct bare_jetstream::state {
    nats::connection_handle connection;
    nats::jetstream_handle js;
    std::uint64_t last = 0;
};

bare_jetstream::bare_jetstream(const std::string& url) : state_(std::make_unique<state>()) {
    natsConnection* connection = nullptr;
    check(natsConnection_ConnectTo(&connection, url.c_str()), "connect");
    state_->connection.reset(connection);
    jsOptions options;
    jsOptions_Init(&options);
    options.PublishAsync.MaxPending = 4'096;
    options.PublishAsync.StallWait = 30'000;
    jsCtx* js = nullptr;
    check(natsConnection_JetStream(&js, connection, &options), "JetStream");
    state_->js.reset(js);
    jsStreamConfig config;
    jsStreamConfig_Init(&config);
    const char* subjects[]{broker_load::topic};
    config.Name = broker_load::topic;
    config.Subjects = subjects;
    config.SubjectsLen = 1;
    check(js_AddStream(nullptr, js, &config, nullptr, nullptr), "stream");
}

bare_jetstream::~bare_jetstream() = default;

double bare_jetstream::rate(seconds most) {
    const std::string payload(broker_load::payload_bytes, 'x');
    std::size_t done = 0;
    jsPubOptions options;
    jsPubOptions_Init(&options);
    const auto start = std::chrono::steady_clock::now();
    seconds took{0};
    while (took < most) {
        for (std::size_t i = 0; i < broker_load::batch; ++i) {
            const std::string id = "bare-" + broker_load::id_of(++state_->last);
            options.MsgId = id.c_str();
            check(js_PublishAsync(state_->js.get(), broker_load::topic, payload.data(),
                                  static_cast<int>(payload.size()), &options),
                  "publish");
        }
        done += broker_load::batch;
        took = std::chrono::steady_clock::now() - start;
    }
    jsPubOptions_Init(&options);
    options.MaxWait = 30'000;
    check(js_PublishAsyncComplete(state_->js.get(), &options), "acknowledgements");
    took = std::chrono::steady_clock::now() - start;
    return static_cast<double>(done) / took.count();
}

void bare_jetstream::clean() {
    check(js_PurgeStream(state_->js.get(), broker_load::topic, nullptr, nullptr), "purge");
}

} // namespace semel::bench
