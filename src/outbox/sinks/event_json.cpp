#include "outbox/sinks/event_json.hpp"

#include <openssl/evp.h>

#include "base/utf8.hpp"
#include "log/log_text.hpp"

namespace semel::outbox {

namespace {

void append_base64(std::string& to, std::string_view bytes) {
    const std::size_t start = to.size();
    to.resize(start + (bytes.size() + 2) / 3 * 4 + 1); // it writes a zero behind
    const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(to.data() + start),
                                     reinterpret_cast<const unsigned char*>(bytes.data()),
                                     static_cast<int>(bytes.size()));
    to.resize(start + static_cast<std::size_t>(size));
}

void append_member(std::string& to, std::string_view name, std::string_view text) {
    to.append("\"").append(name).append("\":");
    append_json_string(to, text);
    to += ',';
}

void append_headers(std::string& to, const std::vector<event_header>& headers) {
    to += "\"headers\":[";
    for (const auto& one : headers) {
        if (to.back() == ']') to += ',';
        to += '[';
        append_json_string(to, one.name);
        to += ',';
        append_json_string(to, one.value);
        to += ']';
    }
    to += "],";
}

} // namespace

void append_json_line(std::string& to, const message& one) {
    to += '{';
    append_member(to, "id", one.event.id);
    append_member(to, "topic", one.event.topic);
    append_member(to, "key", one.event.key.empty() ? one.event.id : one.event.key);
    to += "\"created_at\":" + std::to_string(one.created_at.time_since_epoch().count());
    to += ",\"attempt\":" + std::to_string(one.attempts) + ',';
    append_headers(to, one.event.headers);
    if (is_utf8(one.event.payload)) {
        to += "\"payload\":";
        append_json_string(to, one.event.payload);
    } else {
        to += "\"payload_base64\":\"";
        append_base64(to, one.event.payload);
        to += '"';
    }
    to += "}\n";
}

} // namespace semel::outbox
