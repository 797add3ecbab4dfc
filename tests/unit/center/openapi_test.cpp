// docs/openapi.json is tested against the center, both ways: everything it names is driven and
// happens, everything that happens is named there and looks as it says.
#include <map>
#include <set>
#include <tuple>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "center/desk.hpp"
#include "center/json_schema.hpp"

namespace semel::edge::center_test {
namespace {

using namespace std::chrono_literals;
using support::fails;

const json& document() {
    static const json read = json::parse(openapi_document());
    return read;
}

// Path as in the document, method, status.
using case_name = std::tuple<std::string, std::string, std::string>;

std::set<case_name> documented() {
    std::set<case_name> names;
    for (const auto& [path, methods] : document().at("paths").items()) {
        for (const auto& [method, about] : methods.items()) {
            for (const auto& [status, ignored] : about.at("responses").items()) {
                names.emplace(path, method, status);
            }
        }
    }
    return names;
}

class OpenApi : public testing::Test {
protected:
    static constexpr const char* acts[] = {"complete", "fail",  "abandon",
                                           "release",  "renew", "checkpoint"};

    // The answer must be one that the document has, and look as it says there.
    void expect(const std::string& path, const std::string& method, const answer_of& got) {
        const std::string status = std::to_string(got.status);
        seen_.emplace(path, method, status);
        const json& answers = document().at("paths").at(path).at(method).at("responses");
        ASSERT_TRUE(answers.contains(status)) << path << " " << status << " " << got.body;
        const std::string* const type = got.headers.find("Content-Type");
        ASSERT_NE(type, nullptr);
        const json& content = answers.at(status).at("content");
        ASSERT_TRUE(content.contains(*type)) << path << " " << status << " " << *type;
        const auto wrong = json_schema{document()}.check(content.at(*type).at("schema"), got.body);
        EXPECT_THAT(wrong, testing::IsEmpty()) << path << " " << status << " " << got.body;
    }

    // A request that is fine must also be so by the document.
    answer_of post(desk& at, const std::string& name, const json& body) {
        const json& schema = document().at("components").at("schemas").at(name);
        EXPECT_THAT(json_schema{document()}.check(schema, body), testing::IsEmpty()) << body;
        auto got = at.post("/v1/" + name, body);
        expect("/v1/" + name, "post", got);
        return got;
    }
    void refused(const std::string& name, const answer_of& got, int status) {
        EXPECT_EQ(got.status, status) << name << got.body;
        expect("/v1/" + name, "post", got);
    }

