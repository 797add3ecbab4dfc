#include "semel/store.hpp"

#include <utility>

#include "semel/base/mutex.hpp"

namespace semel {

void store::submit_all(std::vector<submission> many) {
    for (auto& one : many) submit(std::move(one.what), std::move(one.done));
}

result<reply> store::call(const record_id& id, command what, std::optional<time_point> now) {
    detail::mutex mutex;
    detail::condition answered;
    std::optional<result<reply>> got;
    envelope sent{.id = id, .what = std::move(what), .now = now};
    submit(std::move(sent), [&](result<reply> one) {
        // Notified under the lock: the waiting frame is gone once it can be taken.
        const detail::guard lock{mutex};
        got.emplace(std::move(one));
        answered.notify_one();
    });
    detail::guard lock{mutex};
    answered.wait(lock, [&] { return got.has_value(); });
    return std::move(*got);
}

std::unique_ptr<record_watch> store::watch(const record_id&, unique_function<void()>) {
    return nullptr;
}

} // namespace semel
