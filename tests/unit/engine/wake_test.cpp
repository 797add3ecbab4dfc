// A store that hears of changes made elsewhere spares its waiters the rest of their pause.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "semel/engine.hpp"
#include "semel/store/memory.hpp"
#include "support/manual_runtime.hpp"

namespace semel {
namespace wake_test {
namespace {

using namespace std::chrono_literals;

// What the test and the engine's store have in common.
struct hearsay {
    std::unique_ptr<store> records = open_memory_store({});
    std::vector<std::shared_ptr<unique_function<void()>>> listening = {};
    int watches = 0; // that are there now
    int begins = 0;
    std::function<void()> on_begin = {};
};

class hearing_store final : public store {
public:
    explicit hearing_store(hearsay& in) : in_(in) {}

    void submit(envelope what, completion done) override {
        const bool begins = std::holds_alternative<commands::begin>(what.what);
        in_.begins += begins ? 1 : 0;
        auto got = in_.records->call(what.id, std::move(what.what), what.now);
        if (begins && in_.on_begin) in_.on_begin();
        done(std::move(got));
    }
    result<sweep_report> sweep(const sweep_request& what) override {
        return in_.records->sweep(what);
    }
    result<std::vector<audit_entry>> audit(const record_id& id) override {
        return in_.records->audit(id);
    }
    result<record_page> search(const record_query& query) override {
        return in_.records->search(query);
    }
    [[nodiscard]] store_traits traits() const override { return in_.records->traits(); }

    std::unique_ptr<record_watch> watch(const record_id&, unique_function<void()> news) override {
        in_.listening.push_back(std::make_shared<unique_function<void()>>(std::move(news)));
        return std::make_unique<ear>(in_);
    }

private:
    struct ear final : record_watch {
        explicit ear(hearsay& of) : in(of) { ++in.watches; }
        ~ear() override { --in.watches; }
        hearsay& in;
    };

    hearsay& in_;
};

class EngineWake : public testing::Test {
protected:
    EngineWake() {
        engine_options options{.log = null_logger()};
        options.runtime = runtime_;
        engine_.emplace(std::make_unique<hearing_store>(in_), operation_policy{},
                        std::move(options));
    }

    ~EngineWake() override { runtime_->drop_timers(); }

    void begin_elsewhere() {
        const auto got =
            in_.records->call(id_, commands::begin{.owner = {.high = 9}, .lease = 30s});
        elsewhere_ = std::get<answers::started>(got.value().said).by;
    }
    void complete_elsewhere() {
        stored_result result{.body = "theirs"};
        seal(result);
        in_.records
            ->call(id_, commands::complete{.by = elsewhere_, .result = result, .retention = 1h})
            .value();
    }
    void start_waiting() {
        (void)engine_->start(
            {.tenant = id_.tenant, .operation = id_.operation, .key = id_.key},
            [](execution&, unique_function<void(work_end)>) { ADD_FAILURE() << "twice"; },
            [this](raw_outcome out) { got_ = std::move(out); });
        runtime_->run_posted();
    }
    void tell_news() {
        for (const auto& one : in_.listening) (*one)();
        runtime_->run_posted();
    }

    const record_id id_{.tenant = "acme", .operation = "ORDER_CREATE", .key = "k"};
    hearsay in_;
    claim elsewhere_ = {};
    std::optional<raw_outcome> got_;
    const std::shared_ptr<support::manual_runtime> runtime_ =
        std::make_shared<support::manual_runtime>();
    std::optional<engine> engine_;
};

TEST_F(EngineWake, NewsEndThePauseBetweenTwoPolls) {
    begin_elsewhere();
    start_waiting();
    ASSERT_EQ(in_.watches, 1);
    complete_elsewhere();
    EXPECT_FALSE(got_) << "no time has passed";

    tell_news();

    ASSERT_TRUE(got_);
    EXPECT_EQ(got_->kind, outcome_kind::replayed);
    EXPECT_EQ(got_->result.body, "theirs");
    EXPECT_EQ(in_.watches, 0);
}

TEST_F(EngineWake, NewsForNothingCostOneQuestion) {
    begin_elsewhere();
    start_waiting();
    ASSERT_EQ(in_.begins, 1);

    tell_news();

    EXPECT_EQ(in_.begins, 2);
    EXPECT_FALSE(got_);
    EXPECT_EQ(in_.watches, 1);
    complete_elsewhere();
    runtime_->pass(1s);
    EXPECT_TRUE(got_) << "polling goes on";
}

// They come while the store has the question, whose answer is older.
TEST_F(EngineWake, NewsDuringAQuestionAreNotForgotten) {
    begin_elsewhere();
    start_waiting();
    in_.on_begin = [this] {
        in_.on_begin = {};
        complete_elsewhere();
        for (const auto& one : in_.listening) (*one)();
        runtime_->run_posted();
    };

    tell_news();

    ASSERT_TRUE(got_);
    EXPECT_EQ(got_->result.body, "theirs");
}

TEST_F(EngineWake, NewsAfterTheAnswerAreHeardByNobody) {
    begin_elsewhere();
    start_waiting();
    complete_elsewhere();
    tell_news();
    const int begins = in_.begins;

    tell_news();

    EXPECT_EQ(in_.begins, begins);
}

TEST_F(EngineWake, NobodyListensToAFinishedRecord) {
    begin_elsewhere();
    complete_elsewhere();

    start_waiting();

    ASSERT_TRUE(got_);
    EXPECT_TRUE(in_.listening.empty());
}

} // namespace
} // namespace wake_test
} // namespace semel
