#include "databases/mysql/store/row.hpp"

#include <cstring>
#include <limits>

#include "base/process_random.hpp"
#include "databases/mysql/store/statements.hpp"

namespace semel::mysql {

namespace {

// Of the table's columns.
constexpr std::size_t scope_bytes_max = 255;
constexpr std::size_t key_bytes_max = 1'024;

failure corrupt(std::string_view column) {
    return {.code = errc::corrupt,
            .possible = effect::none,
            .detail = "mysql: a record's column '" + std::string{column} +
                      "' holds what no semel has written; restore the row or remove it by hand"};
}

// Reads columns one after the other and remembers the first that cannot be.
class row_reader {
public:
    row_reader(const rows& from, int first) : from_(from), next_(first), first_(first) {}

    time_point time() { return from_.time(next_++); }
    duration length() { return duration{from_.integer(next_++)}; }
    std::uint64_t number() { return static_cast<std::uint64_t>(from_.integer(next_++)); }
    std::string text() { return std::string{from_.bytes(next_++)}; }

    owner_id owner() {
        const auto bytes = from_.bytes(next_);
        const bool fits = bytes.size() == 16;
        check(fits);
        return fits ? read_owner(bytes) : owner_id{};
    }
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
        return corrupt(record_columns[static_cast<std::size_t>(bad_ - first_)]);
    }

private:
    void check(bool good) {
        if (!good && bad_ < 0) bad_ = next_;
        ++next_;
    }

    const rows& from_;
    int next_;
    const int first_;
    int bad_ = -1;
};

} // namespace

void add_id(row_buffer& to, const record_id& id) {
    to.add(std::string_view{id.tenant}).add(std::string_view{id.operation});
    to.add(std::string_view{id.key});
}

std::int64_t new_row_version() {
    return static_cast<std::int64_t>(process_random() >> 2);
}

result<void> check_size(const record_id& id) {
    const bool fits = id.tenant.size() <= scope_bytes_max &&
                      id.operation.size() <= scope_bytes_max && id.key.size() <= key_bytes_max;
    if (fits) return {};
    return failure{.code = errc::limit_exceeded,
                   .possible = effect::none,
                   .detail = "mysql: tenant and operation have at most " +
                             std::to_string(scope_bytes_max) + " bytes, a key " +
                             std::to_string(key_bytes_max)};
}

result<record_row> read_record_row(const rows& from, int first) {
    row_reader next{from, first};
    record_row made;
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
    made.checkpoints =
        static_cast<std::size_t>(next.integer(static_cast<std::int64_t>(limits{}.checkpoints_max)));
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

void read_checkpoint(const rows& from, int first, record_row& to) {
    if (from.is_null(first)) return;
    const auto place = static_cast<std::uint64_t>(from.integer(first));
    to.sound = to.sound && place < to.checkpoints;
    if (!to.sound) return;
    to.it.checkpoints.resize(to.checkpoints);
    to.it.checkpoints[place] = {.name = std::string{from.bytes(first + 1)},
                                .data = std::string{from.bytes(first + 2)}};
    ++to.read;
}

result<record> whole_record(record_row from) {
    if (!from.sound || from.read != from.checkpoints) return corrupt("checkpoints");
    return std::move(from.it);
}

} // namespace semel::mysql
