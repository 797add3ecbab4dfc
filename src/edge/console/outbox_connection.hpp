// One connection to the outbox: opened when it is needed, and again after a failure.
#pragma once

#include <memory>
#include <utility>

#include "semel/base/mutex.hpp"
#include "semel/outbox/table.hpp"

namespace semel::edge {

// Thread-safe. Every question blocks.
class outbox_connection {
public:
    explicit outbox_connection(outbox::table_opener open) : open_(std::move(open)) {}

    [[nodiscard]] bool exists() const { return open_ != nullptr; }

    // What `question` returns for the table. Precondition: exists().
    template <class Question>
    auto ask(const Question& question) -> decltype(question(std::declval<outbox::table&>())) {
        const detail::guard lock{mutex_};
        if (!table_) {
            auto made = open_();
            if (!made) return std::move(made).error();
            table_ = *std::move(made);
        }
        auto answer = question(*table_);
        if (!answer) table_.reset();
        return answer;
    }

private:
    const outbox::table_opener open_;
    detail::mutex mutex_;
    std::unique_ptr<outbox::table> table_ SEMEL_GUARDED_BY(mutex_);
};

} // namespace semel::edge
