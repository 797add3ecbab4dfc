#include "engine/open_keys.hpp"

#include <algorithm>
#include <mutex>
#include <vector>

namespace semel {

namespace {

struct entry {
    const void* connection;
    const record_id* id;
};

// As many as connections are at work. A function's, so that it is there when others begin.
struct table {
    std::mutex mutex;
    std::vector<entry> open; // guarded by mutex
};

table& all() {
    static table& made = *new table; // for ever: what a global loop holds ends after it
    return made;
}

} // namespace

open_key::open_key(const void* connection, const record_id& id) : connection_(connection), id_(id) {
    const std::lock_guard lock{all().mutex};
    all().open.push_back({connection_, &id_});
}

open_key::~open_key() {
    const std::lock_guard lock{all().mutex};
    auto& open = all().open;
    const auto mine =
        std::find_if(open.begin(), open.end(), [&](const entry& one) { return one.id == &id_; });
    *mine = open.back();
    open.pop_back();
}

bool open_key::held(const void* connection, const record_id& id) {
    const std::lock_guard lock{all().mutex};
    return std::any_of(all().open.begin(), all().open.end(), [&](const entry& one) {
        return one.connection == connection && *one.id == id;
    });
}

} // namespace semel
