#include "duration_text.hpp"

#include "base/units.hpp"
#include "commands.hpp"

namespace semel::app {

duration parse_duration(std::string_view option, std::string_view text) {
    if (const auto read = semel::parse_duration(text)) return *read;
    throw usage_error(std::string{option} +
                      ": expected a time such as 500ms, 30s, 5m, 24h or 3d, not \"" +
                      std::string{text} + "\"");
}

CLI::Option* time_option(CLI::App& command, const std::string& name, duration& to,
                         const std::string& about) {
    const auto take = [&to, name](const std::string& text) { to = parse_duration(name, text); };
    return command.add_option_function<std::string>(name, take, about)
        ->default_str(show_duration(to))
        ->type_name("TIME");
}

} // namespace semel::app
