// An event as one line of JSON.
#pragma once

#include <string>

#include "semel/outbox.hpp"

namespace semel::outbox {

// {"id":…,"topic":…,"key":…,"created_at":microseconds,"attempt":…,"headers":[[name,value],…],
// "payload":…} and a line end. A payload that is not UTF-8 is "payload_base64" instead.
void append_json_line(std::string& to, const message& one);

} // namespace semel::outbox
