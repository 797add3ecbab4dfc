#include "databases/postgres/store/statements.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "databases/postgres/client/schema.hpp"
#include "databases/postgres/transaction/transaction_texts.hpp"

namespace semel::postgres {
namespace {

const statement_texts texts{"pay_"};
const batch_statement* const every_statement[]{
    &texts.insert, &texts.insert_new, &texts.complete,  &texts.complete_there, &texts.fail,
    &texts.renew,  &texts.load,       &texts.load_rest, &texts.save,           &texts.erase};

TEST(PostgresStatements, EveryParameterIsAnArrayOfItsGroup) {
    for (const auto* one : every_statement) {
        std::size_t parameters = 0;
        for (const auto& group : one->groups) parameters += group.size();

        const std::string last = "$" + std::to_string(parameters) + "::";
        const std::string beyond = "$" + std::to_string(parameters + 1);
        EXPECT_NE(one->text.find(last), std::string::npos) << one->text;
        EXPECT_EQ(one->text.find(beyond), std::string::npos) << one->text;
    }
}

TEST(PostgresStatements, ThePrefixIsInAllOfThem) {
    for (const auto* one : every_statement) {
        EXPECT_NE(one->text.find("pay_"), std::string::npos) << one->text;
        EXPECT_EQ(one->text.find("semel_"), std::string::npos) << one->text;
    }
}

// Time is the server's, and that of the moment: now() is when the transaction began.
TEST(PostgresStatements, TimeIsReadInsideTheStatement) {
    for (const auto* one : {&texts.insert, &texts.insert_new, &texts.complete,
                            &texts.complete_there, &texts.fail, &texts.renew, &texts.load}) {
        EXPECT_NE(one->text.find("clock_timestamp()"), std::string::npos) << one->text;
        EXPECT_EQ(one->text.find("now()"), std::string::npos) << one->text;
    }
}

// Several stores, and several versions of semel, may be at work in a session, which keeps 63 bytes
// of a name.
TEST(PostgresTransactionStatements, OfTheSameNameAreTheSame) {
    std::map<std::string, std::string> known;
    std::set<std::string> texts;
    const std::string longest(32, 'p');
    ASSERT_TRUE(valid_prefix(longest) && !valid_prefix(longest + 'p'));
    for (const std::string& prefix : {std::string{"x"}, std::string{"joined_x"}, longest}) {
        const transaction_texts made{prefix};
        for (const auto& [name, text] : made.all()) {
            EXPECT_LE(name.size(), 63U) << name;
            EXPECT_EQ(known.emplace(name, text).first->second, text) << name;
            texts.insert(text);
        }
    }
    EXPECT_EQ(known.size(), texts.size());
}

} // namespace
} // namespace semel::postgres
