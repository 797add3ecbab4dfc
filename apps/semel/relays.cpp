#include "relays.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "opened.hpp"
#include "semel/base/mutex.hpp"
#include "semel/outbox/open.hpp"
#include "semel/outbox/sinks.hpp"
#include "wiring.hpp"

namespace semel::app {
namespace {

outbox::table_opener opener_of(const config::config& with, const config::relay_entry& of) {
    const std::string url = of.store.text.empty() ? with.store.url.text : of.store.text;
    const outbox::table_options options = outbox_options_of(with, of);
    return [url, options] { return outbox::open_table(url, options); };
}

} // namespace

relays::relays(const config::config& with, const std::shared_ptr<logger>& log) {
    for (const config::relay_entry& one : with.relays) {
        const outbox::table_opener open = opener_of(with, one);
        if (!outbox_) outbox_ = open;
        outbox::relay_options options = one.options;
        options.log = log;
        running_.push_back(opened(outbox::open_relay(
            {open}, [url = one.sink.text, log] { return outbox::open_sink(url, {.log = log}); },
            std::move(options))));
    }
}

void relays::stop() {
    for (const auto& one : running_) one->stop();
}

std::vector<outbox::relay_metrics> relays::metrics() const {
    std::vector<outbox::relay_metrics> all;
    for (const auto& one : running_) all.push_back(one->metrics());
    return all;
}

duration relays::lag() const {
    std::uint64_t longest = 0;
    for (const auto& one : metrics()) longest = std::max(longest, one.oldest_seconds.get());
    return std::chrono::seconds{longest};
}

} // namespace semel::app
