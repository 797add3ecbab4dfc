// What becomes of an engine when its process forks. The child has its memory and not its threads.
#include <algorithm>
#include <array>

#include <gmock/gmock.h>

#include "engine_fixture.hpp"
#include "support/forked.hpp"

namespace semel::tests {
namespace {

using testing::HasSubstr;
using testing_support::said_by_child;

class Fork : public engine_test, public testing::WithParamInterface<const char*> {
protected:
    engine& parent() { return make(GetParam()); }
};

std::string why_of(const raw_outcome& got) {
    return got.why ? describe(*got.why) : "no reason";
}

template <class T> std::string why_of(const outcome<T>& got) {
    return got.why() ? describe(*got.why()) : "no reason";
}

TEST_P(Fork, EveryCallIsRefusedInTheChildAndNothingIsRun) {
    engine& it = parent();
    ASSERT_EQ(it.execute<std::string>(order("before"), [] { return "kept"; }).value(), "kept");

    const auto executed = said_by_child(
        [&] { return why_of(it.execute<std::string>(order("k"), [] { return "run"; })); });
    const auto replayed = said_by_child(
        [&] { return why_of(it.execute<std::string>(order("before"), [] { return "run"; })); });
    const auto started = said_by_child([&] {
        std::string said = "not told";
        (void)it.start(
            order("k"), [](execution&, auto) {}, [&](raw_outcome got) { said = why_of(got); });
        return said;
    });
    const auto batched = said_by_child([&] {
        bool ran = false;
        const auto got = it.consume_batch(order(""), {{.key = "k"}},
                                          [&](std::size_t, execution&) { ran = true; });
        return std::string{!ran && got.at(0) == consumed::unavailable ? "unavailable" : "run"};
    });

    for (const auto& one : {executed, replayed, started}) {
        EXPECT_THAT(one, HasSubstr("unsupported"));
        EXPECT_THAT(one, HasSubstr("the engine was opened before fork()"));
    }
    EXPECT_EQ(batched, "unavailable");
    EXPECT_EQ(it.execute<std::string>(order("k"), [] { return "by the parent"; }).value(),
              "by the parent");
}

TEST_P(Fork, TheChildMayDestroyWhatItInherited) {
    engine& it = parent();
    ASSERT_EQ(it.execute<std::string>(order("before"), [] { return "kept"; }).value(), "kept");

    const auto child = said_by_child([&] {
        engine_.reset();
        return std::string{"destroyed"};
    });

    EXPECT_EQ(child, "destroyed");
    EXPECT_EQ(it.execute<std::string>(order("before"), never).value(), "kept");
}

TEST_P(Fork, TheChildMayOpenAnotherEngine) {
    parent();

    const auto child = said_by_child([&] {
        engine own{open_memory_store(), {}, {.log = null_logger()}};
        return own.execute<std::string>(order("k"), [] { return "run by the child"; }).value();
    });

    EXPECT_EQ(child, "run by the child");
}

TEST_P(Fork, AChildThatReturnsFromTheWorkStoresNothing) {
    engine& it = parent();
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe(ends.data()), 0);
    pid_t forked = -1;

    const auto got = it.execute<std::string>(order("k"), [&]() -> std::string {
        forked = ::fork();
        if (forked == 0) ::alarm(60);
        return forked == 0 ? "by the child" : "by the parent";
    });
    if (forked == 0) {
        const std::string said = why_of(got);
        (void)!::write(ends[1], said.data(), said.size());
        ::_exit(0);
    }
    ::close(ends[1]);
    std::string child(512, '\0');
    child.resize(static_cast<std::size_t>(
        std::max<ssize_t>(0, ::read(ends[0], child.data(), child.size()))));
    ::close(ends[0]);
    ::waitpid(forked, nullptr, 0);

    EXPECT_EQ(got.value(), "by the parent");
    EXPECT_THAT(child, HasSubstr("before fork()"));
    EXPECT_EQ(it.execute<std::string>(order("k"), never).value(), "by the parent");
}

INSTANTIATE_TEST_SUITE_P(Stores, Fork, testing::Values("memory", "sqlite"),
                         [](const auto& of) { return std::string{of.param}; });

} // namespace
} // namespace semel::tests
