#include "outbox/sinks/webhook_signature.hpp"

#include "fingerprint/sha256.hpp"

namespace semel::outbox {

namespace {

std::string first(const std::string& secret, std::string_view when, const signed_request& what) {
    return "v1=" + detail::hmac_sha256(secret, {when, ".", what.body}).hex();
}

std::string second(const std::string& secret, std::string_view when, const signed_request& what) {
    return "v2=" + detail::hmac_sha256(secret, {"v2\n", when, "\n", what.id, "\n", what.topic, "\n",
                                                what.key, "\n", what.content_type, "\n", what.body})
                       .hex();
}

} // namespace

std::vector<std::pair<std::string_view, std::string>> signature_lines(const webhook_secrets& with,
                                                                      const signed_request& what) {
    if (with.now.empty()) return {};
    const std::string when = std::to_string(what.timestamp);
    const auto signatures = [&](auto sign) {
        std::string made = sign(with.now, when, what);
        if (!with.before.empty()) made.append(",").append(sign(with.before, when, what));
        return made;
    };
    return {{"Semel-Timestamp", when},
            {"Semel-Signature", signatures(first)},
            {"Semel-Signature-V2", signatures(second)}};
}

} // namespace semel::outbox
