#include "edge/console/resolution.hpp"

#include "edge/api/json_reader.hpp"
#include "http/text.hpp"

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
    static std::string text(json_reader& of, const std::string& name, std::size_t bytes_max) {
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
        if ((plain == nullptr) == (response == nullptr)) {
            all_.wrong("result", "or response must be given: what repeats are answered with");
            return {};
        }
        const std::string name = response != nullptr ? "response" : "result";
        json_reader parts{response != nullptr ? *response : *plain};
        http::result_draft draft{.body = parts.bytes("text", "base64").value_or(""),
                                 .type = parts.text("type").value_or(""),
                                 .ref = parts.text("ref").value_or("")};
        response != nullptr ? read_status(draft, parts, *response) : read_kind(draft, parts);
        parts.nothing_else();
        if (parts.fault()) {
            all_.wrong(name, "is wrong: " + *parts.fault());
            return {};
        }
        auto made = http::to_result(draft, about_.holds, most_);
        if (auto* kept = std::get_if<stored_result>(&made)) return std::move(*kept);
        const auto& [about, why] = std::get<http::draft_fault>(made);
        const bool whole = about == "result";
        all_.wrong(name, whole ? why : "is wrong: " + std::string{about} + " " + why);
        return {};
    }

    static void read_kind(http::result_draft& to, json_reader& parts) {
        const std::string kind = parts.text("kind").value_or("value");
        if (kind == "rejection") to.kind = result_kind::rejection;
        if (kind != "rejection" && kind != "value") parts.wrong("kind", "is value or rejection");
    }

    static void read_status(http::result_draft& to, json_reader& parts, const json& from) {
        parts.pass("status");
        const json status = from.value("status", json{});
        to.status = status.is_number_unsigned() && status <= 599 ? status.get<int>() : 0;
    }

    json_reader all_;
    const console_operation& about_;
    const limits& most_;
};

} // namespace

std::variant<commands::resolve, std::string>
read_resolution(const json& body, const console_operation& about, const limits& most) {
    return reader{body, about, most}.read();
}

} // namespace semel::edge
