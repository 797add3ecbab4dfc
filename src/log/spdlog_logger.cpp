#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <exception>
#include <utility>

#include "log/log_text.hpp"
#include "semel/log.hpp"

namespace semel {

namespace {

spdlog::level::level_enum level_of(log_level level) {
    switch (level) {
    case log_level::debug: return spdlog::level::debug;
    case log_level::info: return spdlog::level::info;
    case log_level::warning: return spdlog::level::warn;
    case log_level::error: return spdlog::level::err;
    }
    return spdlog::level::err;
}

spdlog::sink_ptr sink_to(std::ostream* to) {
    if (to == nullptr) return std::make_shared<spdlog::sinks::stderr_sink_mt>();
    return std::make_shared<spdlog::sinks::ostream_sink_mt>(*to, true);
}

// A name as it may stand in a spdlog pattern, where % begins a directive.
std::string in_pattern(std::string_view name) {
    std::string text;
    for (const char one : name) {
        text += one;
        if (one == '%') text += '%';
    }
    return text;
}

// Times are UTC, so that lines of several machines can be merged.
std::string pattern_of(const spdlog_logger_options& options) {
    std::string name;
    append_json_string(name, options.name);
    name = in_pattern(name);
    if (options.format == log_format::json) {
        return R"({"time":"%Y-%m-%dT%H:%M:%S.%fZ","level":"%l","logger":)" + name + ",%v}";
    }
    return "%Y-%m-%d %H:%M:%S.%eZ %l " + name.substr(1, name.size() - 2) + ": %v";
}

class spdlog_logger final : public logger {
public:
    explicit spdlog_logger(const spdlog_logger_options& options)
        : format_(options.format), to_(options.name, sink_to(options.to)) {
        to_.set_level(level_of(options.level));
        to_.set_formatter(std::make_unique<spdlog::pattern_formatter>(
            pattern_of(options), spdlog::pattern_time_type::utc));
    }

    [[nodiscard]] bool enabled(log_level level) const noexcept override {
        return to_.should_log(level_of(level));
    }

    void write(log_level level, std::string_view message,
               std::span<const log_field> fields) noexcept override {
        if (!enabled(level)) return;
        try {
            const std::string line = format_ == log_format::json ? json_members(message, fields)
                                                                 : pretty_text(message, fields);
            to_.log(level_of(level), spdlog::string_view_t{line.data(), line.size()});
        } catch (const std::exception&) {
            // Out of memory: the line is lost, the work goes on.
        }
    }

private:
    const log_format format_;
    spdlog::logger to_;
};

} // namespace

std::shared_ptr<logger> open_spdlog_logger(const spdlog_logger_options& options) {
    return std::make_shared<spdlog_logger>(options);
}

} // namespace semel
