#include "databases/redis/client/listener.hpp"

#include <chrono>
#include <utility>

#include "databases/redis/client/resp.hpp"
#include "semel/base/mutex.hpp"

namespace semel::redis {

namespace {

// How long the thread listens before it looks whether others want to listen too.
constexpr duration attention = std::chrono::milliseconds{5};
// Without a connection: those who wait poll.
constexpr duration pause = std::chrono::milliseconds{100};

void append_all(std::string& to, std::string_view verb, const std::vector<std::string>& channels) {
    if (channels.empty()) return;
    append_request(to, 1 + channels.size());
    append_part(to, verb);
    for (const auto& one : channels) append_part(to, one);
}

bool is_news(const value& got) {
    return got.is(value::type::array) && got.items.size() == 3;
}

} // namespace

class listener::ear final : public record_watch {
public:
    ear(listener& of, std::string channel, std::uint64_t number)
        : of_(of), channel_(std::move(channel)), number_(number) {}
    ~ear() override { of_.deaf(channel_, number_); }

private:
    listener& of_;
    const std::string channel_;
    const std::uint64_t number_;
};

listener::listener(link_options options) : on_(std::move(options)) {}

listener::~listener() {
    {
        const detail::guard lock{mutex_};
        stopping_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
}

std::unique_ptr<record_watch> listener::listen(std::string channel, unique_function<void()> news) {
    const detail::guard lock{mutex_};
    const std::uint64_t number = ++next_;
    wanted_[channel][number] = std::make_shared<unique_function<void()>>(std::move(news));
    new_wishes_ = true;
    if (!thread_.joinable()) thread_ = std::thread{[this] { run(); }};
    changed_.notify_all();
    return std::make_unique<ear>(*this, std::move(channel), number);
}

void listener::deaf(const std::string& channel, std::uint64_t number) {
    const detail::guard lock{mutex_};
    const auto at = wanted_.find(channel);
    at->second.erase(number);
    if (!at->second.empty()) return;
    wanted_.erase(at);
    new_wishes_ = true;
}

void listener::run() {
    detail::guard lock{mutex_};
    while (!stopping_) {
        // If no caller listens, one more round unsubscribes the rest.
        if (refused_ || (wanted_.empty() && subscribed_.empty())) {
            changed_.wait(lock);
            continue;
        }
        lock.unlock();
        attend();
        lock.lock();
    }
}

void listener::attend() {
    if (!subscribe()) return rest();
    const auto got = on_.hear(attention);
    if (!got) {
        tell_all(); // who knows what was missed
        return rest();
    }
    if (*got == nullptr) return;
    if (is_news(**got)) return take(**got);
    // Who may not listen is not asked again; anything else, such as a busy server, passes.
    refused_ = (*got)->is(value::type::error) && (*got)->text.starts_with("NOPERM");
    rest();
}

void listener::rest() {
    on_.close();
    subscribed_.clear();
    detail::guard lock{mutex_};
    new_wishes_ = true;
    changed_.wait_for(lock, pause, [this]() SEMEL_REQUIRES(mutex_) { return stopping_; });
}

// Brings the server's knowledge up to date.
bool listener::subscribe() {
    std::vector<std::string> more;
    std::vector<std::string> less;
    {
        const detail::guard lock{mutex_};
        if (!std::exchange(new_wishes_, false)) return true;
        for (const auto& [channel, all] : wanted_) {
            if (!subscribed_.contains(channel)) more.push_back(channel);
        }
        for (const auto& channel : subscribed_) {
            if (!wanted_.contains(channel)) less.push_back(channel);
        }
    }
    if (more.empty() && less.empty()) return true;
    if (subscribed_.empty() && !on_.ready()) return false;
    std::string requests;
    append_all(requests, "SUBSCRIBE", more);
    append_all(requests, "UNSUBSCRIBE", less);
    if (!on_.send(requests).done) return false;
    subscribed_.insert(more.begin(), more.end());
    for (const auto& one : less) subscribed_.erase(one);
    return true;
}

// A message, or the answer to a subscription: what came before it was not heard.
void listener::take(const value& message) {
    const std::string_view verb = message.items[0].text;
    if (verb == "message" || verb == "subscribe") tell(std::string{message.items[1].text});
}

void listener::tell(const std::string& channel) {
    std::vector<callback> all;
    {
        const detail::guard lock{mutex_};
        const auto at = wanted_.find(channel);
        if (at == wanted_.end()) return;
        for (const auto& [number, one] : at->second) all.push_back(one);
    }
    for (const auto& one : all) (*one)();
}

std::unique_ptr<listener> make_listener(const redis_store_options& options, link_options how) {
    if (options.wake == redis_wake::none) return nullptr;
    if (options.connections == redis_connections::one) return nullptr;
    how.counters = nullptr; // no caller waits for these answers
    return std::make_unique<listener>(std::move(how));
}

void listener::tell_all() {
    std::vector<std::string> channels;
    {
        const detail::guard lock{mutex_};
        for (const auto& [channel, all] : wanted_) channels.push_back(channel);
    }
    for (const auto& one : channels) tell(one);
}

} // namespace semel::redis
