// Requests of our own to some service, for callers that can wait: probes and webhooks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "edge/gateway/options.hpp"
#include "semel/base/result.hpp"
#include "semel/http/message.hpp"

namespace semel::edge {

struct call_request {
    std::string method = "GET";
    std::string target = {}; // behind the path of the URL; empty: that path itself
    http::header_list headers = {};
    std::string body = {};
    std::size_t answer_bytes_max = std::size_t{2} << 20U;
};

// Thread-safe; has one thread of its own. The destructor cuts off what is under way.
class caller {
public:
    // Errors: a TLS file that cannot be used.
    static result<std::unique_ptr<caller>> make(upstream_options to);
    ~caller();

    // Blocks, as long as the options' time-outs allow. unavailable: no whole answer came; the
    // effect is unknown if a byte of the request may have left. A status of any kind is an answer.
    [[nodiscard]] result<http::response> call(call_request what);

private:
    struct parts;
    explicit caller(std::unique_ptr<parts> made);

    std::unique_ptr<parts> parts_;
};

} // namespace semel::edge
