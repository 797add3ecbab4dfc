#include "semel/log.hpp"

#include <atomic>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace semel {

namespace {

class silent_logger final : public logger {
public:
    [[nodiscard]] bool enabled(log_level) const noexcept override { return false; }
    void write(log_level, std::string_view, std::span<const log_field>) noexcept override {}
};

std::atomic<keys_in_logs> keys_shown = keys_in_logs::hashed;

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

std::string log_key(std::string_view key) {
    if (keys_shown.load(std::memory_order_relaxed) == keys_in_logs::plain) return std::string{key};
    constexpr std::string_view digits = "0123456789abcdef";
    constexpr std::size_t length = 12;
    std::uint64_t hash = XXH3_64bits(key.data(), key.size());
    std::string text(length, '0');
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
