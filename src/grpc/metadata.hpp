// Metadata between gRPC's form and ours.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <grpcpp/support/string_ref.h>

#include "semel/http/message.hpp"

namespace semel::grpc {

using received_metadata = std::multimap<::grpc::string_ref, ::grpc::string_ref>;

[[nodiscard]] inline std::string_view view(const ::grpc::string_ref& text) {
    return {text.data(), text.size()};
}

[[nodiscard]] http::header_list lines_of(const received_metadata& from);

// The lines with these names that may be sent.
[[nodiscard]] http::header_list kept(const received_metadata& from,
                                     const std::vector<std::string>& names);

// gRPC ends the program rather than send metadata that is not legal.
[[nodiscard]] bool may_be_sent(const http::header& line);

// Belongs to one connection or to gRPC itself: never passed on.
[[nodiscard]] bool is_hop_by_hop(std::string_view name);

} // namespace semel::grpc
