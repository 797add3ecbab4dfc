// Messages as a relay would hand them to a sink.
#pragma once

#include <string>
#include <vector>

#include "semel/ids.hpp"
#include "semel/outbox/sinks.hpp"

namespace semel::messaging_test {

using outbox::delivered;
using outbox::delivery;
using outbox::order;

inline outbox::message one_event(std::string id, std::string key = {}, std::string payload = "{}") {
    outbox::message made;
    made.attempts = 1;
    made.event = {.id = std::move(id),
                  .topic = "orders",
                  .key = std::move(key),
                  .payload = std::move(payload),
                  .headers = {{"idempotency-key", "k-1"}}};
    return made;
}

// e-1 … e-N, their keys in turn.
inline std::vector<outbox::message> events(std::size_t count, std::vector<std::string> keys = {}) {
    std::vector<outbox::message> made;
    for (std::size_t i = 1; i <= count; ++i) {
        const std::string number = std::to_string(i);
        made.push_back(one_event("e-" + number, keys.empty() ? "" : keys[(i - 1) % keys.size()],
                                 "payload " + number));
        made.back().row = static_cast<std::int64_t>(i);
    }
    return made;
}

inline std::vector<delivery> deliver(outbox::sink& to, const std::vector<outbox::message>& batch,
                                     order kept = order::none) {
    std::vector<delivery> answers(batch.size());
    to.deliver(batch, kept, answers);
    return answers;
}

inline std::vector<delivered> kinds(const std::vector<delivery>& answers) {
    std::vector<delivered> made;
    for (const auto& one : answers) made.push_back(one.how);
    return made;
}

inline std::size_t count(const std::vector<delivery>& answers, delivered how) {
    std::size_t made = 0;
    for (const auto& one : answers) made += one.how == how ? 1 : 0;
    return made;
}

// Until every one has been delivered; those that were are not sent again, as a relay does it. The
// number of rounds, or 0: not in time.
int deliver_all(outbox::sink& to, std::vector<outbox::message> batch, order kept = order::none);

} // namespace semel::messaging_test
