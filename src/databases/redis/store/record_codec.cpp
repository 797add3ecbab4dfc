#include "databases/redis/store/record_codec.hpp"

#include "core/audit_code.hpp"

namespace semel::redis {

namespace {

// First byte of every value.
constexpr std::uint8_t format_record = 1;
constexpr std::uint8_t format_grave = 2;

failure corrupt(std::string_view what) {
    return {.code = errc::corrupt,
            .possible = effect::none,
            .detail = "redis: " + std::string{what} +
                      " cannot be decoded; delete its key, or restore a backup"};
}

failure newer(unsigned format) {
    return {.code = errc::schema_newer,
            .possible = effect::none,
            .detail = "redis: a record has format " + std::to_string(format) +
                      ", which this semel does not know; use a newer semel with this prefix"};
}

void append_owner(std::string& to, const owner_id& owner) {
    append(to, owner.high);
    append(to, owner.low);
}

void append_policy(std::string& to, const record_policy& policy) {
    append(to, policy.attempts_max);
    append(to, policy.grace);
    append(to, policy.processing_max);
    append(to, static_cast<std::uint8_t>(policy.on_lease_expiry));
}

void append_content(std::string& to, const std::optional<fingerprint>& content) {
    append(to, static_cast<std::uint8_t>(content ? 1 : 0));
    if (content) {
        to += content->as_string_view();
    } else {
        to.append(fingerprint::size_bytes, '\0');
    }
}

void append_checkpoints(std::string& to, const std::vector<checkpoint>& steps) {
    std::string all;
    for (const auto& one : steps) {
        append(all, std::string_view{one.name});
        append(all, std::string_view{one.data});
    }
    append(to, std::string_view{all});
}

void append_end(std::string& to, std::string_view error, const stored_result& result) {
    append(to, error);
    append(to, static_cast<std::uint8_t>(result.kind));
    append(to, result.checksum);
    append(to, std::string_view{result.type});
    append(to, std::string_view{result.ref});
    append(to, std::string_view{result.body});
}

void read_fixed(byte_reader& from, stored_value& into) {
    record& it = *into.it;
    it.state = static_cast<record_state>(from.number<std::uint8_t>());
    it.holder.fence = from.number<std::uint64_t>();
    it.holder.owner.high = from.number<std::uint64_t>();
    it.holder.owner.low = from.number<std::uint64_t>();
    into.version = from.number<std::uint32_t>();
    it.updated_at = from.moment();
    it.expires_at = from.moment();
    it.retry_after = from.moment();
    it.lease_until = from.moment();
    it.begun_at = from.moment();
    it.created_at = from.moment();
    it.attempts = from.number<std::uint32_t>();
    it.policy.attempts_max = from.number<std::uint32_t>();
    it.policy.grace = from.span();
    it.policy.processing_max = from.span();
    it.policy.on_lease_expiry = static_cast<lease_expiry>(from.number<std::uint8_t>());
    read_content(from, it.content);
}

bool sound(const record& it) {
    return it.state <= record_state::failed_final && it.result.kind <= result_kind::tombstone &&
           it.policy.on_lease_expiry <= lease_expiry::probe;
}

result<stored_value> decode_record(byte_reader from) {
    stored_value made{.it = record{}};
    read_fixed(from, made);
    made.it->attributes = from.text();
    byte_reader steps{from.text()};
    while (!steps.done() && steps.intact()) {
        std::string name{steps.text()};
        made.it->checkpoints.push_back(
            {.name = std::move(name), .data = std::string{steps.text()}});
    }
    read_end(from, made.it->error, made.it->result);
    const bool whole = from.intact() && from.done() && steps.intact() && sound(*made.it);
    if (!whole) return corrupt("a record");
    return made;
}

} // namespace

std::string encode(const record& it, std::uint32_t version) {
    std::string made = encode_owned(it.state, it.holder);
    made.reserve(kept_bytes + it.attributes.size() + it.error.size() + it.result.body.size() + 128);
    append(made, version);
    append(made, it.updated_at);
    append(made, it.expires_at);
    append(made, it.retry_after);
    append(made, it.lease_until);
    append(made, it.begun_at);
    append(made, it.created_at);
    append(made, it.attempts);
    append_policy(made, it.policy);
    append_content(made, it.content);
    append(made, std::string_view{it.attributes});
    append_checkpoints(made, it.checkpoints);
    append_end(made, it.error, it.result);
    return made;
}

std::string encode_grave(std::uint64_t fence) {
    std::string made;
    append(made, format_grave);
    append(made, fence);
    return made;
}

result<stored_value> decode(std::string_view bytes) {
    byte_reader from{bytes};
    const auto format = from.number<std::uint8_t>();
    if (!from.intact()) return corrupt("an empty value");
    if (format == format_record) return decode_record(from);
    if (format != format_grave) return newer(format);
    stored_value made{.fence_floor = from.number<std::uint64_t>()};
    if (!from.intact() || !from.done()) return corrupt("what is left of a removed record");
    return made;
}

std::string encode_owned(record_state state, const claim& by) {
    std::string made;
    made.reserve(owned_bytes);
    append(made, format_record);
    append(made, static_cast<std::uint8_t>(state));
    append(made, by.fence);
    append_owner(made, by.owner);
    return made;
}

std::string encode_owner(const owner_id& owner) {
    std::string made;
    made.reserve(sizeof owner);
    append_owner(made, owner);
    return made;
}

std::string encode_rest(const commands::begin& what) {
    std::string made;
    made.reserve(128 + what.attributes.size());
    append(made, std::uint32_t{1});
    append_policy(made, what.policy);
    append_content(made, what.content);
    append(made, std::string_view{what.attributes});
    append_checkpoints(made, {});
    append_end(made, {}, {});
    return made;
}

std::string encode_end(std::string_view error, const stored_result& result) {
    std::string made;
    made.reserve(64 + error.size() + result.type.size() + result.ref.size() + result.body.size());
    append_end(made, error, result);
    return made;
}

void read_end(byte_reader& from, std::string& error, stored_result& result) {
    error = from.text();
    result.kind = static_cast<result_kind>(from.number<std::uint8_t>());
    result.checksum = from.number<std::uint64_t>();
    result.type = from.text();
    result.ref = from.text();
    result.body = from.text();
}

std::string encode_content(const std::optional<fingerprint>& content) {
    std::string made;
    append_content(made, content);
    return made;
}

void read_content(byte_reader& from, std::optional<fingerprint>& content) {
    const bool compared = from.number<std::uint8_t>() != 0;
    const std::string_view bytes = from.take(fingerprint::size_bytes);
    if (compared && from.intact()) content = fingerprint::from_bytes(bytes).value();
}

std::string encode(const audit_entry& what) {
    std::string made;
    append(made, what.at);
    append(made, what.fence);
    append(made, std::string_view{what.act});
    append(made, std::string_view{what.actor});
    append(made, std::string_view{what.reason});
    append(made, static_cast<std::uint8_t>(audit_code(what.from)));
    append(made, static_cast<std::uint8_t>(audit_code(what.to)));
    return made;
}

result<audit_entry> decode_audit(std::string_view bytes) {
    byte_reader from{bytes};
    audit_entry made{.at = from.moment()};
    made.fence = from.number<std::uint64_t>();
    made.act = from.text();
    made.actor = from.text();
    made.reason = from.text();
    if (from.intact() && from.done()) return made; // from before states were kept
    made.from = audit_state(static_cast<std::int8_t>(from.number<std::uint8_t>()));
    made.to = audit_state(static_cast<std::int8_t>(from.number<std::uint8_t>()));
    if (!from.intact() || !from.done()) return corrupt("an audit entry");
    return made;
}

} // namespace semel::redis
