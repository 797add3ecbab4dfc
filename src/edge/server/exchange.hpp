// What serves requests, for servers that stream. Everything here happens on the session's worker.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace semel::edge {

class session;

enum class more : std::uint8_t { follows, none };

// One request and its answer. The session calls; the exchange asks the session for the body and
// gives it the answer. Shared by the session and by whatever works on the answer, which may go on
// after the session has ended.
class exchange {
public:
    enum class ending : std::uint8_t { answered, gone };

    virtual ~exchange() = default;
    // The head has arrived and is well-formed.
    virtual void start() = 0;
    // What session::collect asked for.
    virtual void on_whole(std::string) {}
    // What session::want_piece asked for. The view lives until the next one is asked for.
    virtual void on_piece(std::string_view, more) {}
    // A part of a streamed answer has been written; the next may follow.
    virtual void on_sent() {}
    // The session must not be called any more: the client has left, was too slow, or sent a
    // malformed body.
    virtual void on_end(ending how) = 0;
};

class service {
public:
    virtual ~service() = default;
    // The session outlives the exchange's start.
    virtual std::shared_ptr<exchange> open(session& client) = 0;
};

} // namespace semel::edge
