// The little of protobuf's wire format that statuses and stored answers are made of, written
// without generated code: a program may bring Google's own messages of the same names.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace semel::grpc {

class wire_message {
public:
    wire_message& add(std::uint32_t field, std::uint64_t number) {
        put(std::uint64_t{field} << 3U);
        put(number);
        return *this;
    }
    wire_message& add(std::uint32_t field, std::string_view bytes) {
        put((std::uint64_t{field} << 3U) | 2U);
        put(bytes.size());
        bytes_ += bytes;
        return *this;
    }
    wire_message& add(std::uint32_t field, const wire_message& inner) {
        return add(field, std::string_view{inner.bytes_});
    }
    // As protobuf does: what is empty is left out.
    wire_message& add_if(std::uint32_t field, std::string_view bytes) {
        return bytes.empty() ? *this : add(field, bytes);
    }

    void reserve(std::size_t bytes) { bytes_.reserve(bytes); }
    [[nodiscard]] std::string take() { return std::move(bytes_); }

private:
    void put(std::uint64_t number) {
        for (; number >= 0x80; number >>= 7U) bytes_ += static_cast<char>(number | 0x80U);
        bytes_ += static_cast<char>(number);
    }

    std::string bytes_;
};

} // namespace semel::grpc
