// A store that was open when the process forked.
#include "redis_fixture.hpp"
#include "semel/store/memory.hpp"
#include "semel/store/tiered.hpp"
#include "support/forked.hpp"

namespace semel {
namespace {

using testing::HasSubstr;
using testing_support::said_by_child;

class RedisFork : public redis_test {
protected:
    template <class T> static std::string why_of(const result<T>& got) {
        return got ? "done" : describe(got.error());
    }
};

TEST_F(RedisFork, AStoreOpenedBeforeIsRefusedInTheChild) {
    const auto mine = open();
    must_start(*mine, id_of("k"), begin_of(1));

    const auto called =
        said_by_child([&] { return why_of(mine->call(id_of("k"), commands::lookup{})); });
    const auto swept = said_by_child([&] { return why_of(mine->sweep({})); });
    const auto audited = said_by_child([&] { return why_of(mine->audit(id_of("k"))); });
    const auto searched = said_by_child([&] { return why_of(mine->search({})); });

    for (const auto& one : {called, swept, audited, searched}) {
        EXPECT_THAT(one, HasSubstr("the store was opened before fork()"));
    }
    must_start(*mine, id_of("after"), begin_of(1));
}

TEST_F(RedisFork, TheChildMayDestroyWhatItInherited) {
    auto mine = open();
    must_start(*mine, id_of("k"), begin_of(1));

    const auto child = said_by_child([&] {
        mine.reset();
        return std::string{"destroyed"};
    });

    EXPECT_EQ(child, "destroyed");
    EXPECT_TRUE(mine->call(id_of("k"), commands::lookup{}));
}

TEST_F(RedisFork, ATieredStoreIsRefusedAndMayBeDestroyedInTheChild) {
    auto mine = open_tiered_store(open_redis_front(options_).value(), open_memory_store());
    must_start(*mine, id_of("k"), begin_of(1));

    const auto child = said_by_child([&] {
        const auto said = why_of(mine->call(id_of("k"), begin_of(2)));
        mine.reset();
        return said;
    });

    EXPECT_THAT(child, HasSubstr("the store was opened before fork()"));
    EXPECT_TRUE(mine->call(id_of("k"), commands::lookup{}));
}

TEST_F(RedisFork, ALinkSaysNothingInTheChildAndIsUnharmedByItsEnd) {
    std::optional<redis::link> on{
        std::in_place,
        redis::link_options{.connect = redis::make_transport_maker(options_).value()}};
    const auto before = on->ask({"CLIENT", "ID"}).value()->integer;

    const auto child = said_by_child([&] {
        const auto said = why_of(on->ask({"PING"}));
        on.reset();
        return said;
    });

    EXPECT_THAT(child, HasSubstr("redis: the connection was opened before fork()"));
    EXPECT_EQ(on->ask({"CLIENT", "ID"}).value()->integer, before);
}

} // namespace
} // namespace semel
