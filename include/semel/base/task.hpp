// A coroutine for code that may have to wait, written once for callers that block and for callers
// that continue later.
//
//   task<result<rows>> ask(…) { … co_await ready(…); … co_return got; }
//
// The innermost awaitable decides whether the task blocks or suspends. Name owning objects before
// they go into a co_await, and keep co_await alone on the right of "=": g++ 12 destroys some
// temporaries of a co_await expression twice.
#pragma once

#include <atomic>
#include <coroutine>
#include <cstddef>
#include <exception>
#include <optional>
#include <utility>

#include "semel/base/function.hpp"
#include "semel/base/result.hpp"

namespace semel::detail {

// Each thread keeps some freed frames for later ones: a transaction takes a dozen frames, most of
// them larger than the blocks that malloc keeps at hand. Throws std::bad_alloc.
[[nodiscard]] void* take_frame(std::size_t bytes);
void give_frame(void* at, std::size_t bytes) noexcept;

} // namespace semel::detail

namespace semel {

namespace detail {

struct any_promise {
    std::coroutine_handle<> parent = {}; // resumed at the end of this one
    std::coroutine_handle<> root = {};   // the outermost coroutine, owner of all; null: blocking

    static void* operator new(std::size_t bytes) { return take_frame(bytes); }
    static void operator delete(void* at, std::size_t bytes) { give_frame(at, bytes); }
};

// Resumes the coroutine that waits for the end, if there is one.
struct task_end {
    bool await_ready() const noexcept { return false; }
    template <class Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> of) const noexcept {
        const auto parent = of.promise().parent;
        return parent ? parent : std::noop_coroutine();
    }
    void await_resume() const noexcept {}
};

} // namespace detail

// A task starts when it is awaited. T is an object type.
template <class T> class [[nodiscard]] task {
public:
    struct promise_type : detail::any_promise {
        std::optional<T> value = {};
        std::exception_ptr thrown = {};

        task get_return_object() {
            return task{std::coroutine_handle<promise_type>::from_promise(*this)};
        }
        std::suspend_always initial_suspend() const noexcept { return {}; }
        detail::task_end final_suspend() const noexcept { return {}; }
        template <class U> void return_value(U&& from) { value.emplace(std::forward<U>(from)); }
        void unhandled_exception() { thrown = std::current_exception(); }
    };

    // A task that has ended already, with this value.
    explicit task(T&& ready) : ready_(std::move(ready)) {}

    task(task&& other) noexcept
        : ready_(std::move(other.ready_)), it_(std::exchange(other.it_, nullptr)) {}
    task& operator=(task&&) = delete;
    ~task() {
        if (it_) it_.destroy();
    }

    // Runs the task to its end and returns its value. Precondition: the task does not suspend.
    T get() && {
        if (!it_) return *std::move(ready_);
        it_.resume();
        SEMEL_ASSERT(it_.done());
        return take();
    }

    bool await_ready() const noexcept { return !it_; }
    template <class Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> parent) noexcept {
        it_.promise().parent = parent;
        it_.promise().root = parent.promise().root;
        return it_;
    }
    T await_resume() {
        if (!it_) return *std::move(ready_);
        return take();
    }

private:
    explicit task(std::coroutine_handle<promise_type> it) : it_(it) {}

    T take() {
        if (it_.promise().thrown) std::rethrow_exception(it_.promise().thrown);
        return *std::move(it_.promise().value);
    }

    std::optional<T> ready_;
    std::coroutine_handle<promise_type> it_ = {};
};

// One wait of a coroutine, kept in the coroutine's frame. Two sides use it: the coroutine, which
// suspends, and the event, which calls the resumption. The side that comes second lets the
// coroutine go on. Until both have come, the frame stays.
class handover {
public:
    // Call it at the end of await_suspend(), which returns its value.
    [[nodiscard]] bool suspends(std::coroutine_handle<> root) {
        const auto before = now_.exchange(state::waiting);
        if (before == state::dropped) root.destroy();
        return before != state::called;
    }

private:
    friend class resumption;
    enum class state : unsigned char { beginning, waiting, called, dropped };
    std::atomic<state> now_ = state::beginning;
};

// Resumes a coroutine that waits. Either call it once, when the event has come, or destroy it: that
// destroys the coroutine together with its root and all between them. Move-only.
class resumption {
public:
    using state = handover::state;
    template <class Promise>
    resumption(std::coroutine_handle<Promise> at, handover& turn)
        : turn_(&turn), at_(at), root_(at.promise().root) {
        SEMEL_ASSERT(root_); // a caller that blocks has no root, and nothing may suspend there
    }
    resumption(resumption&& other) noexcept
        : turn_(other.turn_),
          at_(std::exchange(other.at_, nullptr)),
          root_(std::exchange(other.root_, nullptr)) {}
    resumption& operator=(resumption&&) = delete;
    ~resumption() {
        if (root_ && turn_->now_.exchange(state::dropped) == state::waiting) root_.destroy();
    }
    void operator()() {
        root_ = nullptr;
        const auto at = std::exchange(at_, nullptr);
        if (turn_->now_.exchange(state::called) == state::waiting) at.resume();
    }

private:
    handover* turn_;
    std::coroutine_handle<> at_;
    std::coroutine_handle<> root_;
};

// The return type of a coroutine whose end is not awaited. It starts at once, runs to its first
// wait and goes on when that wait is over. It must not throw.
struct detached {
    struct promise_type : detail::any_promise {
        detached get_return_object() {
            root = std::coroutine_handle<promise_type>::from_promise(*this);
            return {};
        }
        std::suspend_never initial_suspend() const noexcept { return {}; }
        std::suspend_never final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        void unhandled_exception() const noexcept { std::terminate(); }
    };
};

namespace detail {

template <class T> detached driven(task<T> what, unique_function<void(T)> done) {
    T end = co_await what;
    done(std::move(end));
}

} // namespace detail

// Starts a task and calls `done` with its value. The task must not throw.
template <class T> void start(task<T> what, unique_function<void(T)> done) {
    detail::driven<T>(std::move(what), std::move(done));
}

} // namespace semel
