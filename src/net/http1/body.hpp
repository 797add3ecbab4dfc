// The body of one message, taken from raw bytes piece by piece. Strict: if two readers disagree
// about the end of a body, that is an attack. Performs nothing; one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "semel/http/message.hpp"

namespace semel::http1 {

struct body_limits {
    std::size_t chunk_line_bytes_max = 256;  // a chunk's size and its extension
    std::size_t extension_bytes_max = 4'096; // of all chunks together
    // Of all trailer lines together. They are checked for form and discarded.
    std::size_t trailer_bytes_max = std::size_t{8} << 10U;
};

class body_reader {
public:
    body_reader() = default; // of a message without a body
    explicit body_reader(const http::body_framing& how, const body_limits& limits = {});
    // Of a response that ends with its connection.
    [[nodiscard]] static body_reader until_close();

    struct piece {
        std::size_t used = 0;          // bytes of `raw` that need not be shown again
        std::string_view content = {}; // points into `raw`; empty: more bytes are needed, or none
    };
    // Takes bytes from the front of `raw`, at most up to the end of the body. Pass unused bytes
    // again with more bytes behind them: a line is only read whole.
    [[nodiscard]] piece take(std::string_view raw);
    // The connection has ended: is that where the body ends?
    void on_close();

    [[nodiscard]] bool done() const { return stage_ == stage::done; }
    [[nodiscard]] bool failed() const { return stage_ == stage::failed; }
    [[nodiscard]] std::string_view fault() const { return fault_; }
    // Known to be still to come; without a length, none are.
    [[nodiscard]] std::uint64_t remaining() const { return remaining_; }

private:
    enum class stage : std::uint8_t {
        length,
        until_close,
        chunk_size,
        chunk_data,
        chunk_end,
        trailers,
        done,
        failed
    };

    void fail(std::string_view why);
    // Each returns how many bytes it used; zero: the line is not whole yet, or wrong.
    std::size_t take_size(std::string_view raw);
    std::size_t take_chunk_end(std::string_view raw);
    std::size_t take_trailer(std::string_view raw);
    std::size_t take_lines(std::string_view raw);
    std::string_view take_content(std::string_view raw);
    // The line at the front of `raw` with its CRLF, or nothing yet.
    std::string_view whole_line(std::string_view raw, std::size_t bytes_max);

    stage stage_ = stage::done;
    std::uint64_t remaining_ = 0; // of the body or of the chunk
    body_limits left_ = {};       // what extensions and trailers may still use
    std::string_view fault_ = {};
};

} // namespace semel::http1
