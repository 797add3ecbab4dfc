// One thread with its own event loop. Everything that belongs to a connection happens on the worker
// it was given to, so connections need no locks.
#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>

#include <chrono>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "semel/base/mutex.hpp"
#include "semel/base/time.hpp"

namespace semel::edge {

namespace asio = boost::asio;

using clock = std::chrono::steady_clock;

// Shared by whatever may want to call back into it: an answer that comes from another thread after
// the server has gone finds a loop that no longer runs, not a dangling one.
class worker : public std::enable_shared_from_this<worker> {
public:
    // Something with deadlines. A timer for each would cost more than the requests: deadlines are
    // looked at once per tick.
    class resident {
    public:
        virtual ~resident() = default;
        // May close connections, whose handlers come later; destroys nothing itself.
        virtual void on_tick(clock::time_point now) = 0;
        // No new requests from here on.
        virtual void on_drain() = 0;
        // Since when it waits for the other end; none: it does not, or must not be disturbed.
        [[nodiscard]] virtual std::optional<clock::time_point> waits_since() const { return {}; }
        // Another one takes its place.
        virtual void give_way() {}

    private:
        friend worker;
        std::optional<std::list<std::shared_ptr<resident>>::iterator> place_ = {};
    };

    // Something that has bytes to send.
    class writer {
    public:
        virtual ~writer() = default;
        virtual void write_now() = 0;
    };

    worker() = default;
    worker(const worker&) = delete;
    worker& operator=(const worker&) = delete;

    // Not after end().
    [[nodiscard]] asio::io_context& context() { return *context_; }
    [[nodiscard]] bool is_this_thread() const { return current_ == this; }
    // Runs `what` soon; any thread. After end() it is dropped instead.
    template <class What> void post(What what) {
        const detail::guard lock{mutex_};
        if (!ended_) asio::post(*context_, std::move(what));
    }
    // At once if this is the worker's thread.
    template <class What> void run(What what) {
        if (is_this_thread()) return what();
        post(std::move(what));
    }

    // ---- on its thread
    // Keeps it until it leaves, or the worker ends.
    void enter(const std::shared_ptr<resident>& one);
    // It is destroyed later, not under the caller's feet.
    void leave(resident& one);
    void drain();
    // Ends the one that has waited longest. False: none waits.
    bool replace_one();
    // Calls it once what has arrived by now has been dealt with. The other ends are woken by a row
    // of messages then: woken by each alone, they would come between, and cost a switch each time.
    void write_soon(std::shared_ptr<writer> one);
    // For Date headers; changes once per second.
    [[nodiscard]] std::string_view date() const { return date_; }

    // ---- for its owner
    void start(duration tick);
    // Ends the thread; nothing runs any more.
    void stop();
    // Destroys whatever was still to be run. What belongs to the context must be gone.
    void end();

private:
    template <class Do> void for_each_resident(Do what);
    void tick();
    void write_all();

    static thread_local worker* current_;

    detail::mutex mutex_;
    bool ended_ SEMEL_GUARDED_BY(mutex_) = false; // the context goes after it is set
    std::optional<asio::io_context> context_{std::in_place, 1};
    std::optional<asio::executor_work_guard<asio::io_context::executor_type>> guard_{
        context_->get_executor()};
    std::optional<asio::steady_timer> ticker_{*context_};
    duration tick_ = {};
    std::list<std::shared_ptr<resident>> residents_; // shared with their handlers under way
    std::vector<std::shared_ptr<writer>> writers_, writers_now_; // shared as residents are
    std::string date_;
    std::thread thread_;
};

// The workers of one server.
class crew {
public:
    // With or without threads for run_apart: half as many as workers, and one at the least.
    enum class apart : std::uint8_t { none, threads };
    crew(unsigned threads, duration tick, apart also = apart::none);
    ~crew();
    crew(const crew&) = delete;
    crew& operator=(const crew&) = delete;

    [[nodiscard]] std::size_t size() const { return workers_.size(); }
    [[nodiscard]] worker& operator[](std::size_t index) { return *workers_[index]; }
    [[nodiscard]] worker& next() { return *workers_[turn_++ % workers_.size()]; }
    // For what would keep a worker from its other connections: on a thread that has none; any
    // thread. After stop() it is dropped instead.
    template <class What> void run_apart(What what) { asio::post(*apart_, std::move(what)); }
    // Ends all threads. The destructor also drops what was under way.
    void stop();

private:
    std::vector<std::shared_ptr<worker>> workers_; // shared with answers under way
    std::size_t turn_ = 0;
    std::optional<asio::thread_pool> apart_;
};

} // namespace semel::edge
