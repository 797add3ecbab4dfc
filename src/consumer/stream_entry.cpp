#include "consumer/stream_entry.hpp"

#include "outbox/sinks/stream_fields.hpp"

namespace semel::consumer {

namespace {

namespace fields = outbox::stream_fields;

void take_field(outbox::event& into, std::string_view name, std::string_view bytes) {
    if (name == fields::id) {
        into.id = bytes;
    } else if (name == fields::topic) {
        into.topic = bytes;
    } else if (name == fields::key) {
        into.key = bytes;
    } else if (name == fields::payload) {
        into.payload = bytes;
    } else {
        if (name.starts_with(fields::header_prefix)) {
            name.remove_prefix(fields::header_prefix.size());
        }
        into.headers.push_back({std::string{name}, std::string{bytes}});
    }
}

void append_field(std::string& to, std::string_view name, std::string_view bytes) {
    redis::append_part(to, name);
    redis::append_part(to, bytes);
}

} // namespace

std::optional<stream_entry> read_entry(const redis::value& from, const std::string& stream) {
    if (from.items.size() != 2 || !from.items[1].is(redis::value::type::array)) {
        return std::nullopt;
    }
    stream_entry made{.id = std::string{from.items[0].text}, .what = {}};
    const auto& all = from.items[1].items;
    for (std::size_t i = 0; i + 1 < all.size(); i += 2) {
        take_field(made.what.event, all[i].text, all[i + 1].text);
    }
    if (made.what.event.id.empty()) made.what.event.id = stream + ":" + made.id;
    return made;
}

void append_dead_letter(std::string& to, const std::string& stream, const received& what,
                        const disposal& why) {
    const outbox::event& event = what.event;
    redis::append_request(to, 3 + 2 * (6 + event.headers.size()));
    redis::append_part(to, "XADD");
    redis::append_part(to, stream);
    redis::append_part(to, "*");
    append_field(to, fields::id, event.id);
    append_field(to, fields::topic, event.topic);
    append_field(to, fields::key, event.key);
    append_field(to, fields::payload, event.payload);
    append_field(to, "error", why.error);
    append_field(to, "attempts", std::to_string(why.attempts));
    for (const auto& one : event.headers) {
        append_field(to, std::string{fields::header_prefix} + one.name, one.value);
    }
}

} // namespace semel::consumer
