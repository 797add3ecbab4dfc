#include "semel/http/message.hpp"

#include <algorithm>
#include <utility>

#include "http/text.hpp"

namespace semel::http {

void header_list::add(std::string name, std::string value) {
    constexpr std::size_t usual = 8;
    if (lines_.empty()) lines_.reserve(usual);
    lines_.push_back({.name = std::move(name), .value = std::move(value)});
}

void header_list::set(std::string name, std::string value) {
    remove(name);
    add(std::move(name), std::move(value));
}

std::size_t header_list::remove(std::string_view name) {
    return remove_if([&](const header& line) { return equal_ignoring_case(line.name, name); });
}

const std::string* header_list::find(std::string_view name) const {
    for (const header& line : lines_) {
        if (equal_ignoring_case(line.name, name)) return &line.value;
    }
    return nullptr;
}

std::size_t header_list::count(std::string_view name) const {
    return static_cast<std::size_t>(
        std::count_if(lines_.begin(), lines_.end(),
                      [&](const header& line) { return equal_ignoring_case(line.name, name); }));
}

std::vector<std::string_view> list_members(const header_list& headers, std::string_view name) {
    std::vector<std::string_view> members;
    for (const header& line : headers) {
        if (!equal_ignoring_case(line.name, name)) continue;
        std::string_view rest = line.value;
        while (!rest.empty()) {
            const std::string_view member = trimmed(take_until_unquoted(rest, ','));
            if (!member.empty()) members.push_back(member);
        }
    }
    return members;
}

std::string_view request_head::path() const {
    return std::string_view{target}.substr(0, target.find('?'));
}

std::string_view request_head::query() const {
    const std::size_t mark = target.find('?');
    return mark == std::string::npos ? std::string_view{}
                                     : std::string_view{target}.substr(mark + 1);
}

} // namespace semel::http
