// What goes wrong with a Redis server as failures of semel: one table.
#pragma once

#include <string_view>

#include "semel/base/result.hpp"

namespace semel::redis {

// Whether the connection may be used after an error.
enum class connection_use { keep, replace };

struct verdict {
    failure why;
    connection_use after = connection_use::keep;
};

// `message` is an error reply without its sign: "OOM command not allowed when …".
[[nodiscard]] verdict verdict_of(std::string_view message);

// A failure of a server that would refuse it at start is only `unavailable` once the store is open:
// an operator may correct logins, rights and addresses meanwhile, and completions must go on trying
// until then.
[[nodiscard]] failure once_open(failure why);

// The server does not know the script: it has been restarted or told to forget.
[[nodiscard]] bool lacks_script(std::string_view message);

// A failure of the stream below, which does not know whose it is.
[[nodiscard]] failure in_redis(failure why);

// The exception that is being handled: out of memory, or thrown by a stream of the user's own. The
// caller sets what it may have changed.
[[nodiscard]] failure caught_failure();

} // namespace semel::redis
