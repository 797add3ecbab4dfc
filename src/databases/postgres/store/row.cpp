#include "databases/postgres/store/row.hpp"

#include <cstring>
#include <limits>
#include <utility>

#include "databases/postgres/store/statements.hpp"

namespace semel::postgres {

namespace {

// Where tenant, operation and key stand in the table.
constexpr std::ptrdiff_t id_position = 17;
constexpr std::ptrdiff_t id_columns = 3;
static_assert(record_columns[id_position].name == "fingerprint");

failure corrupt(std::string_view column) {
    return {.code = errc::corrupt,
            .possible = effect::none,
            .detail = "postgres: a record's column '" + std::string{column} +
                      "' holds what no semel has written; restore the row or remove it by hand"};
}

// Where the fields of a record are: columns of their own, or one that holds them all.
struct column_fields {
    const rows& from;
    int row;
    int first;

    [[nodiscard]] std::string_view operator[](std::size_t at) const {
        const int column = first + static_cast<int>(at);
        return from.is_null(row, column) ? std::string_view{} : from.bytes(row, column);
    }
};
using row_fields = std::vector<std::string_view>;

// Reads fields one after the other and remembers the first that cannot be.
template <class Fields> class field_reader {
public:
    explicit field_reader(Fields from) : from_(std::move(from)) {}

    time_point time() { return time_point{length()}; }
    duration length() { return duration{read_integer(from_[next_++])}; }
    std::uint64_t number() { return static_cast<std::uint64_t>(read_integer(from_[next_++])); }
    std::string text() { return std::string{from_[next_++]}; }
    owner_id owner() { return read_owner(from_[next_++]); }

    std::int64_t integer(std::int64_t most) {
        const std::int64_t value = read_integer(from_[next_]);
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
        const std::string_view bytes = from_[next_];
        if (bytes.data() == nullptr) {
            ++next_;
            return std::nullopt;
        }
        const bool fits = bytes.size() == fingerprint::size_bytes;
        check(fits);
        if (!fits) return std::nullopt;
        fingerprint::bytes_type copy{};
        std::memcpy(copy.data(), bytes.data(), copy.size());
        return fingerprint{copy};
    }
    std::vector<std::string_view> array() { return read_array(from_[next_++]); }

    [[nodiscard]] bool sound() const { return !bad_; }
    [[nodiscard]] failure why() const { return corrupt(record_columns[*bad_].name); }

private:
    void check(bool good) {
        if (!good && !bad_) bad_ = next_;
        ++next_;
    }

    const Fields from_;
    std::size_t next_ = 0;
    std::optional<std::size_t> bad_;
};

// A record with as many empty checkpoints as its row says.
template <class Fields> result<record> read_fields(field_reader<Fields>& next) {
    record it;
    it.holder.fence = next.number();
    it.lease_until = next.time();
    it.begun_at = next.time();
    it.retry_after = next.time();
    it.expires_at = next.time();
    it.created_at = next.time();
    it.updated_at = next.time();
    it.policy.grace = next.length();
    it.policy.processing_max = next.length();
    it.attempts = next.count();
    it.policy.attempts_max = next.count();
    it.result.checksum = next.number();
    it.holder.owner = next.owner();
    it.state = next.choice(record_state::failed_final);
    it.policy.on_lease_expiry = next.choice(lease_expiry::probe);
    const auto checkpoints = next.integer(static_cast<std::int64_t>(limits{}.checkpoints_max));
    it.result.kind = next.choice(result_kind::tombstone);
    it.content = next.content();
    it.result.type = next.text();
    it.result.ref = next.text();
    it.error = next.text();
    it.attributes = next.text();
    it.result.body = next.text();
    if (!next.sound()) return next.why();
    it.checkpoints.resize(static_cast<std::size_t>(checkpoints));
    return it;
}

template <class Row> void add_content(Row& to, const std::optional<fingerprint>& content) {
    if (content) {
        to.add(content->as_string_view());
    } else {
        to.add_null();
    }
}

} // namespace

void add_id(column_group& to, const record_id& id) {
    to.add(std::string_view{id.tenant}).add(std::string_view{id.operation});
    to.add(std::string_view{id.key});
}

template <class Row> void add_record(Row& to, const record& it) {
    to.add(it.holder.fence).add(it.lease_until).add(it.begun_at).add(it.retry_after);
    to.add(it.expires_at).add(it.created_at).add(it.updated_at);
    to.add(it.policy.grace).add(it.policy.processing_max);
    to.add(std::int64_t{it.attempts}).add(std::int64_t{it.policy.attempts_max});
    to.add(it.result.checksum).add(it.holder.owner).add(static_cast<std::int64_t>(it.state));
    to.add(static_cast<std::int64_t>(it.policy.on_lease_expiry));
    to.add(static_cast<std::int64_t>(it.checkpoints.size()));
    to.add(static_cast<std::int64_t>(it.result.kind));
    add_content(to, it.content);
    to.add(std::string_view{it.result.type}).add(std::string_view{it.result.ref});
    to.add(std::string_view{it.error}).add(std::string_view{it.attributes});
    to.add(std::string_view{it.result.body});
}

template void add_record(column_group& to, const record& it);
template void add_record(value_row& to, const record& it);

bool is_usual(const record& it) {
    return it.state == record_state::succeeded && it.result.kind == result_kind::value &&
           it.attempts == 1 && it.created_at == it.begun_at && it.updated_at == it.begun_at &&
           it.retry_after == time_point{} && it.checkpoints.empty() && it.error.empty() &&
           it.attributes.empty();
}

void add_usual(value_row& to, const record& it) {
    to.add(it.holder.fence).add(it.lease_until).add(it.begun_at).add(it.expires_at);
    to.add(it.policy.grace).add(it.policy.processing_max);
    to.add(std::int64_t{it.policy.attempts_max}).add(it.result.checksum).add(it.holder.owner);
    to.add(static_cast<std::int64_t>(it.policy.on_lease_expiry));
    add_content(to, it.content);
    to.add(std::string_view{it.result.type}).add(std::string_view{it.result.ref});
    to.add(std::string_view{it.result.body});
}

result<record> read_record(const rows& from, int row, int first, checkpoint_columns which) {
    field_reader next{column_fields{.from = from, .row = row, .first = first}};
    auto it = read_fields(next);
    if (!it || it->checkpoints.empty() || which == checkpoint_columns::none) return it;
    const auto names = next.array();
    const auto data = next.array();
    const std::size_t expected = it->checkpoints.size();
    if (names.size() != expected || data.size() != expected) return corrupt("checkpoints");
    for (std::size_t i = 0; i < expected; ++i) {
        it->checkpoints[i] = {.name = std::string{names[i]}, .data = std::string{data[i]}};
    }
    return it;
}

result<record> read_record(std::string_view row) {
    row_fields fields = read_row(row);
    if (fields.size() < id_columns + record_columns.size()) {
        return corrupt(record_columns.front().name);
    }
    const auto id = fields.begin() + id_position;
    fields.erase(id, id + id_columns);
    field_reader next{std::move(fields)};
    return read_fields(next);
}

} // namespace semel::postgres
