// Values as SQL text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "semel/base/time.hpp"
#include "semel/core/record.hpp"

namespace semel::mysql {

// '…' for sessions that we have set up: character set binary, backslashes escape.
void add_quoted(std::string& to, std::string_view bytes);

// x'…', which means the same in every session.
void add_hex(std::string& to, std::string_view bytes);

void add_number(std::string& to, std::int64_t value);
[[nodiscard]] std::string number_text(std::int64_t value);

[[nodiscard]] std::string owner_bytes(const owner_id& owner);
[[nodiscard]] owner_id read_owner(std::string_view bytes); // precondition: 16 of them

// How bytes are written.
enum class quoting { quoted, hex };

// Rows of values, each ready to stand in a statement: "'a',1,NULL". Buffers are kept by clear().
class row_buffer {
public:
    explicit row_buffer(quoting how = quoting::quoted) : how_(how) {}

    // Values that are added belong to the last row.
    row_buffer& add_row();
    row_buffer& add(std::int64_t value);
    row_buffer& add(std::uint64_t value) { return add(static_cast<std::int64_t>(value)); }
    row_buffer& add(time_point when) { return add(when.time_since_epoch().count()); }
    row_buffer& add(duration length) { return add(length.count()); }
    row_buffer& add(std::string_view bytes);
    row_buffer& add(const owner_id& owner) { return add(std::string_view{owner_bytes(owner)}); }
    row_buffer& add(const std::optional<fingerprint>& content);
    row_buffer& add_sql(std::string_view expression);
    void clear();

    [[nodiscard]] std::size_t size() const { return rows_.size(); }
    [[nodiscard]] std::string_view row(std::size_t at) const;
    [[nodiscard]] std::string_view cell(std::size_t row, std::size_t column) const;

private:
    struct row_place {
        std::size_t text;  // where it begins
        std::size_t cells; // its first one
    };
    void separate();

    quoting how_;
    std::string text_;
    std::vector<row_place> rows_;
    std::vector<std::size_t> ends_; // of all cells
};

} // namespace semel::mysql
