#include "semel/http/key_header.hpp"

#include "semel/fingerprint.hpp"

namespace semel::http {

header_list next_hop_headers(std::string_view key, std::string_view step,
                             const header_list& incoming, const next_hop_options& options) {
    header_list made;
    made.add(options.header, spell_key(derive(key, step), options.form));
    for (const std::string_view name : {"traceparent", "tracestate"}) {
        if (const std::string* value = incoming.find(name)) made.add(std::string{name}, *value);
    }
    return made;
}

header_list next_hop_headers(const execution& run, std::string_view step,
                             const header_list& incoming, const next_hop_options& options) {
    return next_hop_headers(run.key(), step, incoming, options);
}

} // namespace semel::http
