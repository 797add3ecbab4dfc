// Bytes that have been read and not yet used, in one piece.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>

#include "semel/base/result.hpp"

namespace semel::edge {

// One thread at a time.
class input_buffer {
public:
    [[nodiscard]] std::string_view view() const { return {data_.get() + begin_, end_ - begin_}; }
    [[nodiscard]] std::size_t size() const { return end_ - begin_; }
    [[nodiscard]] bool empty() const { return begin_ == end_; }

    void consume(std::size_t count) {
        SEMEL_ASSERT(count <= size());
        begin_ += count;
        if (empty()) begin_ = end_ = 0;
    }

    struct space {
        char* data;
        std::size_t size;
    };
    // Room behind what is there. Views become invalid.
    [[nodiscard]] space prepare(std::size_t at_least) {
        if (capacity_ - end_ >= at_least) return {data_.get() + end_, capacity_ - end_};
        const std::size_t kept = size();
        if (capacity_ < kept + at_least) {
            const std::size_t grown = kept + at_least;
            std::unique_ptr<char[]> larger{new char[grown]}; // not set to zero: it is read into
            if (kept > 0) std::memcpy(larger.get(), data_.get() + begin_, kept);
            data_ = std::move(larger);
            capacity_ = grown;
        } else if (kept > 0) {
            std::memmove(data_.get(), data_.get() + begin_, kept);
        }
        begin_ = 0;
        end_ = kept;
        return {data_.get() + end_, capacity_ - end_};
    }
    void commit(std::size_t count) {
        SEMEL_ASSERT(count <= capacity_ - end_);
        end_ += count;
    }

    // Gives memory back where a large message has passed.
    void shrink(std::size_t above) {
        if (!empty() || capacity_ <= above) return;
        data_.reset();
        capacity_ = begin_ = end_ = 0;
    }

private:
    std::unique_ptr<char[]> data_;
    std::size_t capacity_ = 0, begin_ = 0, end_ = 0;
};

} // namespace semel::edge
