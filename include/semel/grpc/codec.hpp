// Protobuf messages as results: engine.execute<ChargeReply>(request, work).
#pragma once

#include <concepts>
#include <stdexcept>
#include <string>
#include <string_view>

#include <google/protobuf/message_lite.h>

#include "semel/codec.hpp"
#include "semel/result.hpp"

namespace semel {

// Unknown fields are kept. A message that lacks required fields cannot be encoded.
template <std::derived_from<google::protobuf::MessageLite> Message> struct codec<Message> {
    static constexpr std::string_view type = "application/protobuf";
    static std::string encode(const Message& value) {
        std::string bytes;
        if (!value.SerializeToString(&bytes)) throw std::runtime_error{"message not initialised"};
        return bytes;
    }
    // Throws failure_error.
    static Message decode(std::string_view bytes) {
        Message value;
        if (!value.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
            throw_failure({.code = errc::corrupt, .detail = "not a " + value.GetTypeName()});
        }
        return value;
    }
};

} // namespace semel
