#include "store/search_cursor.hpp"

#include <charconv>
#include <utility>

#include "base/hex.hpp"

namespace semel {

namespace {

std::string_view take_part(std::string_view& from) {
    const std::size_t end = from.find('.');
    const std::string_view part = from.substr(0, end);
    from.remove_prefix(end == std::string_view::npos ? from.size() : end + 1);
    return part;
}

} // namespace

std::string cursor_of(const record_id& id) {
    return to_hex(id.tenant) + '.' + to_hex(id.operation) + '.' + to_hex(id.key);
}

result<record_id> id_in_cursor(std::string_view cursor) {
    record_id id;
    const std::string canonical{cursor};
    for (std::string* part : {&id.tenant, &id.operation, &id.key}) {
        auto bytes = from_hex(take_part(cursor));
        if (!bytes) return not_a_cursor();
        *part = *std::move(bytes);
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
