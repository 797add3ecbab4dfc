// Messages and metadata into and out of gRPC's own types.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/slice.h>

#include "semel/grpc.hpp"

namespace semel::grpc {

// A received message in one piece; copied only if it came in several.
class whole_message {
public:
    explicit whole_message(const ::grpc::ByteBuffer& from) {
        readable_ = from.TrySingleSlice(&slice_).ok() || from.DumpToSingleSlice(&slice_).ok();
    }
    [[nodiscard]] bool readable() const { return readable_; }
    [[nodiscard]] std::string_view view() const {
        return {reinterpret_cast<const char*>(slice_.begin()), slice_.size()};
    }

private:
    ::grpc::Slice slice_;
    bool readable_ = false;
};

// The buffer takes the string over, without a copy.
[[nodiscard]] inline ::grpc::ByteBuffer buffer_of(std::string&& message) {
    auto kept = std::make_unique<std::string>(std::move(message));
    std::string* text = kept.release();
    const ::grpc::Slice slice{text->data(), text->size(),
                              [](void* it) { delete static_cast<std::string*>(it); }, text};
    return {&slice, 1};
}

inline void add_metadata(::grpc::ServerContextBase& to, const answer& from) {
    for (const auto& line : from.initial) to.AddInitialMetadata(line.name, line.value);
    for (const auto& line : from.trailing) to.AddTrailingMetadata(line.name, line.value);
}

} // namespace semel::grpc
