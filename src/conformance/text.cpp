#include "conformance/text.hpp"

#include <cstdio>
#include <string_view>
#include <variant>

namespace semel::conformance {

namespace {

// Bytes as a C string, long ones by their beginning and length.
std::string quoted(std::string_view bytes) {
    constexpr std::size_t shown_max = 40;
    std::string out = "\"";
    for (const char byte : bytes.substr(0, shown_max)) {
        if (byte >= ' ' && byte <= '~' && byte != '"' && byte != '\\') {
            out += byte;
        } else {
            char hex[5];
            std::snprintf(hex, sizeof hex, "\\x%02x", static_cast<unsigned char>(byte));
            out += hex;
        }
    }
    out += '"';
    if (bytes.size() > shown_max) out += "…" + std::to_string(bytes.size()) + " bytes";
    return out;
}

std::string text(duration it) {
    return std::to_string(it.count()) + "us";
}

std::string text(const claim& by) {
    char owner[40];
    std::snprintf(owner, sizeof owner, "%llx-%llx", static_cast<unsigned long long>(by.owner.high),
                  static_cast<unsigned long long>(by.owner.low));
    return std::to_string(by.fence) + "/" + owner;
}

std::string text(const std::optional<fingerprint>& content) {
    return content ? content->hex().substr(0, 8) : "none";
}

std::string text(const record_policy& it) {
    constexpr std::string_view expiry[]{"retry", "hold", "probe"};
    return std::string{expiry[static_cast<std::size_t>(it.on_lease_expiry)]} + " attempts≤" +
           std::to_string(it.attempts_max) + " grace " + text(it.grace) + " processing≤" +
           text(it.processing_max);
}

std::string text(const stored_result& it) {
    constexpr std::string_view kinds[]{"value", "rejection", "tombstone"};
    return std::string{kinds[static_cast<std::size_t>(it.kind)]} + " " + quoted(it.body) +
           " type " + quoted(it.type) + " ref " + quoted(it.ref);
}

std::string text(const std::vector<checkpoint>& steps) {
    std::string out = "[";
    for (const auto& step : steps) out += quoted(step.name) + "=" + quoted(step.data) + " ";
    return out + "]";
}

struct of_command {
    std::string operator()(const commands::begin& it) const {
        return "begin content " + text(it.content) + " owner " +
               text(claim{.fence = 0, .owner = it.owner}) + " lease " + text(it.lease) + " " +
               text(it.policy) + (it.mismatch == on_mismatch::overwrite ? " overwrite" : "") +
               " attributes " + quoted(it.attributes);
    }
    std::string operator()(const commands::complete& it) const {
        return "complete by " + text(it.by) + " " + text(it.result) + " retention " +
               text(it.retention);
    }
    std::string operator()(const commands::fail& it) const {
        return "fail by " + text(it.by) +
               (it.kind == commands::failure_kind::final ? " final " : " retryable ") +
               quoted(it.error) + " retry_after " + text(it.retry_after) + " retention " +
               text(it.retention);
    }
    std::string operator()(const commands::release& it) const {
        const std::string back =
            it.replaced ? " giving back " + conformance::text(*it.replaced) : "";
        return "release by " + text(it.by) + back;
    }
    std::string operator()(const commands::abandon& it) const {
        return "abandon by " + text(it.by);
    }
    std::string operator()(const commands::renew& it) const {
        return "renew by " + text(it.by) + " lease " + text(it.lease);
    }
    std::string operator()(const commands::checkpoint& it) const {
        return "checkpoint by " + text(it.by) + " " + text(std::vector{it.step});
    }
    std::string operator()(const commands::resolve& it) const {
        constexpr std::string_view verdicts[]{"committed", "not executed", "failed"};
        return "resolve fence " + std::to_string(it.expected_fence) + " " +
               std::string{verdicts[it.verdict.index()]} + " retention " + text(it.retention);
    }
    std::string operator()(const commands::remove&) const { return "remove"; }
    std::string operator()(const commands::purge&) const { return "purge"; }
    std::string operator()(const commands::lookup&) const { return "lookup"; }
};

struct of_answer {
    std::string operator()(const answers::started& it) const {
        constexpr std::string_view kinds[]{"first", "retried", "taken over", "overwritten"};
        return "started " + std::string{kinds[static_cast<std::size_t>(it.kind)]} + " by " +
               text(it.by) + " attempt " + std::to_string(it.attempt) + " lease until " +
               conformance::text(it.lease_until) + " content " + text(it.content) + " " +
               text(it.checkpoints) +
               (it.replaced ? " replaced " + conformance::text(*it.replaced) : "");
    }
    std::string operator()(const answers::replay& it) const {
        return "replay " + text(it.result) + " fence " + std::to_string(it.fence) + " expires " +
               conformance::text(it.expires_at);
    }
    std::string operator()(const answers::in_progress& it) const {
        return "in_progress retry at " + conformance::text(it.retry_at) + " holder " +
               text(it.holder) + " attempt " + std::to_string(it.attempt);
    }
    std::string operator()(const answers::mismatch& it) const {
        return "mismatch with " + text(std::optional{it.stored});
    }
    std::string operator()(const answers::failed& it) const {
        return "failed " + std::string{name(it.state)} + " " + quoted(it.error) + " attempts " +
               std::to_string(it.attempts) + " expires " + conformance::text(it.expires_at);
    }
    std::string operator()(const answers::in_doubt& it) const {
        return "in_doubt fence " + std::to_string(it.fence) + " since " +
               conformance::text(it.since);
    }
    std::string operator()(const answers::stored& it) const {
        return "stored expires " + conformance::text(it.expires_at);
    }
    std::string operator()(const answers::renewed& it) const {
        return "renewed until " + conformance::text(it.lease_until);
    }
    std::string operator()(const answers::not_renewed&) const { return "not_renewed"; }
    std::string operator()(const answers::over_limit&) const { return "over_limit"; }
    std::string operator()(const answers::fenced_off& it) const {
        return "fenced_off current " + conformance::text(it.current);
    }
    std::string operator()(const answers::resolved& it) const {
        return "resolved fence " + std::to_string(it.fence);
    }
    std::string operator()(const answers::removed&) const { return "removed"; }
    std::string operator()(const answers::kept&) const { return "kept"; }
    std::string operator()(const answers::found& it) const {
        return "found " + conformance::text(it.current);
    }
};

} // namespace

std::string text(time_point at) {
    return std::to_string(at.time_since_epoch().count());
}

std::string text(const record_id& id) {
    return "(" + quoted(id.tenant) + ", " + quoted(id.operation) + ", " + quoted(id.key) + ")";
}

std::string text(const record& it) {
    return "{" + std::string{name(it.state)} + " " + text(it.policy) + " content " +
           text(it.content) + " holder " + text(it.holder) + " attempts " +
           std::to_string(it.attempts) + " lease until " + text(it.lease_until) + " begun " +
           text(it.begun_at) + " retry after " + text(it.retry_after) + " result " +
           text(it.result) + " error " + quoted(it.error) + " attributes " + quoted(it.attributes) +
           " checkpoints " + text(it.checkpoints) + " created " + text(it.created_at) +
           " updated " + text(it.updated_at) + " expires " + text(it.expires_at) + "}";
}

std::string text(const std::optional<record>& it) {
    return it ? text(*it) : "nothing";
}

std::string text(const command& what) {
    return std::visit(of_command{}, what);
}

std::string text(const answer& what) {
    return std::visit(of_answer{}, what);
}

std::string text(const audit_entry& what) {
    return text(what.at) + " " + quoted(what.act) + " by " + quoted(what.actor) + " because " +
           quoted(what.reason) + " fence " + std::to_string(what.fence) + " from " +
           (what.from ? std::string{name(*what.from)} : "unknown") + " to " +
           (what.to ? std::string{name(*what.to)} : "nothing");
}

} // namespace semel::conformance
