// The logging port: semel writes to the logger that you pass.
//
// Keys, bodies and secrets are never logged. A line that is about one record carries log_key(key):
// the same key gives the same few digits everywhere, and the digits do not give the key.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace semel {

enum class log_level : std::uint8_t { debug, info, warning, error };

[[nodiscard]] std::string_view name(log_level level);

// A text, number or truth value. A text is a view: it lives until the write returns.
class log_value {
public:
    using alternatives = std::variant<std::string_view, std::int64_t, std::uint64_t, double, bool>;

    template <class T>
    requires std::convertible_to<const T&, std::string_view> log_value(const T& text)
        : value_(std::in_place_type<std::string_view>, text) {}
    template <std::integral T> log_value(T number) : value_(widened(number)) {}
    template <std::floating_point T> log_value(T number) : value_(static_cast<double>(number)) {}

    [[nodiscard]] const alternatives& get() const { return value_; }

private:
    template <std::integral T> static alternatives widened(T number) {
        if constexpr (std::same_as<T, bool>) {
            return number;
        } else if constexpr (std::signed_integral<T>) {
            return static_cast<std::int64_t>(number);
        } else {
            return static_cast<std::uint64_t>(number);
        }
    }

    alternatives value_;
};

// One named value of a line.
struct log_field {
    std::string_view name;
    log_value value;
};

// Where semel writes its lines. Implement it to send them to a log of your own. Thread-safe, and
// never throws: a full disk must not stop the work. A shared_ptr holds it, because attempts that go
// on after the engine's destruction may still write.
class logger {
public:
    logger() = default;
    logger(const logger&) = delete;
    logger& operator=(const logger&) = delete;
    virtual ~logger() = default;

    // Whether a line of this level would be written. Other lines are not even put together.
    [[nodiscard]] virtual bool enabled(log_level level) const noexcept = 0;

    // Views live until the call returns.
    virtual void write(log_level level, std::string_view message,
                       std::span<const log_field> fields) noexcept = 0;
};

// log(*logger, log_level::warning, "lease lost", {{"key", log_key(id.key)}, {"attempt", 2}});
inline void log(logger& to, log_level level, std::string_view message,
                std::initializer_list<log_field> fields = {}) {
    if (to.enabled(level)) to.write(level, message, {fields.begin(), fields.size()});
}
inline void log_debug(logger& to, std::string_view message,
                      std::initializer_list<log_field> fields = {}) {
    log(to, log_level::debug, message, fields);
}
inline void log_info(logger& to, std::string_view message,
                     std::initializer_list<log_field> fields = {}) {
    log(to, log_level::info, message, fields);
}
inline void log_warning(logger& to, std::string_view message,
                        std::initializer_list<log_field> fields = {}) {
    log(to, log_level::warning, message, fields);
}
inline void log_error(logger& to, std::string_view message,
                      std::initializer_list<log_field> fields = {}) {
    log(to, log_level::error, message, fields);
}

// Twelve hex digits that stand for a key, the same in every process and version. Use them to follow
// one key through the logs. An attacker can find an easily guessed key by trying.
[[nodiscard]] std::string log_key(std::string_view key);

enum class keys_in_logs : std::uint8_t { hashed, plain };

// For a whole process whose operator asks for it: from here on log_key() gives the key itself.
void show_keys(keys_in_logs how);

// Writes nothing. The same one every time.
[[nodiscard]] std::shared_ptr<logger> null_logger();

enum class log_format : std::uint8_t {
    pretty, // one line of text for a terminal
    json,   // one JSON object per line: time, level, logger, message, fields
};

struct spdlog_logger_options {
    std::string name = "semel";
    log_level level = log_level::info; // and above
    log_format format = log_format::pretty;
    std::ostream* to = nullptr; // outlives the logger; null: standard error
};

// Lines never contain a raw line end or control character, whatever the message or a field holds,
// and bytes that are not UTF-8 become U+FFFD.
[[nodiscard]] std::shared_ptr<logger> open_spdlog_logger(const spdlog_logger_options& options = {});

} // namespace semel