    void refuse_everything() {
        desk at{{.body_bytes_max = 1'000}};
        for (const std::string name :
             {"begin", "complete", "fail", "abandon", "release", "renew", "checkpoint", "batch"}) {
            const std::string path = "/v1/" + name;
            const std::string body =
                name == "batch" ? R"({"items":[{}]})" : minimal(name, nobody_).dump();
            refused(name, *at.send(path, "{}", {}), 400);
            refused(name, *at.send(path, body, {.token = ""}), 401);
            refused(name, *at.send(path, body, {.token = "reader"}), 403);
            refused(name, *at.send(path, std::string(1'001, ' '), {}), 413);
            refused(name, *at.send(path, body, {.type = "text/plain"}), 415);
        }
        refuse_for_the_store(at);
        const std::string path = "/v1/records/{operation}/{key}";
        expect(path, "get", at.get("/v1/records/ORDER/k?x=y"));
        expect(path, "get", at.get("/v1/records/ORDER/k", ""));
        expect(path, "get", at.get("/v1/records/ORDER/k", "user"));
        expect("/v1/records", "get", at.search("?result_ref="));
        expect("/v1/records", "get", at.search("?result_ref=o", ""));
        expect("/v1/records", "get", at.search("?result_ref=o", "user"));
        *at.blind = true;
        expect("/v1/records", "get", at.search("?result_ref=o"));
        damage(at);
        refused("begin", at.post("/v1/begin", desk::of("k", "")), 500);
        expect(path, "get", at.get("/v1/records/ORDER/k"));
    }

    void refuse_for_the_store(desk& at) {
        at.script->on_each([](std::size_t, const command&) {
            return std::optional{
                support::fault{.when = fails::before, .why = {.code = errc::unsupported}}};
        });
        refused("begin", at.post("/v1/begin", desk::of("k", "")), 503);
        for (const char* name : acts) {
            refused(name, at.post("/v1/" + std::string{name}, minimal(name, nobody_)), 503);
        }
        expect("/v1/records/{operation}/{key}", "get", at.get("/v1/records/ORDER/k"));
        at.script->well();
    }

    // A result that fails its checksum.
    static void damage(desk& at) {
        const record_id id{"acme", "ORDER", "k"};
        const auto begun =
            at.store.call(id, commands::begin{.owner = {1, 1}, .lease = 30s}, std::nullopt);
        const claim by = std::get<answers::started>(begun.value().said).by;
        const stored_result result{.body = "evil", .checksum = 1};
        at.store
            .call(id, commands::complete{.by = by, .result = result, .retention = 24h},
                  std::nullopt)
            .value();
    }

    static json minimal(const std::string& name, const std::string& attempt) {
        json body = desk::of("k", attempt);
        if (name == "checkpoint") body["name"] = "step";
        return body;
    }

    std::set<case_name> seen_;
    const std::string nobody_ = std::string(32, 'A');
};

TEST_F(OpenApi, EverythingItSaysHappensAndNothingElse) {
    // 200 of begin in all its forms, 409, 422.
    desk at{{.operations = {{"HELD", {.on_lease_expiry = lease_expiry::hold}}}}};
    const json begin = desk::of("k", "",
                                {{"content", "{}"},
                                 {"nonce", "0123456789abcdef"},
                                 {"lease", "30s"},
                                 {"attributes", {{"a", 1}}}});
    const std::string attempt = post(at, "begin", begin).body["attempt"];
    json other = desk::of("k", "", {{"fingerprint", std::string(64, 'b')}});
    refused("begin", at.post("/v1/begin", other), 422);
    refused("begin", at.post("/v1/begin", desk::of("k", "")), 409);

    // An attempt's own commands.
    post(at, "renew", desk::of("k", attempt, {{"lease", "40s"}}));
    post(at, "checkpoint", desk::of("k", attempt, {{"name", "paid"}, {"text", "x"}}));
    expect("/v1/records/{operation}/{key}", "get", at.get("/v1/records/ORDER/k"));
    post(at, "complete",
         desk::of("k", attempt,
                  {{"result", {{"text", "r"}, {"type", "text/plain"}, {"ref", "o"}}},
                   {"retention", "1h"}}));
    at.pass(1s);
    EXPECT_EQ(post(at, "complete", desk::of("k", attempt)).body["outcome"], "already_stored");
    EXPECT_EQ(post(at, "begin", begin).body["outcome"], "replay");
    expect("/v1/records", "get", at.search("?result_ref=o"));
    expect("/v1/records/{operation}/{key}", "get", at.get("/v1/records/ORDER/k"));
    for (const char* name : acts)
        refused(name, at.post("/v1/" + std::string{name}, minimal(name, nobody_)), 409);

    // The other ends.
    const auto begun = [&](const std::string& key) { return at.begin(key); };
    post(at, "release", desk::of("r", begun("r")));
    post(at, "abandon", desk::of("a", begun("a")));
    post(at, "fail", desk::of("f", begun("f"), {{"kind", "final"}, {"error", "no"}}));
    refused("begin", at.post("/v1/begin", desk::of("f", "")), 409);
    expect("/v1/records/{operation}/{key}", "get", at.get("/v1/records/ORDER/f"));
    at.post("/v1/begin", {{"operation", "HELD"}, {"key", "h"}});
    at.pass(40s);
    refused("begin", at.post("/v1/begin", {{"operation", "HELD"}, {"key", "h"}}), 409);

    // A batch with every kind of item.
    json items =
        json::array({desk::of("b", "", {{"do", "begin"}}), desk::of("f", "", {{"do", "begin"}}),
                     desk::of("k", "", {{"do", "begin"}})});
    for (const char* name : acts) {
        items.push_back(minimal(name, nobody_));
        items.back()["do"] = name;
    }
    post(at, "batch", {{"items", items}});
    expect("/openapi.json", "get", at.get("/openapi.json", ""));
    expect("/v1/records/{operation}/{key}", "get", at.get("/v1/records/ORDER/none"));

    refuse_everything();
    EXPECT_EQ(seen_, documented());
}

} // namespace
} // namespace semel::edge::center_test
