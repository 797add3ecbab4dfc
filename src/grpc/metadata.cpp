#include "grpc/metadata.hpp"

#include <algorithm>

namespace semel::grpc {

http::header_list lines_of(const received_metadata& from) {
    http::header_list made;
    made.reserve(from.size());
    for (const auto& [name, value] : from) {
        made.add(std::string{view(name)}, std::string{view(value)});
    }
    return made;
}

http::header_list kept(const received_metadata& from, const std::vector<std::string>& names) {
    http::header_list made;
    for (const std::string& name : names) {
        const auto [first, last] = from.equal_range(name);
        for (auto at = first; at != last; ++at) made.add(name, std::string{view(at->second)});
    }
    return made;
}

bool may_be_sent(const http::header& line) {
    const bool named = !line.name.empty() && line.name.front() != ':' &&
                       std::all_of(line.name.begin(), line.name.end(), [](char c) {
                           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
                                  c == '_' || c == '.';
                       });
    if (!named || line.name.ends_with("-bin")) return named;
    return std::all_of(line.value.begin(), line.value.end(),
                       [](char c) { return c >= ' ' && c <= '~'; });
}

bool is_hop_by_hop(std::string_view name) {
    if (name == "grpc-trace-bin" || name == "grpc-tags-bin") return false;
    return name.starts_with(':') || name.starts_with("grpc-") || name == "user-agent" ||
           name == "content-type" || name == "te" || name == "host";
}

} // namespace semel::grpc
