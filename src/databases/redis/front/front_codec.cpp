#include "databases/redis/front/front_codec.hpp"

#include <array>

#include "databases/redis/client/bytes.hpp"
#include "databases/redis/store/record_codec.hpp"

namespace semel::redis {

namespace {

using kind = front_entry::kind;

constexpr char only_token = 'o';
constexpr std::array<char, 4> letters{'g', 'h', 'r', 'f'}; // in the order of front_entry::kind

failure corrupt() {
    return {.code = errc::corrupt,
            .possible = effect::none,
            .detail = "redis: an entry of the front cannot be decoded"};
}

bool is_open(kind one) {
    return one == kind::gate || one == kind::rumour;
}

void read_head(byte_reader& from, front_entry& to) {
    to.holder.fence = from.number<std::uint64_t>();
    to.holder.owner.high = from.number<std::uint64_t>();
    to.holder.owner.low = from.number<std::uint64_t>();
    to.attempt = from.number<std::uint32_t>();
    to.grace = from.span();
    read_content(from, to.content);
}

void read_tail(byte_reader& from, front_entry& to) {
    if (is_open(to.what)) {
        to.until = from.moment();
        to.lease_until = from.moment();
    } else {
        to.expires_at = from.moment();
        read_end(from, to.error, to.result);
    }
}

} // namespace

std::string encode_token(std::uint64_t token) {
    std::string made{only_token};
    append(made, token);
    return made;
}

std::string encode_claim(const claim& by) {
    std::string made;
    append(made, by.fence);
    return made + encode_owner(by.owner);
}

char kind_letter(kind one) {
    return letters[static_cast<std::size_t>(one)];
}

std::string encode_tail(const front_entry& entry) {
    std::string made;
    if (is_open(entry.what)) {
        append(made, entry.until);
        append(made, entry.lease_until);
        return made;
    }
    append(made, entry.expires_at);
    return made + encode_end(entry.error, entry.result);
}

std::string encode_entry(std::uint64_t token, const front_entry& entry) {
    std::string made{kind_letter(entry.what)};
    append(made, token);
    made += encode_claim(entry.holder);
    append(made, entry.attempt);
    append(made, entry.grace);
    made += encode_content(entry.content);
    return made + encode_tail(entry);
}

result<front_sight> decode_sight(std::string_view bytes) {
    byte_reader from{bytes};
    const std::string_view first = from.take(1);
    front_sight made{.token = from.number<std::uint64_t>()};
    if (!from.intact()) return corrupt();
    if (first.front() == only_token) {
        return from.done() ? result<front_sight>{std::move(made)} : corrupt();
    }
    front_entry& entry = made.entry.emplace();
    std::size_t at = 0;
    while (at < letters.size() && letters[at] != first.front()) ++at;
    if (at == letters.size()) return corrupt();
    entry.what = static_cast<kind>(at);
    read_head(from, entry);
    read_tail(from, entry);
    const bool whole = from.intact() && from.done() && entry.result.kind <= result_kind::tombstone;
    if (!whole) return corrupt();
    return made;
}

} // namespace semel::redis
