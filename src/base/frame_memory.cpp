#include "semel/base/task.hpp"

#include <array>
#include <new>
#include <utility>

namespace semel::detail {

namespace {

// Sanitizers are to see each frame come and go.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool keeps = false;
#else
constexpr bool keeps = true;
#endif

constexpr std::size_t step = 128;
constexpr std::size_t largest = 4096;
constexpr std::size_t most = 64; // of each size

// Free frames, one below the other.
class pile {
public:
    [[nodiscard]] void* take() noexcept {
        if (top_ == nullptr) return nullptr;
        --height_;
        return std::exchange(top_, top_->below);
    }
    [[nodiscard]] bool put(void* at) noexcept {
        if (height_ == most) return false;
        top_ = ::new (at) frame{top_};
        ++height_;
        return true;
    }

private:
    struct frame {
        frame* below;
    };
    frame* top_ = nullptr;
    std::size_t height_ = 0;
};

// Outlives the piles: other things of a thread may end coroutines when they end.
thread_local bool over = false;

struct piles {
    piles() = default;
    piles(const piles&) = delete;
    piles& operator=(const piles&) = delete;
    ~piles() {
        over = true;
        for (auto& one : of) {
            while (void* const at = one.take()) ::operator delete(at);
        }
    }
    std::array<pile, largest / step> of;
};

// None: this size is not kept, or nothing is any more.
pile* pile_for(std::size_t bytes) noexcept {
    if (!keeps || bytes == 0 || bytes > largest || over) return nullptr;
    thread_local piles mine;
    return &mine.of[(bytes - 1) / step];
}

constexpr std::size_t rounded(std::size_t bytes) noexcept {
    return (bytes + step - 1) / step * step;
}

} // namespace

void* take_frame(std::size_t bytes) {
    if (pile* const kept = pile_for(bytes)) {
        if (void* const at = kept->take()) return at;
    }
    return ::operator new(rounded(bytes));
}

void give_frame(void* at, std::size_t bytes) noexcept {
    pile* const kept = pile_for(bytes);
    if (kept == nullptr || !kept->put(at)) ::operator delete(at);
}

} // namespace semel::detail
