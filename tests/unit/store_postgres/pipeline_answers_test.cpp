// Whose failure is whose, in a pipeline that up to three parties have filled.
#include "databases/postgres/client/pipeline_answers.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace semel::postgres {
namespace {

// One letter for each answer: d done, C COMMIT, R ROLLBACK (also of a COMMIT), - skipped, and a
// failure by any digit, which is its SQLSTATE.
pipeline_answers answers(std::string_view text, std::size_t behind) {
    pipeline_answers made{behind};
    for (const char one : text) {
        if (one == 'd') {
            made.add_done("INSERT 0 1");
        } else if (one == 'C') {
            made.add_done("COMMIT");
        } else if (one == 'R') {
            made.add_done("ROLLBACK");
        } else if (one == '-') {
            made.add_skipped();
        } else {
            made.add_failed({.state = std::string{one}});
        }
    }
    return made;
}

// "kept state[w: of the work][l: of the last statement] [next state]"
std::string text(const pipeline_answers::meaning& of) {
    std::string made = std::to_string(of.kept);
    if (of.why) {
        made += " " + of.why->state + (of.why->of_work ? "w" : "") + (of.why->of_last ? "l" : "");
    }
    if (of.next_began) made += of.next_why ? " next " + of.next_why->state : " next";
    return made;
}

struct expectation {
    std::string_view answers;
    std::size_t sent = 0;
    std::size_t behind = 0;
    std::string_view meaning;
};

TEST(PipelineAnswers, SayWhatBecameOfEachParty) {
    const std::vector<expectation> table{
        // A pipeline of the driver alone: record and COMMIT.
        {"dC", 2, 0, "2"},
        {"d", 1, 0, "1"},
        {"1-", 2, 0, "0 1"},
        {"d1", 2, 0, "1 1l"}, // at COMMIT itself
        {"dR", 2, 0, "2"},    // the tag says that nothing was kept; there is no error
        // The application has queued statements before.
        {"dddC", 2, 0, "4"},
        {"1--", 2, 0, "0 1w"},
        {"d1--", 2, 0, "1 1w"},
        {"dd1-", 2, 0, "2 1"},
        {"---", 2, 0, "0 25P02w"}, // the application has read what failed
        // It has rolled back to a savepoint behind what failed.
        {"1-ddC", 2, 0, "3"},
        {"1-d2-", 2, 0, "1 1w"},
        // The next transaction travels behind: BEGIN and its look-up.
        {"dCdd", 4, 2, "2 next"},
        {"dC1-", 4, 2, "2 next 1"},
        {"dCd1", 4, 2, "2 next 1"},
        {"1-----", 4, 2, "0 1w"},
        {"1---", 4, 2, "0 1"},
        {"d1--", 4, 2, "1 1l"}, // COMMIT fails, and the server skips the rest up to the sync
        {"dRdd", 4, 2, "2 next"},
        {"Rdd", 3, 2, "1 next"},
        {"R1-", 3, 2, "1 next 1"},
        {"1-dCdd", 4, 2, "2 next"},
        {"1-dC2-", 4, 2, "2 next 2"},
        {"1-dR2-", 4, 2, "2 1w next 2"},
        // A COMMIT of the application's own is not the end of ours.
        {"CddC", 2, 0, "4"},
        {"C1--", 2, 0, "1 1w"},
        {"C1-", 2, 0, "1 1"},
    };
    for (const auto& one : table) {
        EXPECT_EQ(text(answers(one.answers, one.behind).at_end(one.sent)), one.meaning)
            << one.answers << ", sent " << one.sent << ", behind " << one.behind;
    }
}

TEST(PipelineAnswers, ThatAreCutOffBlameTheFirstFailure) {
    EXPECT_FALSE(answers("dd", 0).cut_off(2));
    EXPECT_EQ(answers("d1-", 0).cut_off(3)->state, "1");
    EXPECT_FALSE(answers("d1-", 0).cut_off(3)->of_work);
    EXPECT_TRUE(answers("1---", 0).cut_off(3)->of_work);
    EXPECT_FALSE(answers("d1", 0).cut_off(3)->of_last);
}

} // namespace
} // namespace semel::postgres
