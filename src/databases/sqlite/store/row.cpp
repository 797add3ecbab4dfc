#include "databases/sqlite/store/row.hpp"

#include <bit>
#include <limits>

namespace semel::sqlite {

namespace {

std::int64_t as_integer(std::uint64_t value) {
    return std::bit_cast<std::int64_t>(value);
}

std::uint64_t as_number(std::int64_t value) {
    return std::bit_cast<std::uint64_t>(value);
}

void put(char* to, std::uint64_t value) {
    for (int i = 0; i < 8; ++i) to[i] = static_cast<char>(value >> (56 - 8 * i));
}

std::uint64_t get(std::string_view from) {
    std::uint64_t value = 0;
    for (const char one : from) value = value << 8 | static_cast<unsigned char>(one);
    return value;
}

// Reads columns one after the other and remembers the first that cannot be.
class row_reader {
public:
    row_reader(const query& from, int first) : from_(from), next_(first), first_(first) {}

    time_point time() { return from_.time(next_++); }
    duration length() { return duration{from_.integer(next_++)}; }
    std::uint64_t number() { return as_number(from_.integer(next_++)); }
    std::string text() { return std::string{from_.bytes(next_++)}; }

    std::int64_t integer(std::int64_t most) {
        const std::int64_t value = from_.integer(next_);
        check(value >= 0 && value <= most);
        return value;
    }
    std::uint32_t count() {
        return static_cast<std::uint32_t>(integer(std::numeric_limits<std::uint32_t>::max()));
    }
    template <class Enum> Enum choice(Enum last) {
        return static_cast<Enum>(integer(static_cast<std::int64_t>(last)));
    }
    owner_id owner() {
        const auto bytes = from_.bytes(next_);
        const bool fits = bytes.size() == owner_bytes{}.size();
        check(fits);
        if (!fits) return {};
        return {.high = get(bytes.substr(0, 8)), .low = get(bytes.substr(8))};
    }
    std::optional<fingerprint> content() {
        if (from_.is_null(next_)) {
            ++next_;
            return std::nullopt;
        }
        const auto bytes = from_.bytes(next_);
        const bool fits = bytes.size() == fingerprint::size_bytes;
        check(fits);
        if (!fits) return std::nullopt;
        fingerprint::bytes_type copy{};
        std::memcpy(copy.data(), bytes.data(), copy.size());
        return fingerprint{copy};
    }

    [[nodiscard]] bool sound() const { return bad_ < 0; }
    [[nodiscard]] failure why() const {
        const auto column = record_columns[static_cast<std::size_t>(bad_ - first_)];
        return {.code = errc::corrupt,
                .possible = effect::none,
                .detail =
                    "sqlite: a record's column '" + std::string{column} +
                    "' holds what no semel has written; restore the row or remove it by hand"};
    }

private:
    void check(bool good) {
        if (!good && bad_ < 0) bad_ = next_;
        ++next_;
    }

    const query& from_;
    int next_;
    const int first_;
    int bad_ = -1;
};

} // namespace

owner_bytes bytes_of(const owner_id& owner) {
    owner_bytes made{};
    put(made.data(), owner.high);
    put(made.data() + 8, owner.low);
    return made;
}

void bind_record(query& to, int first, const record& it, owner_bytes& owner) {
    owner = bytes_of(it.holder.owner);
    int at = first;
    to.bind(at++, static_cast<std::int64_t>(it.state));
    to.bind(at++, as_integer(it.holder.fence));
    to.bind(at++, std::string_view{owner.data(), owner.size()});
    to.bind(at++, std::int64_t{it.attempts});
    to.bind(at++, it.lease_until);
    to.bind(at++, it.begun_at);
    to.bind(at++, it.retry_after);
    to.bind(at++, it.expires_at);
    to.bind(at++, it.created_at);
    to.bind(at++, it.updated_at);
    to.bind(at++, static_cast<std::int64_t>(it.policy.on_lease_expiry));
    to.bind(at++, std::int64_t{it.policy.attempts_max});
    to.bind(at++, it.policy.grace.count());
    to.bind(at++, it.policy.processing_max.count());
    if (it.content) {
        to.bind(at++, it.content->as_string_view());
    } else {
        to.bind_null(at++);
    }
    to.bind(at++, static_cast<std::int64_t>(it.checkpoints.size()));
    to.bind(at++, static_cast<std::int64_t>(it.result.kind));
    to.bind(at++, as_integer(it.result.checksum));
    to.bind(at++, it.result.type);
    to.bind(at++, it.result.ref);
    to.bind(at++, it.error);
    to.bind(at++, it.attributes);
    to.bind(at++, it.result.body);
}

result<decoded> read_record(const query& from, int first) {
    row_reader next{from, first};
    decoded made;
    record& it = made.it;
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
    made.checkpoints = next.integer(static_cast<std::int64_t>(limits{}.checkpoints_max));
    it.result.kind = next.choice(result_kind::tombstone);
    it.result.checksum = next.number();
    it.result.type = next.text();
    it.result.ref = next.text();
    it.error = next.text();
    it.attributes = next.text();
    it.result.body = next.text();
    if (!next.sound()) return next.why();
    return made;
}

} // namespace semel::sqlite
