#include "store/search_cursor.hpp"

#include <charconv>
#include <utility>

namespace semel {

namespace {

constexpr std::string_view digits = "0123456789abcdef";

// The parts in hex, with dots between them.
void append_hex(std::string& to, std::string_view bytes) {
    for (const char one : bytes) {
        const auto byte = static_cast<unsigned char>(one);
        to += digits[byte >> 4U];
        to += digits[byte & 15U];
    }
}

bool read_hex(std::string_view text, std::string& to) {
    if (text.size() % 2 != 0) return false;
    for (std::size_t at = 0; at < text.size(); at += 2) {
        const auto high = digits.find(text[at]);
        const auto low = digits.find(text[at + 1]);
        if (high == std::string_view::npos || low == std::string_view::npos) return false;
        to += static_cast<char>(high << 4U | low);
    }
    return true;
}

std::string_view take_part(std::string_view& from) {
    const std::size_t end = from.find('.');
    const std::string_view part = from.substr(0, end);
    from.remove_prefix(end == std::string_view::npos ? from.size() : end + 1);
    return part;
}

} // namespace

std::string cursor_of(const record_id& id) {
    std::string made;
    append_hex(made, id.tenant);
    made += '.';
    append_hex(made, id.operation);
    made += '.';
    append_hex(made, id.key);
    return made;
}

result<record_id> id_in_cursor(std::string_view cursor) {
    record_id id;
    const std::string canonical{cursor};
    for (std::string* part : {&id.tenant, &id.operation, &id.key}) {
        if (!read_hex(take_part(cursor), *part)) return not_a_cursor();
    }
    if (cursor_of(id) != canonical) return not_a_cursor();
    return id;
}

std::string cursor_of(const lease_place& place) {
    return std::to_string(place.lease_until.time_since_epoch().count()) + '.' + cursor_of(place.id);
}

result<lease_place> place_in_cursor(std::string_view cursor) {
    const std::string canonical{cursor};
    const std::string_view time = take_part(cursor);
    duration::rep count = 0;
    const auto read = std::from_chars(time.data(), time.data() + time.size(), count);
    if (read.ec != std::errc{}) return not_a_cursor();
    auto id = id_in_cursor(cursor);
    if (!id) return std::move(id).error();
    lease_place place{.lease_until = time_point{duration{count}}, .id = *std::move(id)};
    if (cursor_of(place) != canonical) return not_a_cursor();
    return place;
}

failure not_a_cursor() {
    return {.code = errc::invalid_argument,
            .possible = effect::none,
            .detail = "search: the cursor is not from a search of this store"};
}

} // namespace semel
