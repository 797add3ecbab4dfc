// A service behind the gateway that does what the test's script says, a thread per connection.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "http/support/socket.hpp"
#include "semel/http/message.hpp"

namespace semel::edge::support {

// Opened once; everybody who waits goes on. Thread-safe.
class gate_flag {
public:
    void open();
    // False: nobody opened it in time.
    bool wait();
    [[nodiscard]] bool is_open();

private:
    std::mutex mutex_;
    std::condition_variable opened_;
    bool open_ = false; // guarded by mutex_
};

// Until it holds; false: not in time.
bool eventually(const std::function<bool()>& holds);

struct seen_request {
    int nth = 0; // of all, from 1
    http::request_head head;
    std::string body;
};

[[nodiscard]] std::string response_text(int status, std::string_view body,
                                        std::string_view headers = {});

class upstream {
public:
    // Answers by writing to the connection; closing it is fine too.
    using script = std::function<void(const seen_request&, socket&)>;

    upstream();
    explicit upstream(script does);
    ~upstream();

    [[nodiscard]] std::uint16_t port() const { return listening_.port(); }
    [[nodiscard]] int requests() const { return requests_; }
    [[nodiscard]] int connections() const { return connections_; }
    [[nodiscard]] std::vector<seen_request> seen() const;
    // For requests that come from here on.
    void now_does(script does);
    // Where there are too many to remember.
    void remember_nothing() { remembers_ = false; }
    // Instead of reading a head: what a new connection does.
    void on_connection(std::function<void(socket&)> does);

private:
    struct link {
        socket connection;
        std::thread thread;
    };
    void accept_all();
    void serve(socket& connection);
    bool serve_one(socket& connection, std::string& in);

    listening_socket listening_;
    std::atomic<int> requests_ = 0, connections_ = 0;
    std::atomic<bool> remembers_ = true;
    mutable std::mutex mutex_;
    script does_;                                // guarded by mutex_
    std::function<void(socket&)> on_connection_; // guarded by mutex_
    std::vector<seen_request> seen_;             // guarded by mutex_
    std::list<link> links_;                      // guarded by mutex_
    std::thread acceptor_;
};

} // namespace semel::edge::support
