#include "semel/http/response.hpp"

#include <cstdint>
#include <optional>
#include <utility>

#include "http/text.hpp"

namespace semel::http {
namespace {

// "SHR" and a version. Then, big-endian: status (2 bytes), number of headers (4), for each the size
// of its name (4), the name, the size of its value (4), the value; the size of the body (8), the
// body, and nothing after it.
constexpr std::string_view magic = "SHR\x01";
constexpr std::string_view base_type = codec<response>::type;
constexpr std::string_view status_parameter = ";status=";

void put(std::string& out, std::uint64_t number, unsigned size) {
    for (unsigned shift = size * 8; shift > 0; shift -= 8) {
        out += static_cast<char>((number >> (shift - 8)) & 0xFFU);
    }
}

void put_text(std::string& out, std::string_view text) {
    put(out, text.size(), 4);
    out += text;
}

// Takes parts off the front; none once something does not fit.
class byte_reader {
public:
    explicit byte_reader(std::string_view bytes) : rest_(bytes) {}

    std::optional<std::string_view> take(std::uint64_t size) {
        if (size > rest_.size()) return std::nullopt;
        const std::string_view taken = rest_.substr(0, size);
        rest_.remove_prefix(size);
        return taken;
    }
    std::optional<std::uint64_t> take_number(unsigned size) {
        const auto bytes = take(size);
        if (!bytes) return std::nullopt;
        std::uint64_t number = 0;
        for (const char c : *bytes) number = (number << 8U) | static_cast<unsigned char>(c);
        return number;
    }
    std::optional<std::string_view> take_text() {
        const auto size = take_number(4);
        return size ? take(*size) : std::nullopt;
    }
    [[nodiscard]] bool at_end() const { return rest_.empty(); }

private:
    std::string_view rest_;
};

failure corrupt(std::string why) {
    return {.code = errc::corrupt, .detail = "stored response: " + std::move(why)};
}

// For what is not text: the numbers before and between.
constexpr std::size_t numbers_bytes = 2 + 4 + 8;
constexpr std::size_t line_numbers_bytes = 4 + 4;

std::string all_bytes(int status, const header_list& headers, std::string_view body) {
    std::size_t size = magic.size() + numbers_bytes + body.size();
    for (const header& line : headers) {
        size += line_numbers_bytes + line.name.size() + line.value.size();
    }
    std::string out;
    out.reserve(size);
    out += magic;
    put(out, static_cast<std::uint64_t>(status), 2);
    put(out, headers.size(), 4);
    for (const header& line : headers) {
        put_text(out, line.name);
        put_text(out, line.value);
    }
    put(out, body.size(), 8);
    out += body;
    return out;
}

result<header_list> read_headers(byte_reader& from) {
    const auto count = from.take_number(4);
    if (!count) return corrupt("cut short before its headers");
    header_list headers;
    for (std::uint64_t i = 0; i < *count; ++i) {
        const auto name = from.take_text();
        const auto value = from.take_text();
        if (!name || !value) return corrupt("cut short in its headers");
        header line{.name = std::string{*name}, .value = std::string{*value}};
        if (!fit_for_wire(line)) return corrupt("a header that is not fit for the wire");
        headers.add(std::move(line.name), std::move(line.value));
    }
    return headers;
}

result<response> read_response(std::string_view bytes) {
    byte_reader from{bytes};
    const auto start = from.take(magic.size());
    if (!start || start->substr(0, 3) != magic.substr(0, 3)) return corrupt("not one");
    if (*start != magic) return corrupt("a version that is not known");
    const auto status = from.take_number(2);
    if (!status) return corrupt("cut short before its status");
    if (*status < 200 || *status > 599) return corrupt("a status outside 200 to 599");
    result<header_list> headers = read_headers(from);
    if (!headers) return std::move(headers).error();
    const auto size = from.take_number(8);
    const auto body = size ? from.take(*size) : std::nullopt;
    if (!body) return corrupt("cut short in its body");
    if (!from.at_end()) return corrupt("bytes after its body");
    return response{.status = static_cast<int>(*status),
                    .headers = *std::move(headers),
                    .body = std::string{*body}};
}

} // namespace

std::string type_of(int status) {
    const std::string digits = std::to_string(status);
    std::string type;
    type.reserve(base_type.size() + status_parameter.size() + digits.size());
    type.append(base_type).append(status_parameter).append(digits);
    return type;
}

int status_of_type(std::string_view type) {
    if (!type.starts_with(base_type)) return 0;
    type.remove_prefix(base_type.size());
    if (!type.starts_with(status_parameter)) return 0;
    const auto status = to_number(type.substr(status_parameter.size()));
    return status && *status >= 200 && *status <= 599 ? static_cast<int>(*status) : 0;
}

stored_result encode(const response& what, const replay_options& options, std::size_t bytes_max) {
    const header_list headers = kept_headers(what.headers, options);
    stored_result kept{.kind = what.status < 400 ? result_kind::value : result_kind::rejection,
                       .body = all_bytes(what.status, headers, what.body),
                       .type = type_of(what.status)};
    if (kept.body.size() <= bytes_max) return kept;
    kept.kind = result_kind::tombstone;
    kept.body = all_bytes(what.status, headers, {});
    if (kept.body.size() > bytes_max) kept.body.clear();
    return kept;
}

result<response> decode(const stored_result& from, const replay_options& options) {
    if (from.kind == result_kind::tombstone && from.body.empty()) {
        return response{.status = status_of_type(from.type)};
    }
    result<response> got = read_response(from.body);
    if (got) got->headers = kept_headers(got->headers, options);
    return got;
}

} // namespace semel::http

namespace semel {

std::string codec<http::response>::encode(const http::response& value) {
    return http::all_bytes(value.status, http::kept_headers(value.headers, {}), value.body);
}

http::response codec<http::response>::decode(std::string_view bytes) {
    return http::read_response(bytes).value();
}

} // namespace semel
