// Stream sockets with a time limit on everything.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "semel/base/result.hpp"
#include "semel/base/time.hpp"
#include "semel/net/stream.hpp"

namespace semel::net {

// A failure of a socket, by errno. Nothing has been changed by it.
[[nodiscard]] failure system_failure(std::string_view doing, int error);

// A descriptor, closed in the end.
class descriptor {
public:
    explicit descriptor(int it = -1) : it_(it) {}
    descriptor(descriptor&& other) noexcept : it_(std::exchange(other.it_, -1)) {}
    descriptor& operator=(descriptor&& other) noexcept {
        std::swap(it_, other.it_);
        return *this;
    }
    ~descriptor();

    [[nodiscard]] int get() const { return it_; }
    [[nodiscard]] int release() { return std::exchange(it_, -1); }

private:
    int it_;
};

enum class socket_event { readable, writable };

// errc::timed_out if it does not come within `patience`.
[[nodiscard]] result<void> wait_for(int socket, socket_event what, duration patience);

// Of a stream of which nothing has been asked: it has ended, or said what would be taken for the
// answer to the next request.
[[nodiscard]] bool spoke_unasked(stream& idle);

// To the first address that answers. Name resolution itself is the system's and has its limits.
[[nodiscard]] result<descriptor> connect_to(const std::string& host, std::uint16_t port,
                                            duration patience);

// Non-blocking, and where it is TCP: no delay, keepalive, and a bound on unacknowledged bytes.
void prepare(int socket);

} // namespace semel::net
