// A plain client of NATS for tests: makes streams, and reads what is in them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "nats/nats.hpp"

namespace semel::test {

struct nats_message {
    std::string subject = {};
    std::string data = {};
    std::map<std::string, std::string> headers = {};
};

// Throws where the server does not answer as it should.
class nats_client {
public:
    explicit nats_client(const std::string& url);

    struct stream_settings {
        std::int64_t messages_max = -1; // further ones are refused
        std::int32_t message_bytes_max = -1;
    };
    void make_stream(const std::string& name, const std::string& subject,
                     const stream_settings& settings);
    void make_stream(const std::string& name, const std::string& subject) {
        make_stream(name, subject, {});
    }
    void delete_stream(const std::string& name);
    void purge(const std::string& name);
    // All of a stream's messages, from the first on.
    [[nodiscard]] std::vector<nats_message> messages(const std::string& stream);
    [[nodiscard]] std::uint64_t count(const std::string& stream);
    void publish(const std::string& subject, const std::string& data, const std::string& id = {});
    // Messages given out by a consumer and not yet acknowledged.
    [[nodiscard]] std::int64_t unacknowledged(const std::string& stream,
                                              const std::string& durable);

private:
    nats::connection_handle connection_;
    nats::jetstream_handle js_;
};

} // namespace semel::test
