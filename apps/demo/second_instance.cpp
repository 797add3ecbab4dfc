#include "demo/second_instance.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>

#include "semel/base/result.hpp"

namespace semel::demo {

// Memory of both processes.
struct second_instance::shared_page {
    std::atomic<bool> may_end = false; // false: after a pause comes another one
    char answer[1'024] = {};

    static shared_page* make() {
        void* const memory = mmap(nullptr, sizeof(shared_page), PROT_READ | PROT_WRITE,
                                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) throw std::bad_alloc{};
        return new (memory) shared_page;
    }

    // The other threads of a process that stands still stand still, too. Between two pauses they
    // may finish what they are at.
    void stand_still() const {
        for (;;) {
            raise(SIGSTOP);
            if (may_end) return;
            std::this_thread::sleep_for(std::chrono::milliseconds{2});
        }
    }
};

second_instance::second_instance(const std::function<std::string(const pause&)>& serve)
    : page_(shared_page::make()), id_(fork()) {
    if (id_ < 0) throw std::system_error(errno, std::generic_category(), "fork");
    if (id_ == 0) run_as_child(serve);
    wait_for_pause();
}

void second_instance::run_as_child(const std::function<std::string(const pause&)>& serve) const {
    try {
        prctl(PR_SET_PDEATHSIG, SIGKILL); // ends with the demo
        raise(SIGSTOP);
        const std::string answer = serve([this] { page_->stand_still(); });
        answer.copy(page_->answer, sizeof page_->answer - 1);
        std::_Exit(0);
    } catch (...) {
        std::_Exit(1);
    }
}

second_instance::~second_instance() {
    if (id_ > 0) kill();
    munmap(page_, sizeof(shared_page));
}

void second_instance::run_to_pause() {
    ::kill(id_, SIGCONT);
    wait_for_pause();
}

void second_instance::wait_for_pause() {
    int status = 0;
    if (waitpid(id_, &status, WUNTRACED) != id_ || !WIFSTOPPED(status)) lose();
}

std::string second_instance::run_to_end() {
    page_->may_end = true;
    ::kill(id_, SIGCONT);
    int status = 0;
    if (waitpid(id_, &status, 0) != id_ || status != 0) lose();
    id_ = -1; // the number may belong to another process by now
    return page_->answer;
}

void second_instance::kill() {
    SEMEL_ASSERT(id_ > 0); // -1 means all processes
    ::kill(id_, SIGKILL);
    waitpid(id_, nullptr, 0);
    id_ = -1;
}

void second_instance::lose() {
    id_ = -1;
    throw std::runtime_error{"the second instance ended early"};
}

} // namespace semel::demo
