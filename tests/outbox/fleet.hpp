// Relays as processes of their own, which can be killed, and what all of them have delivered.
#pragma once

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <new>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "semel/outbox.hpp"
#include "semel/outbox/open.hpp"
#include "semel/outbox/relay.hpp"
#include "semel/outbox/table.hpp"

namespace semel::outbox {

// Events are numbered in their payloads; number n belongs to key n % keys.
struct fleet_slot {
    std::atomic<int> deliveries = 0;
    std::atomic<int> first_by = 0; // process
    std::atomic<int> repeated_by = 0;
};

struct fleet_board {
    std::atomic<int> delivered = 0;      // different events
    std::atomic<int> order_broken = 0;   // an event before the one before it of its key
    std::atomic<int> repeated_alive = 0; // by the process itself that had delivered it
    int keys = 1;
    int size = 0;

    [[nodiscard]] fleet_slot& slot(int number) {
        return reinterpret_cast<fleet_slot*>(this + 1)[number];
    }

    void deliver(int number) {
        const int me = ::getpid();
        if (number >= keys && slot(number - keys).deliveries == 0) ++order_broken;
        int nobody = 0;
        slot(number).first_by.compare_exchange_strong(nobody, me);
        if (slot(number).deliveries++ == 0) {
            ++delivered;
        } else {
            slot(number).repeated_by = me;
        }
    }
};

// In memory that forked processes share.
class shared_board {
public:
    shared_board(int size, int keys)
        : bytes_(sizeof(fleet_board) + sizeof(fleet_slot) * static_cast<std::size_t>(size)) {
        void* const at =
            ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (at == MAP_FAILED) throw std::bad_alloc{};
        it_ = new (at) fleet_board;
        it_->keys = keys;
        it_->size = size;
        for (int i = 0; i < size; ++i) new (&it_->slot(i)) fleet_slot;
    }
    shared_board(const shared_board&) = delete;
    shared_board& operator=(const shared_board&) = delete;
    ~shared_board() { ::munmap(it_, bytes_); }

    fleet_board* operator->() { return it_; }
    fleet_board& operator*() { return *it_; }

private:
    const std::size_t bytes_;
    fleet_board* it_ = nullptr;
};

class board_sink final : public sink {
public:
    board_sink(fleet_board& board, std::chrono::microseconds each) : board_(board), each_(each) {}

    void deliver(std::span<const message> batch, order, std::span<delivery> answers) override {
        for (std::size_t i = 0; i < batch.size(); ++i) {
            if (each_.count() > 0) std::this_thread::sleep_for(each_);
            board_.deliver(std::stoi(batch[i].event.payload));
            answers[i] = {.how = delivered::yes};
        }
    }

private:
    fleet_board& board_;
    const std::chrono::microseconds each_;
};

// Call it where no thread of the test's own is running: it forks.
class fleet {
public:
    fleet(table_opener tables, fleet_board& board, relay_options options,
          std::chrono::microseconds each = {})
        : tables_(std::move(tables)), board_(board), options_(std::move(options)), each_(each) {}
    fleet(const fleet&) = delete;
    fleet& operator=(const fleet&) = delete;
    ~fleet() { end(SIGKILL); }

    void start(int count) {
        for (int i = 0; i < count; ++i) {
            const pid_t child = ::fork();
            if (child == 0) ::_exit(run());
            alive_.push_back(child);
        }
    }
    // As a crash would.
    void kill_one(std::size_t which) {
        const pid_t one = alive_[which % alive_.size()];
        ::kill(one, SIGKILL);
        ::waitpid(one, nullptr, 0);
        killed_.insert(one);
        std::erase(alive_, one);
    }
    // Number of processes that did not end well.
    int wait() {
        int wrong = 0;
        for (const pid_t one : alive_) {
            int status = 0;
            ::waitpid(one, &status, 0);
            if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) ++wrong;
        }
        alive_.clear();
        return wrong;
    }
    void end(int signal) {
        for (const pid_t one : alive_) ::kill(one, signal);
        for (const pid_t one : alive_) ::waitpid(one, nullptr, 0);
        alive_.clear();
    }
    [[nodiscard]] bool was_killed(int process) const { return killed_.contains(process); }
    [[nodiscard]] std::size_t kills() const { return killed_.size(); }

private:
    int run() {
        const auto running = open_relay(
            {tables_},
            [&]() -> result<std::unique_ptr<sink>> {
                return std::unique_ptr<sink>{std::make_unique<board_sink>(board_, each_)};
            },
            options_);
        if (!running) {
            std::fprintf(stderr, "%s\n", describe(running.error()).c_str());
            return 1;
        }
        (*running)->wait();
        return (*running)->metrics().mismatched == 0 ? 0 : 3;
    }

    const table_opener tables_;
    fleet_board& board_;
    const relay_options options_;
    const std::chrono::microseconds each_;
    std::vector<pid_t> alive_;
    std::set<pid_t> killed_;
};

} // namespace semel::outbox
