#include "edge/center/center_command.hpp"

#include <array>
#include <utility>

#include <sys/random.h>

#include "edge/api/encoding.hpp"
#include "edge/api/json_reader.hpp"
#include "semel/base/result.hpp"

namespace semel::edge {
namespace {

using http::problem_kind;

constexpr std::array<std::string_view, 7> action_names = {
    "begin", "complete", "fail", "abandon", "renew", "checkpoint", "release"};
constexpr std::size_t nonce_bytes_min = 16;

owner_id random_owner() {
    std::array<std::uint64_t, 2> bits{};
    SEMEL_ASSERT(::getrandom(bits.data(), sizeof bits, 0) == sizeof bits);
    return {.high = bits[0], .low = bits[1] | 1}; // all zero means no owner
}

// The same for every repeat of one begin, so that a client whose answer got lost is recognised.
owner_id owner_from(const record_id& id, const std::string& nonce) {
    const fingerprint digest = fingerprint_builder{}
                                   .add("tenant", id.tenant)
                                   .add("operation", id.operation)
                                   .add("key", id.key)
                                   .add("nonce", nonce)
                                   .finish();
    std::array<std::uint64_t, 4> words{};
    std::memcpy(words.data(), digest.bytes().data(), sizeof words);
    return {.high = words[0], .low = words[1] | 1};
}

// Precondition: check_operation().
const operation_policy& policy_of(const std::string& operation, const center_options& options) {
    const auto found = options.operations.find(operation);
    return found == options.operations.end() ? options.defaults.value() : found->second;
}

record_policy stored_policy(const operation_policy& from) {
    return {.on_lease_expiry = from.on_lease_expiry,
            .attempts_max = from.attempts_max,
            .grace = from.grace,
            .processing_max = from.processing_max};
}

// Reads one command. What is wrong is remembered by `from_`; the rest goes on with nothing.
class command_reader {
public:
    command_reader(const json& body, record_id id, const center_options& options)
        : from_(body),
          options_(options),
          policy_(policy_of(id.operation, options)),
          id_(std::move(id)) {
        for (const char* one : {"do", "tenant", "operation", "key"}) from_.pass(one);
    }

    center_command read(action what) {
        center_command made{.id = id_};
        switch (what) {
        case action::begin:
            made.what = begin();
            made.wait = std::min(from_.time("wait").value_or(duration::zero()), options_.wait_max);
            break;
        case action::complete: {
            auto command = complete();
            made.kept = command.result.kind != result_kind::tombstone;
            made.what = std::move(command);
            break;
        }
        case action::fail: made.what = fail(); break;
        case action::abandon: made.what = commands::abandon{.by = by()}; break;
        case action::renew:
            made.what = commands::renew{.by = by(), .lease = time_or("lease", policy_.lease)};
            break;
        case action::checkpoint: made.what = checkpoint(); break;
        case action::release: made.what = commands::release{.by = by()}; break;
        }
        from_.nothing_else();
        return made;
    }

    [[nodiscard]] const std::optional<std::string>& fault() const { return from_.fault(); }

private:
    commands::begin begin() {
        if (options_.responses.contains(id_.operation)) {
            from_.wrong("operation",
                        "is a gateway route's, whose clients could not read a result of the "
                        "center: take another one");
        }
        commands::begin made{.content = content(),
                             .lease = time_or("lease", policy_.lease),
                             .policy = stored_policy(policy_),
                             .mismatch = policy_.mismatch,
                             .attributes = attributes()};
        const auto nonce = from_.text("nonce");
        if (nonce && (nonce->size() < nonce_bytes_min || nonce->size() > 255)) {
            from_.wrong("nonce", "must have 16 to 255 bytes");
        }
        made.owner = nonce ? owner_from(id_, *nonce) : random_owner();
        return made;
    }

    std::optional<fingerprint> content() {
        const auto hex = from_.text("fingerprint");
        const auto body = from_.bytes("content", "content_base64");
        if (hex && body) from_.wrong("fingerprint", "and content cannot both be given");
        if (body) return fingerprint::json(*body);
        if (!hex) return std::nullopt;
        const auto read = fingerprint::from_hex(*hex);
        if (read) return *read;
        from_.wrong("fingerprint", "must be 64 hex digits");
        return std::nullopt;
    }

    std::string attributes() {
        const json* const given = from_.object("attributes");
        if (given == nullptr) return {};
        std::string text = given->dump();
        check_size("attributes", text.size(), options_.limits.attributes_bytes_max);
        return text;
    }

    commands::complete complete() {
        commands::complete made{.by = by(), .retention = time_or("retention", policy_.retention)};
        const json* const given = from_.object("result");
        if (given != nullptr) made.result = result(*given);
        if (made.result.body.size() > policy_.result_bytes_max) {
            made.result.kind = result_kind::tombstone;
            made.result.body.clear();
        }
        seal(made.result);
        return made;
    }

    stored_result result(const json& given) {
        json_reader of{given};
        stored_result made{.body = of.bytes("text", "base64").value_or(""),
                           .type = of.text("type").value_or(""),
                           .ref = of.text("ref").value_or("")};
        const std::string kind = of.text("kind").value_or("value");
        if (kind == "rejection") made.kind = result_kind::rejection;
        if (kind != "rejection" && kind != "value") {
            of.wrong("kind", R"(must be "value" or "rejection")");
        }
        of.nothing_else();
        if (of.fault()) from_.wrong("result", "is wrong: " + *of.fault());
        check_size("result.type", made.type.size(), options_.limits.result_type_bytes_max);
        check_size("result.ref", made.ref.size(), options_.limits.result_ref_bytes_max);
        return made;
    }

