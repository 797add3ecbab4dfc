// Parameters and columns in PostgreSQL's binary form: big-endian, arrays behind a header.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "semel/base/time.hpp"
#include "semel/core/record.hpp"

namespace semel::postgres {

// The types that travel, by the server's own numbers for them.
enum class type : std::uint32_t {
    bytea = 17,
    int8 = 20,
    text = 25,
    tid = 27,
    xid = 28,
    uuid = 2950,
};

[[nodiscard]] std::string_view name(type what);

// One array parameter: a column of a batch.
class column {
public:
    explicit column(type of) : of_(of) { clear(); }

    void add(std::int64_t value);          // int8
    void add(std::string_view bytes);      // bytea, text, tid
    void add(const owner_id& owner);       // uuid
    void add_version(std::uint32_t value); // xid
    void add_null();
    void clear();

    // Without data if all values are null: then the array itself is null, which gives the server
    // the same values and is cheaper. Valid until the next call of a member.
    [[nodiscard]] std::string_view bytes();

private:
    void put(std::uint32_t value);

    type of_;
    std::uint32_t count_ = 0;
    std::uint32_t nulls_ = 0;
    std::string bytes_;
};

// What unnest() turns into rows: columns of one length, filled row by row.
class column_group {
public:
    explicit column_group(const std::vector<type>& types);

    column_group& add(std::int64_t value) { return next().add(value), *this; }
    column_group& add(std::uint64_t value) { return add(static_cast<std::int64_t>(value)); }
    column_group& add(std::string_view bytes) { return next().add(bytes), *this; }
    column_group& add(const owner_id& owner) { return next().add(owner), *this; }
    column_group& add(time_point when) { return add(when.time_since_epoch().count()); }
    column_group& add(duration length) { return add(length.count()); }
    column_group& add_version(std::uint32_t value) { return next().add_version(value), *this; }
    column_group& add_null() { return next().add_null(), *this; }
    // Null for what is mostly empty, and then is null as a whole.
    column_group& add_unless_empty(std::string_view bytes) {
        return bytes.empty() ? add_null() : add(bytes);
    }

    void clear();
    [[nodiscard]] std::vector<column>& columns() { return columns_; }
    [[nodiscard]] const std::vector<column>& columns() const { return columns_; }

private:
    column& next();

    std::vector<column> columns_;
    std::size_t at_ = 0;
};

// The values of one row, each a parameter by itself.
class value_row {
public:
    value_row() {
        // Of a record with a small answer.
        bytes_.reserve(480);
        sizes_.reserve(24);
    }
    value_row& add(std::int64_t value);
    value_row& add(std::string_view bytes);
    value_row& add(const owner_id& owner);
    value_row& add(std::uint64_t value) { return add(static_cast<std::int64_t>(value)); }
    value_row& add(time_point when) { return add(when.time_since_epoch().count()); }
    value_row& add(duration length) { return add(length.count()); }
    value_row& add_null();

    // Without data where they are null; valid until the next call of a member.
    void append_to(std::vector<std::string_view>& values) const;

private:
    static constexpr std::size_t is_null = static_cast<std::size_t>(-1);

    std::string bytes_;
    std::vector<std::size_t> sizes_;
};

// The other direction. `bytes` must have the size of the type.
[[nodiscard]] std::int64_t read_integer(std::string_view bytes); // 2, 4 or 8 bytes
[[nodiscard]] time_point read_timestamp(std::string_view bytes); // timestamptz
[[nodiscard]] owner_id read_owner(std::string_view bytes);

// Views into the fields of a row as one value, without data where they are null; empty if the bytes
// are not one.
[[nodiscard]] std::vector<std::string_view> read_row(std::string_view bytes);

// Views into a one-dimensional bytea[]; empty if the bytes are not one.
[[nodiscard]] std::vector<std::string_view> read_array(std::string_view bytes);

[[nodiscard]] std::array<char, 8> big_endian(std::int64_t value);

} // namespace semel::postgres
