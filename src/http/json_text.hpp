// Writing a small flat JSON object. Not thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace semel::http {

// Text in double quotes. Control bytes are escaped; bytes that are not UTF-8 become U+FFFD, since a
// problem's detail may quote a client's bytes.
[[nodiscard]] std::string json_quoted(std::string_view text);

class json_object {
public:
    json_object& add(std::string_view name, std::string_view text) {
        return add_raw(name, json_quoted(text));
    }
    json_object& add(std::string_view name, std::int64_t number) {
        return add_raw(name, std::to_string(number));
    }
    json_object& add(std::string_view name, const json_object& inner) {
        return add_raw(name, inner.finish());
    }

    [[nodiscard]] std::string finish() const { return "{" + members_ + "}"; }

private:
    json_object& add_raw(std::string_view name, std::string_view json) {
        if (!members_.empty()) members_ += ',';
        members_.append(json_quoted(name)).append(":").append(json);
        return *this;
    }

    std::string members_;
};

} // namespace semel::http
