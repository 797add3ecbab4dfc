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
    void write_last() {
        home_->write_soon(std::make_shared<note>([this] { over_.set_value(); }));
    }
    // What was seen until the last was written.
    std::string run() {
        home_->start(std::chrono::seconds{1});
        over_.get_future().wait();
        home_->stop();
        home_->end();
        return seen_;
    }

    const std::shared_ptr<worker> home_ = std::make_shared<worker>();
    std::string seen_;
    std::promise<void> over_;
};

TEST_F(WorkerTest, WritesAfterAllThatHasArrivedWasDealtWith) {
    for (const char* name : {"a", "b", "c"}) {
        home_->post([this, name = std::string{name}] {
            seen_ += name;
            write(name + "!");
        });
    }
    home_->post([this] { write_last(); });

    EXPECT_EQ(run(), "abca!b!c!");
}

TEST_F(WorkerTest, WhatIsAddedWhileItWritesIsWrittenInTheNextRow) {
    home_->post([this] {
        home_->write_soon(std::make_shared<note>([this] {
            seen_ += "first";
            home_->post([this] { seen_ += " arrived"; });
            write(" later");
            write_last();
        }));
        write(" second");
    });

    EXPECT_EQ(run(), "first second arrived later");
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
