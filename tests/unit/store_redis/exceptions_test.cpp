// What is thrown while a batch is under way, by a stream of the user's own or for want of memory:
// every command is answered all the same, and the lane goes on.
#include <gmock/gmock.h>

#include <stdexcept>

#include "databases/redis/front/front_lane.hpp"
#include "databases/redis/store/backend.hpp"
#include "scripted_transport.hpp"
#include "support/failing_memory.hpp"

namespace semel::redis {
namespace exceptions_test {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;
using testing_support::failing_allocation;

constexpr std::string_view some_time = ":1700000000000000\r\n";

enum class where { connect, send, receive };

class throwing_transport final : public net::stream {
public:
    explicit throwing_transport(where at) : at_(at) {}

    result<std::size_t> send(std::string_view bytes, duration) override {
        if (at_ == where::send && ++calls_ > 1) throw std::runtime_error("of the user's own");
        return bytes.size();
    }
    result<std::size_t> receive(std::span<char> into, duration) override {
        if (at_ == where::receive && ++calls_ > 1) throw std::runtime_error("of the user's own");
        std::copy(hello.begin(), hello.end(), into.begin());
        return hello.size();
    }

private:
    const where at_;
    int calls_ = 0; // the first belongs to the introduction
};

transport_maker throwing_at(where at) {
    return [at]() -> result<std::unique_ptr<net::stream>> {
        if (at == where::connect) throw std::runtime_error("of the user's own");
        return std::unique_ptr<net::stream>{std::make_unique<throwing_transport>(at)};
    };
}

job job_of(std::string key, command what) {
    record_id id{"t", "o", std::move(key)};
    const auto hash = hash_of(id);
    return {.id = std::move(id), .what = std::move(what), .hash = hash};
}

std::vector<job> some_jobs() {
    std::vector<job> made;
    made.push_back(job_of("a", commands::begin{.owner = {1, 2}, .lease = seconds{30}}));
    made.push_back(job_of("b", commands::complete{.by = {.fence = 7, .owner = {1, 2}}}));
    made.push_back(job_of("c", commands::lookup{}));
    return made;
}

void execute(backend& on, std::vector<job>& jobs) {
    std::vector<job*> batch;
    for (job& one : jobs) batch.push_back(&one);
    on.execute(batch);
}

class RedisExceptions : public testing::Test {
protected:
    [[nodiscard]] backend backend_on(transport_maker connect) const {
        return {std::make_shared<shared_link>(link_options{.connect = std::move(connect)}),
                setting_, nullptr};
    }

    const task_setting setting_{.prefix = "p:"};
};

TEST_F(RedisExceptions, OfAStreamAreFailuresOfTheCommands) {
    const std::pair<where, effect> cases[]{{where::connect, effect::none},
                                           {where::send, effect::unknown},
                                           {where::receive, effect::unknown}};
    for (const auto& [at, possible] : cases) {
        backend tested = backend_on(throwing_at(at));
        auto jobs = some_jobs();

        execute(tested, jobs);

        for (const job& one : jobs) {
            ASSERT_TRUE(one.answer && !*one.answer);
            EXPECT_EQ(one.answer->error().code, errc::internal);
            EXPECT_THAT(one.answer->error().detail, HasSubstr("of the user's own"));
        }
        EXPECT_EQ(jobs[0].answer->error().possible, possible);
        EXPECT_EQ(jobs[1].answer->error().possible, possible);
        EXPECT_EQ(jobs[2].answer->error().possible, effect::none) << "a look-up changes nothing";
    }
}

TEST_F(RedisExceptions, OfConnectingAreFollowedByAPause) {
    int tries = 0;
    link on{{.connect = [&]() -> result<std::unique_ptr<net::stream>> {
        ++tries;
        throw std::runtime_error("of the user's own");
    }}};

    EXPECT_EQ(on.ready().error().code, errc::internal);
    EXPECT_EQ(on.ready().error().code, errc::internal);

    EXPECT_EQ(tries, 1);
}

TEST_F(RedisExceptions, OfEveryAllocationLeaveNoCommandUnanswered) {
    const std::string answers = std::string{hello} + "*2\r\n" + bulk("1700000000") + bulk("0") +
                                std::string{some_time} + std::string{some_time} + "$-1\r\n";
    bool failed = true;
    for (int nth = 1; failed; ++nth) {
        scripted_server server;
        const auto seen = server.connection({.answers = answers});
        backend tested = backend_on(server.maker());
        auto jobs = some_jobs();
        std::vector<job*> batch{&jobs[0], &jobs[1], &jobs[2]};

        failing_allocation = nth;
        tested.execute(batch);
        failed = std::exchange(failing_allocation, 0) == 0;

        for (const job& one : jobs) {
            ASSERT_TRUE(one.answer) << nth;
            if (*one.answer) continue;
            EXPECT_EQ(one.answer->error().code, errc::no_space) << nth;
            const auto possible = one.answer->error().possible;
            const bool writes = !std::holds_alternative<commands::lookup>(one.what);
            const bool sent = seen->sent.find("EVALSHA") != std::string::npos;
            if (writes && sent) {
                EXPECT_EQ(possible, effect::unknown) << nth;
            } else if (!writes || nth == 1) {
                EXPECT_EQ(possible, effect::none) << nth;
            }
        }
    }
}

TEST_F(RedisExceptions, OfAStreamDoNotStopAFront) {
    for (const where at : {where::connect, where::send, where::receive}) {
        front_lane lane{{.link = {.connect = throwing_at(at)}}};

        const auto first = lane.call("k", fronts::look{.token = 1, .life = seconds{30}});
        const auto second = lane.call("k", fronts::look{.token = 1, .life = seconds{30}});

        EXPECT_EQ(first.error().code, errc::internal);
        EXPECT_EQ(second.error().code, errc::internal);
    }
}

TEST_F(RedisExceptions, OfEveryAllocationDoNotStopAFront) {
    bool failed = true;
    for (int nth = 1; failed; ++nth) {
        scripted_server server;
        server.connection({.answers = std::string{hello} + ":1\r\n$-1\r\n"});
        server.connection({.answers = std::string{hello} + ":1\r\n$-1\r\n"});
        front_lane lane{{.link = {.connect = server.maker()}}};

        try {
            std::string key(100, 'k');
            failing_allocation = nth;
            static_cast<void>(lane.call(std::move(key), fronts::forget{}));
        } catch (const std::bad_alloc&) {
            // Before it was in the queue.
        }
        failed = std::exchange(failing_allocation, 0) == 0;

        // Answered, by whatever the server says now.
        static_cast<void>(lane.call("k", fronts::look{.token = 1, .life = seconds{30}}));
    }
}

} // namespace
} // namespace exceptions_test
} // namespace semel::redis
