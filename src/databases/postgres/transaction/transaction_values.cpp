#include "databases/postgres/transaction/transaction_values.hpp"

#include <atomic>
#include <random>

namespace semel::postgres {

std::string new_token() {
    static const std::uint64_t process = [] {
        std::random_device source;
        return std::uint64_t{source()} << 32 | source();
    }();
    static std::atomic<std::uint64_t> serial = 0;
    return "<" + std::to_string(process) + "." + std::to_string(++serial) + ">";
}

std::string_view view(const std::array<char, 8>& bytes) {
    return {bytes.data(), bytes.size()};
}

std::string_view view(const std::string& bytes) {
    // A null pointer would be NULL.
    return bytes.empty() ? std::string_view{""} : std::string_view{bytes};
}

std::string_view view_or_null(const std::string& bytes) {
    return bytes.empty() ? std::string_view{} : std::string_view{bytes};
}

std::vector<std::string_view> id_values(const record_id& id) {
    return {view(id.tenant), view(id.operation), view(id.key)};
}

std::int64_t lock_number(std::string_view prefix, const record_id& id) {
    record_id scoped = id;
    scoped.tenant = std::string{prefix} + '\0' + id.tenant;
    return static_cast<std::int64_t>(hash_of(scoped));
}

} // namespace semel::postgres
