#include "edge/gateway/equal_requests.hpp"

#include <utility>
#include <variant>

#include "semel/base/mutex.hpp"
#include "semel/http/response.hpp"

namespace semel::edge {
namespace {

// The request took effect, or may have. After any other end a repeat is to be executed.
bool settles_others(const http::settled& made) {
    return std::holds_alternative<answered_end>(made.end) ||
           std::holds_alternative<unknown_verdict>(made.end);
}

// Equal requests may come from different clients, as repeats of a stored answer may.
http::settled for_others(http::settled made) {
    made.own.headers.remove_if(
        [](const http::header& line) { return http::never_replayed(line.name); });
    return made;
}

} // namespace

struct equal_requests::execution {
    under what;
    news made = {}; // null: under way
    budget_share held = {};
    std::vector<hears> waiting = {};
};

std::optional<equal_requests::turn> equal_requests::enter(under what, hears then) {
    news made;
    {
        const detail::guard lock{mutex_};
        const bool shares =
            last_ != nullptr && (what == under::nothing || last_->what == under::nothing);
        if (!shares) {
            last_ = std::make_shared<execution>(execution{.what = what});
            return turn{shared_from_this(), last_};
        }
        if (last_->made == nullptr) {
            last_->waiting.push_back(std::move(then));
            return std::nullopt;
        }
        made = last_->made;
    }
    then(std::move(made));
    return std::nullopt;
}

std::vector<equal_requests::hears> equal_requests::end(const std::shared_ptr<execution>& it,
                                                       news made) {
    const detail::guard lock{mutex_};
    if (made == nullptr) {
        if (last_ == it) last_ = nullptr;
    } else {
        it->held = budget_share{buffered_};
        it->held.hold(made->own.body.size());
        it->made = std::move(made);
    }
    return std::exchange(it->waiting, {});
}

void equal_requests::turn::tell(const http::settled& made) {
    news shared;
    if (settles_others(made)) {
        // An attempt of its own executes the request again: only the answer is shared then.
        auto kept = it_->what == under::record
                        ? http::settled{.end = unknown_verdict{}, .own = made.own}
                        : made;
        shared = std::make_shared<const http::settled>(for_others(std::move(kept)));
    }
    const auto of = std::exchange(of_, nullptr);
    for (hears& one : of->end(it_, shared)) one(shared);
}

equal_requests::turn::~turn() {
    if (of_ == nullptr) return;
    const auto dropped = of_->end(it_, nullptr); // goes outside the lock
}

std::shared_ptr<equal_requests> equal_requests_table::find(what of,
                                                           std::shared_ptr<byte_budget> buffered) {
    auto forgets = [this, of](equal_requests* gone) {
        delete gone;
        forget(of);
    };
    // Made before the lock is taken, and destroyed after the lock is released: the deleter takes
    // the lock, and shared_ptr calls the deleter if there is no memory for the count of owners.
    std::shared_ptr<equal_requests> made{new equal_requests{std::move(buffered)},
                                         std::move(forgets)};
    const detail::guard lock{mutex_};
    auto& known = all_[std::move(of)];
    if (auto there = known.lock()) return there;
    known = made;
    return made;
}

// Others may have come since.
void equal_requests_table::forget(const what& of) {
    const detail::guard lock{mutex_};
    const auto at = all_.find(of);
    if (at != all_.end() && at->second.expired()) all_.erase(at);
}

} // namespace semel::edge
