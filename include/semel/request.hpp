// One request to be executed once. Owns its strings.
#pragma once

#include <optional>
#include <string>

#include "semel/fingerprint.hpp"
#include "semel/policy.hpp"

namespace semel {

// What one request sets differently from its operation's policy.
struct overrides {
    std::optional<duration> lease = {};
    std::optional<duration> retention = {};
    std::optional<wait_mode> wait = {};
    std::optional<duration> wait_max = {};
    std::string attributes = {}; // small JSON of the domain's own, kept with the record
};

struct request {
    std::string tenant = {};
    std::string operation = {};
    std::string key = {};                    // empty with content: derived from the digest
    std::optional<fingerprint> content = {}; // none: repeats are not compared
    overrides with = {};
};

} // namespace semel
