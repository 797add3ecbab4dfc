// A connected stream of bytes, by which clients of servers speak.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "semel/base/result.hpp"
#include "semel/base/time.hpp"

namespace semel::net {

// Used by one thread at a time. Implement it to bring connections of your own: through a proxy,
// over a Unix socket, by another TLS library.
class stream {
public:
    stream() = default;
    stream(const stream&) = delete;
    stream& operator=(const stream&) = delete;
    virtual ~stream() = default;

    // Sends at least one of the bytes and returns how many. errc::timed_out if none could be
    // sent within `patience`, errc::unavailable if the stream is broken.
    virtual result<std::size_t> send(std::string_view bytes, duration patience) = 0;

    // Receives at least one byte; 0 if the other end has closed the stream. Errors as above.
    virtual result<std::size_t> receive(std::span<char> into, duration patience) = 0;
};

// A stream over a connected stream socket, which it closes in the end.
[[nodiscard]] std::unique_ptr<stream> open_stream(int socket);

} // namespace semel::net
