#include "semel/log.hpp"

#include <atomic>
#include <utility>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "fingerprint/sha256.hpp"
#include "log/key_secret.hpp"

namespace semel {

namespace {

class silent_logger final : public logger {
public:
    [[nodiscard]] bool enabled(log_level) const noexcept override { return false; }
    void write(log_level, std::string_view, std::span<const log_field>) noexcept override {}
};

std::atomic<keys_in_logs> keys_shown = keys_in_logs::hashed;

constexpr std::size_t key_digits = 12;

// Set before the first line is written; empty: none.
std::string& secret_of_keys() {
    static std::string it;
    return it;
}

} // namespace

std::string_view name(log_level level) {
    switch (level) {
    case log_level::debug: return "debug";
    case log_level::info: return "info";
    case log_level::warning: return "warning";
    case log_level::error: return "error";
    }
    return "unknown";
}

void show_keys(keys_in_logs how) {
    keys_shown.store(how, std::memory_order_relaxed);
}

void hash_keys_with(std::string secret) {
    secret_of_keys() = std::move(secret);
}

std::string log_key(std::string_view key) {
    if (keys_shown.load(std::memory_order_relaxed) == keys_in_logs::plain) return std::string{key};
    constexpr std::string_view digits = "0123456789abcdef";
    if (const std::string& secret = secret_of_keys(); !secret.empty()) {
        return detail::hmac_sha256(secret, {key}).hex().substr(0, key_digits);
    }
    std::uint64_t hash = XXH3_64bits(key.data(), key.size());
    std::string text(key_digits, '0');
    for (char& digit : text) {
        digit = digits[hash >> 60U];
        hash <<= 4U;
    }
    return text;
}

std::shared_ptr<logger> null_logger() {
    static const auto one = std::make_shared<silent_logger>();
    return one;
}

} // namespace semel
