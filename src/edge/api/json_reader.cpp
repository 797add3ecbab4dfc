#include "edge/api/json_reader.hpp"

#include "base/units.hpp"
#include "edge/api/encoding.hpp"

namespace semel::edge {
namespace {

// A name that a client sent may be long.
std::string shortened(std::string_view name) {
    constexpr std::size_t bytes_max = 64;
    return name.size() <= bytes_max ? std::string{name} : "(a long name)";
}

} // namespace

json_reader::json_reader(const json& of) : of_(of) {
    if (!of.is_object()) fault_ = "a JSON object is expected";
}

const json_reader::json* json_reader::find(const std::string& name) {
    known_.insert(name);
    if (!of_.is_object()) return nullptr;
    const auto at = of_.find(name);
    return at == of_.end() || at->is_null() ? nullptr : &*at;
}

std::optional<std::string> json_reader::text(const std::string& name) {
    const json* const found = find(name);
    if (found == nullptr) return std::nullopt;
    if (found->is_string()) return found->get<std::string>();
    wrong(name, "must be a text");
    return std::nullopt;
}

std::optional<duration> json_reader::time(const std::string& name) {
    const auto written = text(name);
    if (!written) return std::nullopt;
    const auto read = parse_duration(*written);
    if (!read) wrong(name, R"(must be a duration such as "500ms", "30s" or "24h")");
    return read;
}

const json_reader::json* json_reader::object(const std::string& name) {
    const json* const found = find(name);
    if (found == nullptr || found->is_object()) return found;
    wrong(name, "must be an object");
    return nullptr;
}

std::optional<std::string> json_reader::bytes(const std::string& text, const std::string& base64) {
    const auto plain = this->text(text);
    const auto coded = this->text(base64);
    if (!coded) return plain;
    if (plain) wrong(base64, "and " + text + " cannot both be given");
    auto decoded = from_base64(*coded);
    if (!decoded) wrong(base64, "must be base64 (RFC 4648) with padding");
    return decoded;
}

void json_reader::wrong(std::string_view name, std::string_view why) {
    if (!fault_) fault_ = shortened(name).append(" ").append(why);
}

void json_reader::nothing_else() {
    if (!of_.is_object()) return;
    for (const auto& [name, ignored] : of_.items()) {
        if (!known_.contains(name)) wrong(name, "is not known here");
    }
}

} // namespace semel::edge
