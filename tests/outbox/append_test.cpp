#include <gmock/gmock.h>

#include "outbox/places.hpp"
#include "semel/databases/mysql/transaction.hpp"
#include "semel/databases/postgres/transaction.hpp"
#include "semel/databases/sqlite/transaction.hpp"
#include "semel/engine.hpp"
#include "semel/ids.hpp"

namespace semel::outbox {
namespace {

using testing::HasSubstr;

class OutboxAppend : public testing::TestWithParam<const char*> {
protected:
    result<std::string> try_append(event what, const append_options& options = {}) {
        at_->sql(at_->begin_text());
        auto got = appender{options}.append(at_->tx(), std::move(what));
        at_->sql(got ? "COMMIT" : "ROLLBACK");
        return got;
    }
    std::vector<row_view> rows() { return at_->open()->list({}).value(); }

    const std::unique_ptr<place> at_ = make_place(GetParam());
};

INSTANTIATE_TEST_SUITE_P(All, OutboxAppend,
                         testing::Values("postgres", "mariadb", "mysql", "sqlite"));

TEST_P(OutboxAppend, KeepsEveryPartOfAnEvent) {
    const std::string bytes{"\0\xff'\\\n", 5};
    const event what{.topic = "orders.created",
                     .key = bytes,
                     .payload = bytes + "payload",
                     .headers = {{"content-type", "text/plain"}, {"x", "a: b"}}};

    const std::string id = try_append(what).value();

    const auto found = rows();
    ASSERT_EQ(found.size(), 1U);
    EXPECT_TRUE(ulid::parse(id));
    EXPECT_EQ(found[0].it.event.id, id);
    EXPECT_EQ(found[0].it.event.topic, what.topic);
    EXPECT_EQ(found[0].it.event.key, what.key);
    EXPECT_EQ(found[0].it.event.payload, what.payload);
    EXPECT_EQ(found[0].it.event.headers, what.headers);
    EXPECT_EQ(found[0].it.shard, shard_of(what.key, 16));
    EXPECT_EQ(found[0].status, row_status::pending);
    EXPECT_EQ(found[0].it.attempts, 0);
}

TEST_P(OutboxAppend, AnEventWithoutAKeyHasItsOwnId) {
    const std::string id = try_append({.topic = "t"}).value();

    EXPECT_EQ(rows().at(0).it.event.key, id);
}

TEST_P(OutboxAppend, AddsWhatItCameFromUnlessTheEventSaysSo) {
    at_->sql(at_->begin_text());
    const origin from{.idempotency_key = "order-1", .traceparent = "00-abc", .tracestate = "v=1"};
    appender{}.append(at_->tx(), {.topic = "a"}, from).value();
    appender{}
        .append(at_->tx(), {.topic = "b", .headers = {{"Idempotency-Key", "mine"}}}, from)
        .value();
    at_->sql("COMMIT");

    const auto found = rows();
    const std::vector<event_header> added{
        {"idempotency-key", "order-1"}, {"traceparent", "00-abc"}, {"tracestate", "v=1"}};
    EXPECT_EQ(found.at(0).it.event.headers, added);
    EXPECT_EQ(found.at(1).it.event.headers.at(0).value, "mine");
    EXPECT_EQ(found.at(1).it.event.headers.size(), 3U);
    EXPECT_THAT(at_->sql("SELECT trace_context FROM " + at_->table_name() + " WHERE topic = 'a'"),
                testing::AnyOf(HasSubstr("traceparent: 00-abc"), HasSubstr("\\x7472616365")));
}

TEST_P(OutboxAppend, WhatIsRolledBackIsGone) {
    at_->sql(at_->begin_text());
    appender{}.append(at_->tx(), event{.topic = "t"}).value();
    at_->sql("ROLLBACK");

    EXPECT_EQ(at_->count(), "0");
}

TEST_P(OutboxAppend, RefusesToAppendOutsideOfATransaction) {
    const auto got = appender{}.append(at_->tx(), event{.topic = "t"});

    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().code, errc::invalid_argument);
    EXPECT_THAT(got.error().detail, HasSubstr("in a transaction"));
    EXPECT_EQ(at_->count(), "0");
}

class OutboxMysql : public testing::TestWithParam<testing_support::mysql_kind> {
protected:
    mysql_place at_{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(All, OutboxMysql,
                         testing::Values(testing_support::mysql_kind::mariadb,
                                         testing_support::mysql_kind::mysql),
                         name_of_server);

// As a deadlock does: the server has rolled back and said no more than that there was an error.
TEST_P(OutboxMysql, RefusesToAppendToATransactionThatAnErrorHasEnded) {
    const std::string procedure = at_.prefix() + "fail";
    at_.sql("CREATE PROCEDURE " + procedure + "() BEGIN ROLLBACK; SELECT no FROM nowhere; END");
    at_.sql("BEGIN");
    EXPECT_THROW(at_.sql("CALL " + procedure + "()"), std::runtime_error);

    const auto got = appender{}.append(at_.tx(), event{.topic = "t"});
    at_.sql("ROLLBACK");
    at_.sql("DROP PROCEDURE " + procedure);

    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().code, errc::invalid_argument);
    EXPECT_THAT(got.error().detail, HasSubstr("begin again"));
    EXPECT_EQ(at_.count(), "0");
}

TEST_P(OutboxMysql, WithoutAutocommitEveryAppendIsInATransaction) {
    at_.sql("SET autocommit = 0");

    appender{}.append(at_.tx(), event{.topic = "t"}).value();
    at_.sql("ROLLBACK");
    EXPECT_EQ(at_.count(), "0");
    appender{}.append(at_.tx(), event{.topic = "t"}).value();
    at_.sql("COMMIT");

    EXPECT_EQ(at_.count(), "1");
}

TEST_P(OutboxAppend, NamesTheLimitAndLeavesTheTransactionAlone) {
    struct {
        event what;
        errc code;
        const char* says;
    } const all[]{
        {{.topic = std::string(256, 't')}, errc::limit_exceeded, "topic"},
        {{.topic = ""}, errc::invalid_argument, "topic"},
        {{.topic = "a b"}, errc::invalid_argument, "topic"},
        {{.topic = "t", .key = std::string(256, 'k')}, errc::limit_exceeded, "message key"},
        {{.topic = "t", .payload = std::string(2'000'000, 'p')}, errc::limit_exceeded, "payload"},
        {{.id = "x", .topic = "t"}, errc::invalid_argument, "ULID"},
        {{.topic = "t", .headers = {{"a\n", "b"}}}, errc::invalid_argument, "header"},
        {{.topic = "t", .headers = {{"a", "b\r\n"}}}, errc::invalid_argument, "header"},
        {{.topic = "t", .headers = {{"a", std::string(20'000, 'b')}}},
         errc::limit_exceeded,
         "headers"},
    };
    at_->sql(at_->begin_text());
    for (const auto& one : all) {
        const auto got = appender{}.append(at_->tx(), one.what);
        ASSERT_FALSE(got) << one.says;
        EXPECT_EQ(got.error().code, one.code) << one.says;
        EXPECT_THAT(got.error().detail, HasSubstr(one.says));
    }
    appender{}.append(at_->tx(), event{.topic = "t"}).value();
    at_->sql("COMMIT");

    EXPECT_EQ(at_->count(), "1");
}

TEST_P(OutboxAppend, ABatchIsAllOrNothingAndKeepsItsOrder) {
    std::vector<event> all;
    for (int i = 0; i < 1'000; ++i) all.push_back({.topic = "t", .payload = std::to_string(i)});
    const auto ids = at_->append(all);
    all[500].topic = "";
    at_->sql(at_->begin_text());
    const auto refused = appender{}.append(at_->tx(), all);
    at_->sql("COMMIT");

    EXPECT_FALSE(refused);
    EXPECT_EQ(at_->count(), "1000");
    const auto found = at_->open()->list({.rows_max = 1'000}).value();
    for (std::size_t i = 0; i < found.size(); ++i) {
        EXPECT_EQ(found[i].it.event.payload, std::to_string(i));
        EXPECT_EQ(found[i].it.event.id, ids[i]);
    }
}

TEST(OutboxShard, IsTheSameInEveryVersion) {
    EXPECT_EQ(shard_of("order-1", 16), 6);
    EXPECT_EQ(shard_of("order-2", 16), 10);
    EXPECT_EQ(shard_of("", 16), 2);
    EXPECT_EQ(shard_of("order-1", 1), 0);
}

TEST(OutboxShard, SpreadsKeysEvenly) {
    std::vector<int> counts(16);
    for (int i = 0; i < 16'000; ++i) {
        ++counts[static_cast<std::size_t>(shard_of("key-" + std::to_string(i), 16))];
    }
    for (const int one : counts) EXPECT_NEAR(one, 1'000, 200);
}

// The record, the rows and the event: all or none, and once.
TEST(OutboxTransact, AnEventIsCommittedOnceWithItsRecord) {
    postgres_place at;
    testing_support::postgres_client client;
    postgres_writer tx{client.native(), at.prefix()};
    postgres_transaction here{client.native(), {.table_prefix = at.prefix()}};
    engine with{semel::open_store(at.url()).value()};
    const request asked{.tenant = "acme", .operation = "ORDER", .key = "order-7"};
    bool fails = true;
    const auto order = [&] {
        return with.transact<std::string>(here, asked, [&](execution& run) {
            appender{}.append(tx, event{.topic = "orders"}, origin_of(run, "00-trace")).value();
            if (fails) throw std::runtime_error{"no"};
            return std::string{"made"};
        });
    };

    EXPECT_THROW((void)order().value(), std::runtime_error);
    EXPECT_EQ(at.count(), "0");
    fails = false;
    EXPECT_TRUE(order().executed());
    EXPECT_TRUE(order().replayed());

    const auto rows = at.open()->list({}).value();
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_EQ(rows[0].it.event.headers.at(0).value, "order-7");
    EXPECT_EQ(rows[0].it.event.headers.at(1).value, "00-trace");
}

TEST(OutboxTransact, AnEventOfAPipelineTravelsWithTheRecord) {
    postgres_place at;
    testing_support::postgres_client client;
    postgres_writer tx{client.native(), at.prefix()};
    postgres_transaction here{client.native(), {.table_prefix = at.prefix()}};
    engine with{semel::open_store(at.url()).value()};
    const auto order = [&](const std::string& key, const char* also) {
        const request asked{.tenant = "acme", .operation = "ORDER", .key = key};
        return with.transact<std::string>(here, asked, [&](execution& run) {
            PGconn* const on = client.native();
            PQenterPipelineMode(on);
            appender{}.append(tx, event{.topic = "orders"}, origin_of(run)).value();
            PQsendQueryParams(on, also, 0, nullptr, nullptr, nullptr, nullptr, 0);
            return std::string{"made"};
        });
    };

    EXPECT_TRUE(order("order-7", "SELECT 1").executed());
    EXPECT_TRUE(order("order-7", "SELECT 1").replayed());
    EXPECT_EQ(at.count(), "1");
    EXPECT_EQ(order("order-8", "SELECT 1/0").why()->code, errc::transaction_broken);
    EXPECT_EQ(at.count(), "1");
}

} // namespace
} // namespace semel::outbox
