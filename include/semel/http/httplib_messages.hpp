// cpp-httplib's requests and responses as messages of semel's, and back. For httplib.hpp.
#pragma once

#include <httplib.h>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "semel/http/message.hpp"

namespace semel::http::detail {

// What httplib itself puts among a request's headers. A client's lines of these names go too.
[[nodiscard]] inline bool is_httplibs_own(std::string_view name) {
    for (const std::string_view one : {"REMOTE_ADDR", "REMOTE_PORT", "LOCAL_ADDR", "LOCAL_PORT"}) {
        if (equal_ignoring_case(name, one)) return true;
    }
    return false;
}

[[nodiscard]] inline request_head head_of(const ::httplib::Request& from) {
    request_head head{.method = from.method, .target = from.target};
    if (from.version == "HTTP/1.0") head.version = version::http_1_0;
    for (const auto& [name, value] : from.headers) {
        if (!is_httplibs_own(name)) head.headers.add(name, value);
    }
    return head;
}

// httplib has taken multipart apart and left no body: its parts stand for it, each length-prefixed.
[[nodiscard]] inline std::string body_of(const ::httplib::Request& from) {
    if (!from.is_multipart_form_data()) return from.body;
    std::string all;
    for (const auto& [field, part] : from.files) {
        for (const std::string* text :
             {&field, &part.filename, &part.content_type, &part.content}) {
            all.append(std::to_string(text->size())).append(":").append(*text);
        }
    }
    return all;
}

// Reads out a handler's content provider: a response is stored whole or not at all.
[[nodiscard]] inline std::string provided_body(::httplib::Response& from) {
    std::string body;
    bool more = true;
    ::httplib::DataSink sink;
    sink.write = [&](const char* data, std::size_t size) { return body.append(data, size), true; };
    sink.done = [&] { more = false; };
    sink.is_writable = [] { return true; };
    const std::size_t length = from.content_length_;
    while (more && (length == 0 || body.size() < length)) {
        const std::size_t left = length == 0 ? 0 : length - body.size();
        if (!from.content_provider_(body.size(), left, sink)) {
            throw std::runtime_error("a content provider failed");
        }
    }
    return body;
}

[[nodiscard]] inline response response_of(::httplib::Response& from) {
    response made{.status = from.status == -1 ? 200 : from.status};
    for (const auto& [name, value] : from.headers) made.headers.add(name, value);
    made.body = from.content_provider_ ? provided_body(from) : std::move(from.body);
    return made;
}

inline void write_response(response&& from, ::httplib::Response& to) {
    ::httplib::Response made;
    made.status = from.status;
    for (const header& line : from.headers) made.headers.emplace(line.name, line.value);
    made.body = std::move(from.body);
    made.version = to.version;
    to = std::move(made);
}

} // namespace semel::http::detail
