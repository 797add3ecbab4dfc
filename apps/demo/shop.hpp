// What `semel serve --demo` puts behind the gateway: a service that knows nothing of repeats.
#pragma once

#include <memory>
#include <string>

#include "config/config.hpp"
#include "edge/server/server.hpp"

namespace semel::demo {

// Makes an order of every POST to /orders and a payment of every POST to /payments.
class shop {
public:
    shop(); // listens on any free port of the loopback

    [[nodiscard]] std::string url() const { return "http://" + server_->address().text(); }

private:
    const std::unique_ptr<edge::server> server_;
};

// The configuration of a gateway before it, on a SQLite file.
[[nodiscard]] config::config gateway_config(const std::string& upstream, const std::string& file);

// What to type, and what it shows.
[[nodiscard]] std::string guide(const std::string& gateway_address);

} // namespace semel::demo
