// A mutex whose use clang checks: a member that is SEMEL_GUARDED_BY(mutex_) cannot be touched
// without mutex_, and a function that SEMEL_REQUIRES(mutex_) cannot be called without it. For other
// compilers the macros are empty. The classes are those of the standard library otherwise.
#pragma once

#include <condition_variable>
#include <mutex>
#include <utility>

#if defined(__clang__)
#define SEMEL_THREAD_ATTRIBUTE(what) __attribute__((what))
#else
#define SEMEL_THREAD_ATTRIBUTE(what)
#endif

#define SEMEL_GUARDED_BY(mutex) SEMEL_THREAD_ATTRIBUTE(guarded_by(mutex))
#define SEMEL_REQUIRES(mutex) SEMEL_THREAD_ATTRIBUTE(requires_capability(mutex))
// For code whose safety the analysis cannot see. A comment says why it is safe.
#define SEMEL_UNCHECKED_LOCKS SEMEL_THREAD_ATTRIBUTE(no_thread_safety_analysis)

namespace semel::detail {

class SEMEL_THREAD_ATTRIBUTE(capability("mutex")) mutex {
public:
    void lock() SEMEL_THREAD_ATTRIBUTE(acquire_capability()) { it_.lock(); }
    void unlock() SEMEL_THREAD_ATTRIBUTE(release_capability()) { it_.unlock(); }

private:
    friend class guard;
    std::mutex it_;
};

// Holds a mutex until the end of its scope. unlock() and lock() leave a gap in between.
class SEMEL_THREAD_ATTRIBUTE(scoped_lockable) guard {
public:
    explicit guard(mutex& of) SEMEL_THREAD_ATTRIBUTE(acquire_capability(of)) : it_(of.it_) {}
    guard(const guard&) = delete;
    guard& operator=(const guard&) = delete;
    ~guard() SEMEL_THREAD_ATTRIBUTE(release_capability()) {}

    void lock() SEMEL_THREAD_ATTRIBUTE(acquire_capability()) { it_.lock(); }
    void unlock() SEMEL_THREAD_ATTRIBUTE(release_capability()) { it_.unlock(); }

private:
    friend class condition;
    std::unique_lock<std::mutex> it_;
};

// The reverse: the mutex, which the caller holds, is free until the end of the scope.
class SEMEL_THREAD_ATTRIBUTE(scoped_lockable) gap {
public:
    explicit gap(mutex& of) SEMEL_THREAD_ATTRIBUTE(release_capability(of)) : of_(of) {
        of_.unlock();
    }
    gap(const gap&) = delete;
    gap& operator=(const gap&) = delete;
    // To the analysis, the end of a gap is its release.
    ~gap() SEMEL_THREAD_ATTRIBUTE(release_capability()) { of_.lock(); }

private:
    mutex& of_;
};

// A condition variable. A predicate that reads guarded members says SEMEL_REQUIRES, too.
class condition {
public:
    void notify_one() { it_.notify_one(); }
    void notify_all() { it_.notify_all(); }

    void wait(guard& by) { it_.wait(by.it_); }
    template <class Done> void wait(guard& by, Done done) { it_.wait(by.it_, std::move(done)); }
    template <class Time, class... Done> auto wait_for(guard& by, const Time& most, Done... done) {
        return it_.wait_for(by.it_, most, std::move(done)...);
    }
    template <class Time, class... Done> auto wait_until(guard& by, const Time& end, Done... done) {
        return it_.wait_until(by.it_, end, std::move(done)...);
    }

private:
    std::condition_variable it_;
};

} // namespace semel::detail
