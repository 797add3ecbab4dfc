// An answer as the bytes of a stored result:
//
//   message StoredAnswer {
//     uint32 code = 1;  string message = 2;  bytes details = 3;
//     repeated Metadata initial = 4;  repeated Metadata trailing = 5;   // 1 name, 2 value
//     bytes body = 6;                                                   // the response, as sent
//   }
#include <google/protobuf/io/coded_stream.h>

#include "grpc/wire.hpp"
#include "semel/grpc.hpp"

namespace semel {
namespace {

using google::protobuf::io::CodedInputStream;

enum field : std::uint32_t { code = 1, text, details, initial, trailing, body };

// The largest code gRPC has.
constexpr std::uint32_t code_max = 16;

[[noreturn]] void throw_corrupt() {
    throw_failure({.code = errc::corrupt, .detail = "not a stored gRPC answer"});
}

grpc::wire_message line_of(const http::header& one) {
    return grpc::wire_message{}.add(1, one.name).add(2, one.value);
}

// Reads the fields of one message; the views point into it.
class wire_reader {
public:
    explicit wire_reader(std::string_view bytes)
        : bytes_(bytes),
          stream_(reinterpret_cast<const std::uint8_t*>(bytes.data()),
                  static_cast<int>(bytes.size())) {}

    // The number of the next field; zero at the end.
    std::uint32_t next() {
        if (stream_.CurrentPosition() == static_cast<int>(bytes_.size())) return 0;
        const std::uint32_t tag = stream_.ReadTag();
        is_bytes_ = (tag & 7U) == 2;
        if (tag == 0 || (!is_bytes_ && (tag & 7U) != 0)) throw_corrupt();
        if (!stream_.ReadVarint64(&number_)) throw_corrupt();
        if (is_bytes_) skip_bytes();
        return tag >> 3U;
    }

    [[nodiscard]] std::string_view bytes() const {
        if (!is_bytes_) throw_corrupt();
        return value_;
    }
    [[nodiscard]] std::uint64_t number() const {
        if (is_bytes_) throw_corrupt();
        return number_;
    }

private:
    void skip_bytes() {
        const auto at = static_cast<std::size_t>(stream_.CurrentPosition());
        if (number_ > bytes_.size() - at) throw_corrupt();
        value_ = bytes_.substr(at, number_);
        stream_.Skip(static_cast<int>(number_));
    }

    std::string_view bytes_;
    CodedInputStream stream_;
    std::uint64_t number_ = 0;
    std::string_view value_;
    bool is_bytes_ = false;
};

void read_line(std::string_view bytes, http::header_list& to) {
    http::header line;
    wire_reader from{bytes};
    while (const auto which = from.next()) {
        if (which == 1) line.name = from.bytes();
        if (which == 2) line.value = from.bytes();
    }
    to.add(std::move(line.name), std::move(line.value));
}

} // namespace

std::string codec<grpc::answer>::encode(const grpc::answer& value) {
    grpc::wire_message out;
    out.reserve(value.message.size() + 16);
    out.add(field::code, static_cast<std::uint64_t>(value.status.error_code()))
        .add_if(field::text, value.status.error_message())
        .add_if(field::details, value.status.error_details());
    for (const auto& one : value.initial) out.add(field::initial, line_of(one));
    for (const auto& one : value.trailing) out.add(field::trailing, line_of(one));
    if (value.status.ok()) out.add(field::body, value.message);
    return out.take();
}

grpc::answer codec<grpc::answer>::decode(std::string_view bytes) {
    grpc::answer made;
    std::uint64_t status = code_max + 1;
    std::string message;
    std::string more;
    wire_reader from{bytes};
    while (const auto which = from.next()) {
        switch (which) {
        case field::code: status = from.number(); break;
        case field::text: message = from.bytes(); break;
        case field::details: more = from.bytes(); break;
        case field::initial: read_line(from.bytes(), made.initial); break;
        case field::trailing: read_line(from.bytes(), made.trailing); break;
        case field::body: made.message = from.bytes(); break;
        default: break; // of a later version
        }
    }
    if (status > code_max) throw_corrupt();
    made.status = {static_cast<::grpc::StatusCode>(status), message, more};
    return made;
}

} // namespace semel
