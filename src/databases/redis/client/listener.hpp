// A connection that listens on the channels of records for which callers wait.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "databases/redis/client/link.hpp"
#include "semel/base/function.hpp"
#include "semel/base/mutex.hpp"
#include "semel/store.hpp"

namespace semel::redis {

// Thread-safe. Connects when a caller listens for the first time. After a loss it reconnects, and
// tells every caller that there may be news.
class listener {
public:
    explicit listener(link_options options);
    ~listener();

    [[nodiscard]] std::unique_ptr<record_watch> listen(std::string channel,
                                                       unique_function<void()> news);

private:
    class ear;
    // Shared with the listening thread, which may be calling while its ear goes.
    using callback = std::shared_ptr<unique_function<void()>>;
    using callbacks = std::map<std::uint64_t, callback>;

    void deaf(const std::string& channel, std::uint64_t number);

    // The listening thread.
    void run();
    void attend();
    void rest();
    [[nodiscard]] bool subscribe();
    void take(const value& message);
    void tell(const std::string& channel);
    void tell_all();

    // Owned by the listening thread.
    link on_;
    std::set<std::string> subscribed_; // as the server was asked
    bool refused_ = false;             // this user may not listen

    detail::mutex mutex_;
    detail::condition changed_;
    std::map<std::string, callbacks> wanted_ SEMEL_GUARDED_BY(mutex_); // by channel
    bool new_wishes_ SEMEL_GUARDED_BY(mutex_) = false; // since the server was last asked
    std::uint64_t next_ SEMEL_GUARDED_BY(mutex_) = 0;
    bool stopping_ SEMEL_GUARDED_BY(mutex_) = false;
    std::thread thread_ SEMEL_GUARDED_BY(mutex_); // from the first listen() on
};

// None where nothing is published, or where there is no connection for it.
[[nodiscard]] std::unique_ptr<listener> make_listener(const redis_store_options& options,
                                                      link_options how);

} // namespace semel::redis
