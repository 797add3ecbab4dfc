#include "databases/postgres/client/binary.hpp"

#include "semel/base/result.hpp"

namespace semel::postgres {

namespace {

// Dimensions, "has nulls", element type, length, lower bound: 4 bytes each.
constexpr std::size_t header_bytes = 20;
constexpr std::uint32_t null_length = 0xffff'ffff;

void write(char* to, std::uint32_t value) {
    for (int i = 0; i < 4; ++i) to[i] = static_cast<char>(value >> (24 - 8 * i));
}

std::uint64_t read_unsigned(std::string_view bytes) {
    std::uint64_t value = 0;
    for (const char one : bytes) value = value << 8 | static_cast<unsigned char>(one);
    return value;
}

} // namespace

std::string_view name(type what) {
    switch (what) {
    case type::bytea: return "bytea";
    case type::int8: return "bigint";
    case type::text: return "text";
    case type::tid: return "tid";
    case type::xid: return "xid";
    case type::uuid: return "uuid";
    }
    SEMEL_ASSERT(false);
}

std::array<char, 8> big_endian(std::int64_t value) {
    const auto bits = static_cast<std::uint64_t>(value);
    std::array<char, 8> made{};
    for (std::size_t i = 0; i < made.size(); ++i) {
        made[i] = static_cast<char>(bits >> (56 - 8 * i));
    }
    return made;
}

void column::put(std::uint32_t value) {
    char made[4];
    write(made, value);
    bytes_.append(made, sizeof made);
}

void column::add(std::int64_t value) {
    SEMEL_ASSERT(of_ == type::int8);
    const auto made = big_endian(value);
    put(static_cast<std::uint32_t>(made.size()));
    bytes_.append(made.data(), made.size());
    ++count_;
}

void column::add(std::string_view bytes) {
    SEMEL_ASSERT(of_ == type::bytea || of_ == type::text || of_ == type::tid);
    put(static_cast<std::uint32_t>(bytes.size()));
    bytes_.append(bytes);
    ++count_;
}

void column::add(const owner_id& owner) {
    SEMEL_ASSERT(of_ == type::uuid);
    const auto high = big_endian(static_cast<std::int64_t>(owner.high));
    const auto low = big_endian(static_cast<std::int64_t>(owner.low));
    put(static_cast<std::uint32_t>(high.size() + low.size()));
    bytes_.append(high.data(), high.size()).append(low.data(), low.size());
    ++count_;
}

void column::add_version(std::uint32_t value) {
    SEMEL_ASSERT(of_ == type::xid);
    put(sizeof value);
    put(value);
    ++count_;
}

void column::add_null() {
    put(null_length);
    ++nulls_;
    ++count_;
}

void column::clear() {
    bytes_.assign(header_bytes, '\0');
    count_ = 0;
    nulls_ = 0;
}

std::string_view column::bytes() {
    if (count_ > 0 && nulls_ == count_) return {};
    write(bytes_.data() + 4, nulls_ > 0 ? 1 : 0);
    write(bytes_.data() + 8, static_cast<std::uint32_t>(of_));
    // An empty array has no dimension, and its header ends there.
    if (count_ == 0) return {bytes_.data(), 12};
    write(bytes_.data(), 1);
    write(bytes_.data() + 12, count_);
    write(bytes_.data() + 16, 1);
    return bytes_;
}

column_group::column_group(const std::vector<type>& types) {
    for (const type one : types) columns_.emplace_back(one);
}

column& column_group::next() {
    column& one = columns_[at_];
    at_ = at_ + 1 == columns_.size() ? 0 : at_ + 1;
    return one;
}

void column_group::clear() {
    SEMEL_ASSERT(at_ == 0);
    for (column& one : columns_) one.clear();
}

value_row& value_row::add(std::int64_t value) {
    const auto made = big_endian(value);
    return add(std::string_view{made.data(), made.size()});
}

value_row& value_row::add(std::string_view bytes) {
    bytes_.append(bytes);
    sizes_.push_back(bytes.size());
    return *this;
}

value_row& value_row::add(const owner_id& owner) {
    const auto high = big_endian(static_cast<std::int64_t>(owner.high));
    const auto low = big_endian(static_cast<std::int64_t>(owner.low));
    bytes_.append(high.data(), high.size()).append(low.data(), low.size());
    sizes_.push_back(high.size() + low.size());
    return *this;
}

value_row& value_row::add_null() {
    sizes_.push_back(is_null);
    return *this;
}

void value_row::append_to(std::vector<std::string_view>& values) const {
    std::size_t at = 0;
    for (const std::size_t size : sizes_) {
        if (size == is_null) {
            values.emplace_back();
        } else {
            values.emplace_back(bytes_.data() + at, size);
            at += size;
        }
    }
}

std::int64_t read_integer(std::string_view bytes) {
    const std::uint64_t value = read_unsigned(bytes);
    switch (bytes.size()) {
    case 2: return static_cast<std::int16_t>(value);
    case 4: return static_cast<std::int32_t>(value);
    default: SEMEL_ASSERT(bytes.size() == 8); return static_cast<std::int64_t>(value);
    }
}

time_point read_timestamp(std::string_view bytes) {
    using namespace std::chrono;
    return sys_days{2000y / January / 1} + microseconds{read_integer(bytes)};
}

owner_id read_owner(std::string_view bytes) {
    SEMEL_ASSERT(bytes.size() == 16);
    return {.high = read_unsigned(bytes.substr(0, 8)), .low = read_unsigned(bytes.substr(8))};
}

std::vector<std::string_view> read_row(std::string_view bytes) {
    if (bytes.size() < 4) return {};
    const std::uint64_t count = read_unsigned(bytes.substr(0, 4));
    bytes.remove_prefix(4);
    std::vector<std::string_view> made;
    while (bytes.size() >= 8) {
        const std::uint64_t size = read_unsigned(bytes.substr(4, 4)); // behind the field's type
        bytes.remove_prefix(8);
        if (size == null_length) {
            made.emplace_back();
            continue;
        }
        if (size > bytes.size()) return {};
        made.push_back(bytes.substr(0, size));
        bytes.remove_prefix(size);
    }
    if (made.size() != count || !bytes.empty()) return {};
    return made;
}

std::vector<std::string_view> read_array(std::string_view bytes) {
    std::vector<std::string_view> made;
    if (bytes.size() < header_bytes || read_unsigned(bytes.substr(0, 4)) != 1) return made;
    bytes.remove_prefix(header_bytes);
    while (bytes.size() >= 4) {
        const std::uint64_t size = read_unsigned(bytes.substr(0, 4));
        bytes.remove_prefix(4);
        if (size > bytes.size()) return {};
        made.push_back(bytes.substr(0, size));
        bytes.remove_prefix(size);
    }
    return made;
}

} // namespace semel::postgres
