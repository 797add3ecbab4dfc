// Both brokers behind one face, so that every test of consumers runs on each.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "messaging/events.hpp"

namespace semel::messaging_test {

class broker {
public:
    virtual ~broker() = default;

    [[nodiscard]] virtual std::string sink_url() const = 0;
    [[nodiscard]] virtual std::string consumer_url() const = 0;
    // "id error" of each dead letter.
    [[nodiscard]] virtual std::vector<std::string> dead_letters() = 0;
    // Given to a consumer and not acknowledged.
    [[nodiscard]] virtual std::int64_t unacknowledged() = 0;
    // Something that no sink has written.
    virtual void publish_plain(const std::string& text) = 0;

    void publish(const std::vector<outbox::message>& batch) {
        deliver_all(*outbox::open_sink(sink_url()).value(), batch);
    }
};

// A server of its own can be killed and started again; else it is the one of ./test.
class private_broker : public broker {
public:
    virtual void restart() = 0;
};

enum class broker_kind { redis, nats };

[[nodiscard]] std::unique_ptr<broker> make_broker(broker_kind kind);
[[nodiscard]] std::unique_ptr<private_broker> make_private_broker(broker_kind kind);

} // namespace semel::messaging_test
