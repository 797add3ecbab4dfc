// An address that no other process listens on, for those who only want to try something.
#pragma once

#include <cstdint>

#include "net/address.hpp"

namespace semel::app {

// On the loopback: this port, or the next one that is free. Throws std::runtime_error if a hundred
// are taken. Another process may take the port before it is used.
[[nodiscard]] net::host_port free_address(std::uint16_t from);

} // namespace semel::app
