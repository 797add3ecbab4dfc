// A message written in the one order that does not depend on who writes it: map entries sorted.
// Unknown fields are part of the message and stay.
#pragma once

#include <string>

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/message_lite.h>

namespace semel::grpc {

[[nodiscard]] inline std::string deterministic(const google::protobuf::MessageLite& message) {
    std::string bytes;
    {
        google::protobuf::io::StringOutputStream sink{&bytes};
        google::protobuf::io::CodedOutputStream out{&sink};
        out.SetSerializationDeterministic(true);
        message.SerializePartialToCodedStream(&out);
    }
    return bytes;
}

} // namespace semel::grpc
