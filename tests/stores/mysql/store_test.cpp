// What only this store does; everything else is in the conformance suite.
#include "mysql_fixture.hpp"

namespace semel {
namespace {

class MysqlStore : public mysql_test {
protected:
    std::string column(const std::string& name) {
        return sql("SELECT " + name + " FROM " + record_table());
    }
};

TEST_F(MysqlStore, AKeyThatDoesNotFitIsRefusedAndNeverCutShort) {
    const auto store = open();

    const auto longest = store->call(id_of(std::string(1'024, 'k')), begin_by(anna));
    const auto longer = store->call(id_of(std::string(1'025, 'k')), begin_by(bert));

    (void)said<answers::started>(longest);
    EXPECT_EQ(why(longer).code, errc::limit_exceeded);
    EXPECT_EQ(why(longer).possible, effect::none);
    EXPECT_EQ(sql("SELECT COUNT(*) FROM " + record_table()), "1");
}

TEST_F(MysqlStore, BytesThatMeanSomethingToSqlAreOnlyBytes) {
    const auto store = open();
    const std::string odd{"'\\\"`;--\0\n\x1a%_\xff\x27", 15};
    const auto by = said<answers::started>(store->call(id_of(odd), begin_by(anna))).by;
    (void)said<answers::stored>(store->call(id_of(odd), complete_with(by, odd)));

    EXPECT_EQ(said<answers::replay>(store->call(id_of(odd), begin_by(bert))).result.body, odd);
    EXPECT_EQ(column("`key`"), odd);
}

} // namespace
} // namespace semel
