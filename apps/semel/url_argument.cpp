#include "url_argument.hpp"

#include "commands.hpp"
#include "config/surroundings.hpp"

namespace semel::app {

std::string given_url(const std::string& option, const std::string& written) {
    if (!config::is_reference(written)) return written;
    auto found = config::look_up(written, config::this_process());
    if (!found) throw usage_error(option + ": " + found.error().detail);
    if (found->empty()) throw usage_error(option + ": " + written + " is empty");
    return *std::move(found);
}

std::string given_sink(const std::string& option, const std::string& written) {
    return written.starts_with("file:") ? written : given_url(option, written);
}

} // namespace semel::app
