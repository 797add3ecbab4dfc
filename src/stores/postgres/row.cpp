#include "stores/postgres/row.hpp"

#include <cstring>
#include <limits>

#include "stores/postgres/statements.hpp"

namespace semel::postgres {

namespace {

failure corrupt(std::string_view column) {
    return {.code = errc::corrupt,
            .possible = effect::none,
            .detail = "postgres: a record's column '" + std::string{column} +
                      "' holds what no semel has written; restore the row or remove it by hand"};
}

// Reads columns one after the other and remembers the first that cannot be.
class row_reader {
public:
    row_reader(const rows& from, int row, int first)
        : from_(from), row_(row), next_(first), first_(first) {}

    time_point time() { return from_.time(row_, next_++); }
    duration length() { return duration{from_.integer(row_, next_++)}; }
    std::uint64_t number() { return static_cast<std::uint64_t>(from_.integer(row_, next_++)); }
    std::string text() { return std::string{from_.bytes(row_, next_++)}; }
    owner_id owner() { return read_owner(from_.bytes(row_, next_++)); }

    std::int64_t integer(std::int64_t most) {
        const std::int64_t value = from_.integer(row_, next_);
        check(value >= 0 && value <= most);
        return value;
    }
    std::uint32_t count() {
        return static_cast<std::uint32_t>(integer(std::numeric_limits<std::uint32_t>::max()));
    }
    template <class Enum> Enum choice(Enum last) {
        return static_cast<Enum>(integer(static_cast<std::int64_t>(last)));
    }
    std::optional<fingerprint> content() {
        if (from_.is_null(row_, next_)) {
            ++next_;
            return std::nullopt;
        }
        const auto bytes = from_.bytes(row_, next_);
        const bool fits = bytes.size() == fingerprint::size_bytes;
        check(fits);
        if (!fits) return std::nullopt;
        fingerprint::bytes_type copy{};
        std::memcpy(copy.data(), bytes.data(), copy.size());
        return fingerprint{copy};
    }
    std::vector<std::string_view> array() { return read_array(from_.bytes(row_, next_++)); }

    [[nodiscard]] bool sound() const { return bad_ < 0; }
    [[nodiscard]] failure why() const {
        return corrupt(record_columns[static_cast<std::size_t>(bad_ - first_)].name);
    }

private:
    void check(bool good) {
        if (!good && bad_ < 0) bad_ = next_;
        ++next_;
    }

    const rows& from_;
    const int row_;
    int next_;
    const int first_;
    int bad_ = -1;
};

} // namespace

void add_id(column_group& to, const record_id& id) {
    to.add(std::string_view{id.tenant}).add(std::string_view{id.operation});
    to.add(std::string_view{id.key});
}

void add_record(column_group& to, const record& it) {
    to.add(static_cast<std::int64_t>(it.state)).add(it.holder.fence).add(it.holder.owner);
    to.add(std::int64_t{it.attempts}).add(it.lease_until).add(it.begun_at).add(it.retry_after);
    to.add(it.expires_at).add(it.created_at).add(it.updated_at);
    to.add(static_cast<std::int64_t>(it.policy.on_lease_expiry));
    to.add(std::int64_t{it.policy.attempts_max});
    to.add(it.policy.grace).add(it.policy.processing_max);
    if (it.content) {
        to.add(it.content->as_string_view());
    } else {
        to.add_null();
    }
    to.add(static_cast<std::int64_t>(it.checkpoints.size()));
    to.add(static_cast<std::int64_t>(it.result.kind)).add(it.result.checksum);
    to.add(std::string_view{it.result.type}).add(std::string_view{it.result.ref});
    to.add(std::string_view{it.error}).add(std::string_view{it.attributes});
    to.add(std::string_view{it.result.body});
}

result<record> read_record(const rows& from, int row, int first, checkpoint_columns which) {
    row_reader next{from, row, first};
    record it;
    it.state = next.choice(record_state::failed_final);
    it.holder.fence = next.number();
    it.holder.owner = next.owner();
    it.attempts = next.count();
    it.lease_until = next.time();
    it.begun_at = next.time();
    it.retry_after = next.time();
    it.expires_at = next.time();
    it.created_at = next.time();
    it.updated_at = next.time();
    it.policy.on_lease_expiry = next.choice(lease_expiry::probe);
    it.policy.attempts_max = next.count();
    it.policy.grace = next.length();
    it.policy.processing_max = next.length();
    it.content = next.content();
    const auto checkpoints = next.integer(static_cast<std::int64_t>(limits{}.checkpoints_max));
    it.result.kind = next.choice(result_kind::tombstone);
    it.result.checksum = next.number();
    it.result.type = next.text();
    it.result.ref = next.text();
    it.error = next.text();
    it.attributes = next.text();
    it.result.body = next.text();
    if (!next.sound()) return next.why();
    if (checkpoints == 0) return it;
    if (which == checkpoint_columns::none) {
        it.checkpoints.resize(static_cast<std::size_t>(checkpoints));
        return it;
    }
    const auto names = next.array();
    const auto data = next.array();
    const auto expected = static_cast<std::size_t>(checkpoints);
    if (names.size() != expected || data.size() != expected) return corrupt("checkpoints");
    for (std::size_t i = 0; i < expected; ++i) {
        it.checkpoints.push_back({.name = std::string{names[i]}, .data = std::string{data[i]}});
    }
    return it;
}

} // namespace semel::postgres
