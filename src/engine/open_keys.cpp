#include "engine/open_keys.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include "semel/base/mutex.hpp"

namespace semel {

namespace {

struct entry {
    const void* connection;
    std::string_view tables;
    const record_id* id;
};

// As many as connections are at work. A function's, so that it is there when others begin.
struct table {
    detail::mutex mutex;
    std::vector<entry> open SEMEL_GUARDED_BY(mutex);
};

table& all() {
    static table& made = *new table; // for ever: what a global loop holds ends after it
    return made;
}

} // namespace

open_key::open_key(const transaction_port& port, const record_id& id) : id_(id) {
    const detail::guard lock{all().mutex};
    all().open.push_back({port.connection(), port.tables(), &id_});
}

open_key::~open_key() {
    const detail::guard lock{all().mutex};
    auto& open = all().open;
    const auto mine =
        std::find_if(open.begin(), open.end(), [&](const entry& one) { return one.id == &id_; });
    *mine = open.back();
    open.pop_back();
}

bool open_key::held(const transaction_port& port, const record_id& id) {
    const detail::guard lock{all().mutex};
    return std::any_of(all().open.begin(), all().open.end(), [&](const entry& one) {
        return one.connection == port.connection() && one.tables == port.tables() && *one.id == id;
    });
}

} // namespace semel
