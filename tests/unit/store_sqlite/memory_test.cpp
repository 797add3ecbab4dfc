// Memory that runs out once, at every step of a batch.
#include <vector>

#include "databases/sqlite/store/backend.hpp"
#include "sqlite_fixture.hpp"
#include "support/failing_memory.hpp"

namespace semel::sqlite {
namespace {

using testing_support::failing_allocation;

job job_of(std::size_t number, command what) {
    record_id id{.tenant = "t", .operation = "o", .key = std::to_string(number)};
    const auto hash = hash_of(id);
    return {.id = std::move(id), .what = std::move(what), .hash = hash};
}

class SqliteMemory : public sqlite_test {
protected:
    enum class end { as_usual, by_exception };

    end execute(std::vector<job>& jobs, int failing = 0) {
        std::vector<job*> batch;
        for (job& one : jobs) batch.push_back(&one);
        failing_allocation = failing;
        auto seen = end::as_usual;
        try {
            on_->execute(batch);
        } catch (const std::bad_alloc&) {
            seen = end::by_exception;
        }
        failing_allocation = 0;
        return seen;
    }

    void make_finished(std::size_t number) {
        std::vector<job> begun{job_of(number, commands::begin{.lease = std::chrono::hours{1}})};
        execute(begun);
        commands::complete done{.by = std::get<answers::started>(begun[0].answer->value().said).by,
                                .retention = std::chrono::hours{1}};
        done.result.body.assign(1'000, 'x');
        std::vector<job> ended{job_of(number, std::move(done))};
        execute(ended);
    }

    // Mostly repeats, which are looked for before the write lock is asked for, and a new one.
    static std::vector<job> begins(std::size_t fresh) {
        std::vector<job> made;
        for (const std::size_t number : {std::size_t{1}, std::size_t{2}, fresh}) {
            made.push_back(job_of(number, commands::begin{.lease = std::chrono::hours{1}}));
        }
        return made;
    }

private:
    write_gate gate_;
    const std::unique_ptr<backend> on_ = backend::open({.path = path()}, gate_, 1 << 20).value();
};

TEST_F(SqliteMemory, BatchThatRanOutOfItLeavesNothingBehind) {
    make_finished(1);
    make_finished(2);
    int exceptions = 0;
    for (int step = 1; step <= 50; ++step) {
        auto first = begins(static_cast<std::size_t>(10 + step));

        const bool thrown = execute(first, step) == end::by_exception;

        exceptions += thrown ? 1 : 0;
        for (const job& one : first) EXPECT_EQ(one.answer.has_value(), !thrown);
        auto next = begins(static_cast<std::size_t>(10 + step));
        ASSERT_EQ(execute(next), end::as_usual);
        for (const job& one : next) EXPECT_TRUE(one.answer && *one.answer) << step;
    }
    EXPECT_GT(exceptions, 0);
}

} // namespace
} // namespace semel::sqlite
