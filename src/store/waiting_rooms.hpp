// Where the blocking callers of a lane sleep until their batch is answered.
//
// Callers that will most likely be answered together sleep on one word. So one system call wakes
// all of them, and does not interrupt the waking thread for each. Wake-ups may be spurious:
// sleepers check again.
//
// A futex of our own: std::atomic::wait yields the processor several times before it sleeps, which
// with many callers costs more than the batches they wait for.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>

namespace semel {

// Thread-safe.
class waiting_room {
public:
    [[nodiscard]] int ticket() const { return word_.load(); }
    // Returns when the room has been woken after that ticket was taken. May return earlier.
    void sleep(int ticket);
    void wake_one();
    void wake_all();

private:
    void wake(int how_many);

    std::atomic<int> word_ = 0;
    std::atomic<int> sleepers_ = 0; // or about to sleep: none spares a system call
};

// Wakes the callers of an answered batch, each room once where neighbours sit together.
class room_waker {
public:
    room_waker() = default;
    room_waker(const room_waker&) = delete;
    room_waker& operator=(const room_waker&) = delete;
    ~room_waker() { go_on_to(nullptr); }

    // Call it before answering a caller that sleeps in `next` (null: in no room). Wakes the room of
    // the callers before.
    void go_on_to(waiting_room* next) {
        if (last_ != nullptr && last_ != next) last_->wake_all();
        last_ = next;
    }

private:
    waiting_room* last_ = nullptr;
};

// The rooms of one lane, used in turn. If more callers wait than there are seats, some are woken
// too early and sleep again.
class waiting_rooms {
public:
    explicit waiting_rooms(std::size_t seats) : seats_(seats) {}

    // The two are called under the lane's mutex.
    [[nodiscard]] waiting_room& seat();
    void next(); // a batch was taken: who comes now will be in another one

private:
    const std::size_t seats_; // per room, as many as a batch has
    std::array<waiting_room, 16> rooms_;
    std::size_t open_ = 0;
    std::size_t taken_ = 0; // seats of the open one
};

} // namespace semel
