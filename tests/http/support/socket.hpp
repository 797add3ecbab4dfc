// A plain blocking socket with deadlines, for both ends of a test. No test waits for ever.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace semel::edge::support {

// Generous: the machine may be busy with other things.
inline constexpr int patience_ms = 20'000;

// One thread at a time, except that shutdown() and reset() may come from another.
class socket {
public:
    socket() = default;
    explicit socket(int descriptor) : descriptor_(descriptor) {}
    socket(socket&& other) noexcept : descriptor_(other.descriptor_.exchange(-1)) {}
    socket& operator=(socket&& other) noexcept {
        if (this != &other) {
            close();
            descriptor_ = other.descriptor_.exchange(-1);
        }
        return *this;
    }
    ~socket() { close(); }

    [[nodiscard]] static socket connect(std::uint16_t port);

    [[nodiscard]] bool is_open() const { return descriptor_ >= 0; }
    [[nodiscard]] int descriptor() const { return descriptor_; }
    // False: the other end has gone, or does not read.
    bool write(std::string_view bytes) const;
    // Some bytes; empty: the end; nothing: time-out or reset.
    [[nodiscard]] std::optional<std::string> read_some(int timeout_ms = patience_ms) const;
    // Everything up to the end.
    [[nodiscard]] std::string read_all() const;
    // Is the other end closed, or does it become so in time?
    [[nodiscard]] bool ends() const;
    void end_output() const;
    void shutdown() const;
    // Closes so that the other end sees a reset.
    void reset();
    void close();

private:
    // Whoever shuts it down must not meet the number's next owner.
    mutable std::mutex closing_;
    std::atomic<int> descriptor_ = -1;
};

// On 127.0.0.1, any port.
class listening_socket {
public:
    listening_socket();
    [[nodiscard]] std::uint16_t port() const { return port_; }
    // Nothing: it was shut down.
    [[nodiscard]] std::optional<socket> accept() const;
    void shutdown() const { socket_.shutdown(); }

private:
    socket socket_;
    std::uint16_t port_ = 0;
};

} // namespace semel::edge::support