    commands::fail fail() {
        commands::fail made{.by = by(),
                            .error = from_.text("error").value_or(""),
                            .retry_after = from_.time("retry_after").value_or(duration::zero()),
                            .retention = time_or("retention", policy_.failure_retention)};
        const std::string kind = from_.text("kind").value_or("retryable");
        if (kind == "final") made.kind = commands::failure_kind::final;
        if (kind != "final" && kind != "retryable") {
            from_.wrong("kind", R"(must be "retryable" or "final")");
        }
        check_size("error", made.error.size(), options_.limits.error_bytes_max);
        check_time("retry_after", made.retry_after);
        return made;
    }

    commands::checkpoint checkpoint() {
        semel::checkpoint step{.name = from_.text("name").value_or(""),
                               .data = from_.bytes("text", "base64").value_or("")};
        if (step.name.empty()) from_.wrong("name", "must be given");
        check_size("name", step.name.size(), options_.limits.checkpoint_name_bytes_max);
        check_size("text", step.data.size(), options_.limits.checkpoint_bytes_max);
        return {.by = by(), .step = std::move(step)};
    }

    claim by() {
        const auto token = from_.text("attempt");
        const auto read = token ? parse_attempt_token(*token) : std::nullopt;
        if (!token) from_.wrong("attempt", "must be given, as begin answered it");
        if (token && !read) from_.wrong("attempt", "is not one that begin answered");
        return read.value_or(claim{});
    }

    duration time_or(const char* name, duration standard) {
        const duration time = from_.time(name).value_or(standard);
        if (time == duration::zero()) from_.wrong(name, "must be more than zero");
        check_time(name, time);
        return time;
    }

    void check_time(const char* name, duration time) {
        if (time > options_.limits.duration_max) from_.wrong(name, "is too long");
    }

    void check_size(const char* name, std::size_t bytes, std::size_t bytes_max) {
        if (bytes <= bytes_max) return;
        from_.wrong(name, "has " + std::to_string(bytes) + " bytes; the limit is " +
                              std::to_string(bytes_max));
    }

    json_reader from_;
    const center_options& options_;
    const operation_policy& policy_;
    const record_id id_;
};

std::optional<json_response> check_id(const record_id& id, const center_options& options) {
    const auto refuse = [&](problem_kind kind, std::string why) {
        return refusal({.kind = kind, .detail = std::move(why)}, options.problems);
    };
    const limits& bounds = options.limits;
    if (id.operation.empty() || id.operation.size() > bounds.operation_bytes_max) {
        return refuse(problem_kind::request_malformed,
                      "operation must have 1 to " + std::to_string(bounds.operation_bytes_max) +
                          " bytes");
    }
    if (id.key.empty()) return refuse(problem_kind::key_missing, "key must be given");
    if (id.key.size() > bounds.key_bytes_max) {
        return refuse(problem_kind::key_too_long,
                      "the limit is " + std::to_string(bounds.key_bytes_max) + " bytes");
    }
    return std::nullopt;
}

// A mistyped name would run with another policy than the one it was meant to have.
std::optional<json_response> check_operation(const std::string& name,
                                             const center_options& options) {
    if (options.defaults || options.operations.contains(name)) return std::nullopt;
    return refusal({.kind = problem_kind::operation_unknown}, options.problems);
}

json_response malformed(const std::string& why, const center_options& options) {
    return refusal({.kind = problem_kind::request_malformed, .detail = why}, options.problems);
}

} // namespace

std::optional<action> action_named(std::string_view name) {
    const auto* const at = std::find(action_names.begin(), action_names.end(), name);
    if (at == action_names.end()) return std::nullopt;
    return static_cast<action>(at - action_names.begin());
}

std::variant<std::string, json_response> tenant_for(const std::optional<std::string>& named,
                                                    const caller& who,
                                                    const center_options& options) {
    if (!named) return who.tenant;
    if (!who.may.has(http::scope::admin)) {
        return refusal({.kind = problem_kind::forbidden,
                        .detail = "the tenant is the token's; only admins may name one"},
                       options.problems);
    }
    if (http::is_tenant_name(*named)) return *named;
    return malformed(http::tenant_fault(*named), options);
}

std::variant<center_command, json_response>
read_command(action what, const json& body, const caller& who, const center_options& options) {
    json_reader about{body};
    const auto named = about.text("tenant");
    record_id id{.tenant = {},
                 .operation = about.text("operation").value_or(""),
                 .key = about.text("key").value_or("")};
    if (about.fault()) return malformed(*about.fault(), options);
    auto tenant = tenant_for(named, who, options);
    if (auto* refused = std::get_if<json_response>(&tenant)) return std::move(*refused);
    id.tenant = std::get<std::string>(std::move(tenant));
    if (auto refused = check_id(id, options)) return *std::move(refused);
    if (auto refused = check_operation(id.operation, options)) return *std::move(refused);

    command_reader reader{body, std::move(id), options};
    center_command made = reader.read(what);
    if (reader.fault()) return malformed(*reader.fault(), options);
    return made;
}

std::variant<center_command, json_response> read_lookup(record_id id,
                                                        const center_options& options) {
    if (auto refused = check_id(id, options)) return *std::move(refused);
    return center_command{.id = std::move(id), .what = commands::lookup{}};
}

} // namespace semel::edge
