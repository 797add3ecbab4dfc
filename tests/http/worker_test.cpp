#include "edge/server/worker.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <future>

namespace semel::edge {
namespace {

class note final : public worker::writer {
public:
    explicit note(std::function<void()> what) : what_(std::move(what)) {}
    void write_now() override { what_(); }

private:
    const std::function<void()> what_;
};

class WorkerTest : public testing::Test {
protected:
    void write(const std::string& name) {
        home_->write_soon(std::make_shared<note>([this, name] { seen_ += name; }));
    }
    // What was seen until all that was posted before has been dealt with and written.
    std::string run() {
        std::promise<void> over;
        home_->post([&] { home_->write_soon(std::make_shared<note>([&] { over.set_value(); })); });
        home_->start(std::chrono::seconds{1});
        over.get_future().wait();
        home_->stop();
        home_->end();
        return seen_;
    }

    const std::shared_ptr<worker> home_ = std::make_shared<worker>();
    std::string seen_;
};

TEST_F(WorkerTest, WritesAfterAllThatHasArrivedWasDealtWith) {
    for (const char* name : {"a", "b", "c"}) {
        home_->post([this, name = std::string{name}] {
            seen_ += name;
            write(name + "!");
        });
    }

    EXPECT_EQ(run(), "abca!b!c!");
}

TEST_F(WorkerTest, WhatIsAddedWhileItWritesIsWrittenInTheNextRow) {
    home_->post([this] {
        home_->write_soon(std::make_shared<note>([this] {
            seen_ += "first";
            write(" later");
        }));
        write(" second");
    });

    run();
    EXPECT_EQ(seen_.substr(0, 12), "first second");
}

TEST_F(WorkerTest, ThatEndsDropsWhatWasToBeWritten) {
    const auto one = std::make_shared<note>([] {});
    home_->write_soon(one);
    home_->stop();
    home_->end();

    EXPECT_EQ(one.use_count(), 1);
}

} // namespace
} // namespace semel::edge
