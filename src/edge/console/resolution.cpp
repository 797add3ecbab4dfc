#include "edge/console/resolution.hpp"

#include "edge/center/members.hpp"
#include "http/text.hpp"
#include "semel/http/stored_response.hpp"

namespace semel::edge {
namespace {

using nlohmann::json;

class reader {
public:
    reader(const json& body, const console_operation& about, const limits& most)
        : all_(body), about_(about), most_(most) {}

    std::variant<commands::resolve, std::string> read() {
        commands::resolve made;
        made.reason = text(all_, "reason", reason_bytes_max);
        if (made.reason.empty()) all_.wrong("reason", "must be given: it is what the audit keeps");
        const auto fence = http::to_number(text(all_, "fence", 20));
        if (!fence) all_.wrong("fence", "must be the number of the attempt that is judged");
        made.expected_fence = fence.value_or(0);
        read_verdict(made);
        all_.nothing_else();
        if (all_.fault()) return *all_.fault();
        return made;
    }

private:
    static std::string text(members& of, const std::string& name, std::size_t bytes_max) {
        std::string got = of.text(name).value_or("");
        if (got.size() > bytes_max) of.wrong(name, "is too long");
        return got;
    }

    void read_verdict(commands::resolve& to) {
        const std::string verdict = all_.text("verdict").value_or("");
        to.retention = about_.failure_retention;
        if (verdict == "committed") {
            to.retention = about_.retention;
            to.verdict = commands::resolve::committed{read_result()};
        } else if (verdict == "failed") {
            commands::resolve::failed no{.error = text(all_, "error", most_.error_bytes_max)};
            if (no.error.empty()) all_.wrong("error", "must say what clients are told");
            to.verdict = std::move(no);
        } else if (verdict != "not_executed") {
            all_.wrong("verdict", "must be committed, not_executed or failed");
        }
    }

    stored_result read_result() {
        const json* const plain = all_.object("result");
        const json* const response = all_.object("response");
        const bool wants_response = about_.holds == console_operation::results::responses;
        if ((plain == nullptr) == (response == nullptr)) {
            all_.wrong("result", "or response must be given: what repeats are answered with");
            return {};
        }
        if (wants_response != (response != nullptr)) {
            all_.wrong("result", wants_response
                                     ? "must be a response: clients of this operation speak HTTP"
                                     : "must be a result: no gateway route has this operation");
            return {};
        }
        stored_result made = response != nullptr ? read_response(*response) : read_plain(*plain);
        if (made.body.size() > most_.result_bytes_max) all_.wrong("result", "is too large");
        seal(made);
        return made;
    }

    stored_result read_plain(const json& from) {
        members parts{from};
        stored_result made{.body = parts.bytes("text", "base64").value_or(""),
                           .type = text(parts, "type", most_.result_type_bytes_max),
                           .ref = text(parts, "ref", most_.result_ref_bytes_max)};
        const std::string kind = parts.text("kind").value_or("value");
        if (kind == "rejection") made.kind = result_kind::rejection;
        if (kind != "rejection" && kind != "value") parts.wrong("kind", "is value or rejection");
        finish(parts, "result");
        return made;
    }

    stored_result read_response(const json& from) {
        members parts{from};
        http::response made{.body = parts.bytes("text", "base64").value_or("")};
        const std::string type = text(parts, "type", most_.result_type_bytes_max);
        const std::string ref = text(parts, "ref", most_.result_ref_bytes_max);
        parts.pass("status");
        const json status = from.value("status", json{});
        if (!status.is_number_integer() || status < 200 || status > 599) {
            parts.wrong("status", "must be a number from 200 to 599");
        } else {
            made.status = status.get<int>();
        }
        if (!type.empty() && !http::is_value(type)) parts.wrong("type", "is not a content type");
        if (!type.empty()) made.headers.add("Content-Type", type);
        finish(parts, "response");
        stored_result kept = http::encode(made, {}, most_.result_bytes_max);
        if (kept.kind == result_kind::tombstone) all_.wrong("response", "is too large");
        kept.ref = ref;
        return kept;
    }

    void finish(members& parts, const std::string& name) {
        parts.nothing_else();
        if (parts.fault()) all_.wrong(name, "is wrong: " + *parts.fault());
    }

    members all_;
    const console_operation& about_;
    const limits& most_;
};

} // namespace

std::variant<commands::resolve, std::string>
read_resolution(const json& body, const console_operation& about, const limits& most) {
    return reader{body, about, most}.read();
}

} // namespace semel::edge
