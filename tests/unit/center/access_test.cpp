#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "center/desk.hpp"
#include "support/hostile_json.hpp"

namespace semel::edge::center_test {
namespace {

using namespace std::chrono_literals;
using namespace std::string_view_literals;
using testing::HasSubstr;

TEST(CenterAccess, NothingIsDoneWithoutAKnownToken) {
    desk at;
    const json body = desk::of("k", "");

    const auto none = at.post("/v1/begin", body, "");
    const auto unknown = at.post("/v1/begin", body, "nonsense");

    EXPECT_EQ(none.status, 401);
    EXPECT_EQ(problem_of(none), "tenant-missing");
    EXPECT_EQ(*none.headers.find("WWW-Authenticate"), "Bearer");
    EXPECT_EQ(unknown.status, 401);
    EXPECT_EQ(*unknown.headers.find("WWW-Authenticate"), "Bearer error=\"invalid_token\"");
    EXPECT_EQ(at.post("/v1/batch", {{"items", {body}}}, "").status, 401);
    EXPECT_EQ(at.get("/v1/records/ORDER/k", "").status, 401);
    EXPECT_EQ(at.script->questions(), 0U);
}

TEST(CenterAccess, AScopeAllowsWhatItNames) {
    desk at;
    const json body = desk::of("k", "");

    EXPECT_EQ(at.post("/v1/begin", body, "reader").status, 403);
    EXPECT_EQ(problem_of(at.post("/v1/begin", body, "reader")), "forbidden");
    EXPECT_EQ(at.get("/v1/records/ORDER/k", "user").status, 403);
    EXPECT_EQ(at.script->questions(), 0U);
    EXPECT_EQ(at.post("/v1/begin", body, "user").status, 200);
    EXPECT_EQ(at.get("/v1/records/ORDER/k", "reader").status, 200);
}

TEST(CenterAccess, TenantsNeverMeet) {
    desk at;
    const auto mine = at.post("/v1/begin", desk::of("k", "", {{"content", "a"}}), "acme");

    const auto theirs = at.post("/v1/begin", desk::of("k", "", {{"content", "b"}}), "bolt");
    const auto stolen = at.post("/v1/complete", desk::of("k", mine.body["attempt"]), "bolt");

    EXPECT_EQ(theirs.body["outcome"], "started");
    EXPECT_EQ(problem_of(stolen), "fenced-off");
    EXPECT_EQ(stolen.body.dump().find(mine.body["attempt"].get<std::string>()), std::string::npos);
}

TEST(CenterAccess, OnlyAdminsNameATenant) {
    desk at;
    at.begin("k");

    const auto body = desk::of("k", "", {{"tenant", "acme"}});
    EXPECT_EQ(problem_of(at.post("/v1/begin", body, "bolt")), "forbidden");
    EXPECT_EQ(problem_of(at.post("/v1/begin", body, "acme")), "forbidden");
    EXPECT_EQ(problem_of(at.get("/v1/records/ORDER/k?tenant=acme", "bolt")), "forbidden");
    EXPECT_EQ(problem_of(at.post("/v1/begin", body, "admin")), "in-progress");
    EXPECT_EQ(at.get("/v1/records/ORDER/k?tenant=acme", "admin").status, 200);
    EXPECT_EQ(at.get("/v1/records/ORDER/k", "admin").status, 404);
    EXPECT_EQ(at.post("/v1/begin", desk::of("k", "", {{"tenant", "a b"}}), "admin").status, 400);
    EXPECT_EQ(at.post("/v1/begin", desk::of("k", "", {{"tenant", "semel"}}), "admin").status, 400);
}

TEST(CenterInput, AnUnknownOperationCanBeRefused) {
    desk open;
    desk at{{.operations = {{"ORDER", {}}}, .defaults = std::nullopt}};
    const json mistyped = {{"operation", "ODRER"}, {"key", "k"}};
    EXPECT_EQ(open.post("/v1/begin", mistyped).status, 200);

    for (const char* path : {"/v1/begin", "/v1/complete", "/v1/fail", "/v1/renew"}) {
        const auto got = at.post(path, mistyped);
        EXPECT_EQ(got.status, 400) << path;
        EXPECT_EQ(problem_of(got), "operation-unknown") << path;
        EXPECT_THAT(got.body["detail"], HasSubstr("Check the name of the operation")) << path;
    }
    json item = mistyped;
    item["do"] = "begin";
    const auto batch = at.post("/v1/batch", {{"items", {item}}});
    EXPECT_EQ(batch.body["items"][0]["status"], 400);
    EXPECT_EQ(at.script->questions(), 0U);
    EXPECT_EQ(at.post("/v1/begin", {{"operation", "ORDER"}, {"key", "k"}}).status, 200);
    EXPECT_EQ(at.get("/v1/records/ODRER/k").status, 404) << "records can be looked at";
}

TEST(CenterInput, PathsAndMethodsThatAreNotThere) {
    desk at;

    EXPECT_EQ(at.post("/v1/dance", json::object()).status, 404);
    EXPECT_EQ(at.post("/", json::object()).status, 404);
    EXPECT_EQ(at.post("/v1/begin/", json::object()).status, 404);
    EXPECT_EQ(at.get("/v1/records/ORDER").status, 404);
    EXPECT_EQ(at.get("/v1/records/OR%2/k").status, 404);
    const auto wrong = at.get("/v1/begin");
    EXPECT_EQ(wrong.status, 405);
    EXPECT_EQ(*wrong.headers.find("Allow"), "POST");
    EXPECT_EQ(*at.post("/v1/records/ORDER/k", json::object()).headers.find("Allow"), "GET");
    EXPECT_EQ(at.get("/v1/records/ORDER/k?colour=red").status, 400);
    EXPECT_EQ(at.get("/v1/records/ORDER/k?tenant=a&tenant=b").status, 400);
}

TEST(CenterInput, WhatIsWrongIsNamedBeforeTheStoreIsAsked) {
    desk at;
    const auto why = [&](const char* path, const json& body) {
        const auto got = at.post(path, body);
        EXPECT_EQ(got.status, 400) << got.body;
        return problem_of(got) + ": " + got.body.value("detail", "");
    };
    const std::string fine = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

    EXPECT_THAT(why("/v1/begin", json::array()), HasSubstr("object is expected"));
    EXPECT_THAT(why("/v1/begin", {{"key", "k"}}), HasSubstr("operation must have 1 to 64"));
    EXPECT_THAT(why("/v1/begin", {{"operation", std::string(65, 'a')}, {"key", "k"}}),
                HasSubstr("operation must have"));
    EXPECT_THAT(why("/v1/begin", {{"operation", "O"}}), HasSubstr("key-missing"));
    EXPECT_THAT(why("/v1/begin", desk::of(std::string(256, 'k'), "")), HasSubstr("key-too-long"));
    EXPECT_THAT(why("/v1/begin", {{"operation", 7}, {"key", "k"}}),
                HasSubstr("operation must be a text"));
    EXPECT_THAT(why("/v1/begin", desk::of("k", "", {{"colour", "red"}})),
                HasSubstr("colour is not known"));
    EXPECT_THAT(why("/v1/begin", desk::of("k", "", {{"lease", "soon"}})),
                HasSubstr("lease must be a duration"));
    EXPECT_THAT(why("/v1/begin", desk::of("k", "", {{"lease", "0s"}})),
                HasSubstr("lease must be more than zero"));
    EXPECT_THAT(why("/v1/begin", desk::of("k", "", {{"lease", "9999d"}})),
                HasSubstr("lease is too long"));
    EXPECT_THAT(why("/v1/begin", desk::of("k", "", {{"fingerprint", "abc"}})),
                HasSubstr("fingerprint must be 64 hex"));
    EXPECT_THAT(why("/v1/begin", desk::of("k", "", {{"content", "a"}, {"content_base64", "YQ=="}})),
                HasSubstr("cannot both be given"));
    EXPECT_THAT(why("/v1/begin", desk::of("k", "", {{"nonce", "short"}})),
                HasSubstr("nonce must have 16"));
    EXPECT_THAT(
        why("/v1/begin", desk::of("k", "", {{"attributes", {{"a", std::string(5000, 'x')}}}})),
        HasSubstr("attributes has"));
    EXPECT_THAT(why("/v1/complete", desk::of("k", "")), HasSubstr("attempt must be given"));
    EXPECT_THAT(why("/v1/complete", desk::of("k", "AAAA")), HasSubstr("attempt is not one"));
    EXPECT_THAT(why("/v1/complete", desk::of("k", fine, {{"result", {{"base64", "A"}}}})),
                HasSubstr("result is wrong: base64 must be"));
    EXPECT_THAT(why("/v1/complete", desk::of("k", fine, {{"result", {{"kind", "maybe"}}}})),
                HasSubstr("kind must be"));
    EXPECT_THAT(
        why("/v1/complete", desk::of("k", fine, {{"result", {{"type", std::string(256, 'a')}}}})),
        HasSubstr("result.type has 256 bytes"));
    EXPECT_THAT(why("/v1/fail", desk::of("k", fine, {{"error", std::string(4097, 'e')}})),
                HasSubstr("error has 4097 bytes"));
    EXPECT_THAT(why("/v1/fail", desk::of("k", fine, {{"kind", "odd"}})), HasSubstr("kind must be"));
    EXPECT_THAT(why("/v1/checkpoint", desk::of("k", fine)), HasSubstr("name must be given"));
    EXPECT_THAT(why("/v1/checkpoint",
                    desk::of("k", fine, {{"name", "n"}, {"text", std::string(70'000, 'x')}})),
                HasSubstr("text has 70000 bytes"));
    EXPECT_EQ(at.script->questions(), 0U);
}

TEST(CenterInput, BodiesThatAreNotJsonOrTooLarge) {
    desk at{{.body_bytes_max = 100}};

    EXPECT_EQ(at.send("/v1/begin", "{", {})->status, 400);
    EXPECT_EQ(at.send("/v1/begin", "\"\xFF\"", {})->status, 400);
    EXPECT_EQ(at.send("/v1/begin", "{}", {.type = "text/plain"})->status, 415);
    EXPECT_EQ(at.send("/v1/begin", "{}", {.type = "application/json; charset=utf-8"})->status, 400);
    const auto large = at.send("/v1/begin", std::string(101, ' '), {});
    EXPECT_EQ(large->status, 413);
    EXPECT_EQ(problem_of(*large), "body-too-large");
    EXPECT_EQ(at.script->questions(), 0U);
}

// Whatever the bytes: an answer, and one that the store may give only where the body was fine.
TEST(CenterInput, SpoiltBodiesAreRefusedInGoodOrder) {
    desk at;
    const std::string attempt = at.begin("k");
    const std::string whole =
        desk::of(
            "k", attempt,
            {{"result", {{"text", "r"}, {"type", "t"}, {"kind", "value"}}}, {"retention", "1h"}})
            .dump();
    std::mt19937 chance{7};
    const std::string_view odd = "\"[]{}:,\0\xFF\\x1-\n"sv;
    for (int round = 0; round < 3'000; ++round) {
        std::string text = whole;
        for (int n = 0; n < 1 + round % 4; ++n) {
            text[chance() % text.size()] = odd[chance() % odd.size()];
        }
        if (round % 5 == 0) text.resize(chance() % text.size());
        const auto got = at.send(round % 2 == 0 ? "/v1/complete" : "/v1/begin", text, {});
        ASSERT_TRUE(got.has_value()) << text;
        EXPECT_TRUE(got->status == 200 || got->status == 400 || got->status == 409)
            << got->status << " " << text;
    }
}

TEST(CenterInput, DeepNestingIsNoTrouble) {
    desk at;
    const std::string deep =
        R"({"operation":"O","key":"k","attributes":)" + std::string(100'000, '[');

    EXPECT_EQ(at.send("/v1/begin", deep, {})->status, 400);
}

TEST(CenterInput, HostileTextsAreAnsweredSoon) {
    desk at;
    for (const auto& [name, text] : support::hostile_jsons()) {
        for (const std::string path : {"/v1/begin", "/v1/batch"}) {
            const auto took = support::time_of(
                [&, &text = text] { EXPECT_EQ(at.send(path, text, {})->status, 400); });
            EXPECT_LT(took, 1s) << name << " " << path;
        }
    }
}

// ---- before a body is taken

std::optional<int> refused_at(const doorkeeper& door, std::string method, std::string path,
                              const std::string& token) {
    http::request_head head{.method = std::move(method), .target = std::move(path)};
    if (!token.empty()) head.headers.add("Authorization", "Bearer " + token);
    const body_admission says = door(head, "127.0.0.1");
    return says.refusal ? std::optional{says.refusal->status} : std::nullopt;
}

TEST(CenterDoor, AsksForTheTokenFirst) {
    desk at;
    const auto door = at.center->door();

    for (const std::string path : {"/v1/begin", "/v1/complete", "/v1/batch"}) {
        EXPECT_EQ(refused_at(door, "POST", path, ""), 401) << path;
        EXPECT_EQ(refused_at(door, "POST", path, "nonsense"), 401) << path;
        EXPECT_EQ(refused_at(door, "POST", path, "reader"), 403) << path;
        EXPECT_EQ(refused_at(door, "POST", path, "user"), std::nullopt) << path;
    }
    EXPECT_EQ(at.center->counts().refused, 9U);
}

TEST(CenterDoor, BodiesOfRequestsThatTakeNoneAreSmall) {
    desk at;
    const auto door = at.center->door();
    const auto room = [&](std::string method, std::string path) {
        return door({.method = std::move(method), .target = std::move(path)}, "127.0.0.1")
            .bytes_max;
    };

    EXPECT_EQ(room("GET", "/v1/records"), 1'024U);
    EXPECT_EQ(room("GET", "/v1/begin"), 1'024U);
    EXPECT_EQ(room("POST", "/v1/nothing"), 1'024U);
    EXPECT_EQ(room("POST", "/openapi.json"), 1'024U);
}

} // namespace
} // namespace semel::edge::center_test
