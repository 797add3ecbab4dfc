// HTTP messages as plain values: what an adapter fills from its framework and writes back to it.
// No thread-safety of their own. Nothing here has been checked; see framing.hpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace semel::http {

struct header {
    std::string name;
    std::string value; // without the blanks around it

    friend bool operator==(const header&, const header&) = default;
};

// ASCII only.
[[nodiscard]] constexpr char to_lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// Compares header names, schemes and media types. Inline, because each name is compared with many,
// and most differ in length.
[[nodiscard]] inline bool equal_ignoring_case(std::string_view left, std::string_view right) {
    return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                      [](char a, char b) { return to_lower(a) == to_lower(b); });
}

// Header lines in the order they came. Names are compared without regard to case.
class header_list {
public:
    header_list() = default;
    header_list(std::initializer_list<header> lines) : lines_(lines) {}

    void reserve(std::size_t lines) { lines_.reserve(lines); }
    void add(std::string name, std::string value);
    // Replaces every line of that name by this one, which goes last.
    void set(std::string name, std::string value);
    // Returns how many lines went.
    std::size_t remove(std::string_view name);
    template <class Predicate> std::size_t remove_if(Predicate gone) {
        return std::erase_if(lines_, gone);
    }

    // The first line of that name, or null. Valid until the list changes.
    [[nodiscard]] const std::string* find(std::string_view name) const;
    [[nodiscard]] std::size_t count(std::string_view name) const;
    [[nodiscard]] bool contains(std::string_view name) const { return find(name) != nullptr; }

    [[nodiscard]] auto begin() const noexcept { return lines_.begin(); }
    [[nodiscard]] auto end() const noexcept { return lines_.end(); }
    [[nodiscard]] std::size_t size() const noexcept { return lines_.size(); }
    [[nodiscard]] bool empty() const noexcept { return lines_.empty(); }

    friend bool operator==(const header_list&, const header_list&) = default;

private:
    std::vector<header> lines_;
};

// The members of all lines of a comma-separated header, blanks removed, empty ones left out. Commas
// inside quotes do not separate. The views point into `headers`.
[[nodiscard]] std::vector<std::string_view> list_members(const header_list& headers,
                                                         std::string_view name);

enum class version : std::uint8_t { http_1_0, http_1_1 };

// A request without its body. It has no trailers: an adapter takes this copy before it reads the
// body, so that nothing that comes later counts as a header.
struct request_head {
    std::string method;
    std::string target; // origin form: "/orders?dry=1"
    http::version version = version::http_1_1;
    header_list headers = {};

    // The target before and after its first '?'.
    [[nodiscard]] std::string_view path() const;
    [[nodiscard]] std::string_view query() const;
};

struct request {
    request_head head;
    std::string body = {};
};

struct response {
    int status = 200;
    header_list headers = {};
    std::string body = {};

    friend bool operator==(const response&, const response&) = default;
};

} // namespace semel::http
