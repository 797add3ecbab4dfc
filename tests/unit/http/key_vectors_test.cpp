// Structured-field test data kept outside the project; skipped where it is not present.
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "http/structured_field.hpp"
#include "semel/http/key_header.hpp"

namespace semel::http::key_vectors_test {
namespace {

namespace fs = std::filesystem;

nlohmann::json load(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return nlohmann::json::parse(in);
}

header_list as_headers(const nlohmann::json& raw) {
    header_list headers;
    for (const auto& line : raw) headers.add("Idempotency-Key", line.get<std::string>());
    return headers;
}

// A String with its bare value first; lists, other types and what must fail are no keys.
std::optional<std::string> expected_string(const nlohmann::json& vector) {
    const bool fails = vector.value("must_fail", false) || vector["header_type"] != "item";
    if (fails || !vector["expected"][0].is_string()) return std::nullopt;
    return vector["expected"][0].get<std::string>();
}

void check_vector(const nlohmann::json& vector, const std::string& file) {
    const std::string name = file + ": " + vector["name"].get<std::string>();
    const header_list headers = as_headers(vector["raw"]);
    const auto expected = expected_string(vector);
    const key_reading got = read_key(headers, {.form = key_form::strict, .bytes_max = 100'000});
    const auto* sent = std::get_if<sent_key>(&got);

    if (!expected || headers.size() > 1) {
        // Two lines are an Item only to readers that join them first; the vectors allow to refuse.
        EXPECT_TRUE(!expected || vector.value("can_fail", false)) << name;
        EXPECT_EQ(sent, nullptr) << name;
    } else if (expected->empty()) {
        EXPECT_EQ(parse_sf_string(headers.begin()->value), "") << name;
        EXPECT_EQ(sent, nullptr) << name;
    } else {
        ASSERT_NE(sent, nullptr) << name;
        EXPECT_EQ(sent->key, *expected) << name;
    }
}

TEST(KeyVectors, StringsAreKeysAndEverythingElseIsRefused) {
    const fs::path folder = fs::path{SEMEL_SHARED_DIR} / "vectors" / "structured-fields";
    if (!fs::exists(folder)) GTEST_SKIP() << "no vectors at " << folder;

    int checked = 0;
    for (const auto& entry : fs::directory_iterator(folder)) {
        if (entry.path().extension() != ".json") continue;
        for (const auto& vector : load(entry.path())) {
            check_vector(vector, entry.path().filename().string());
            ++checked;
        }
    }
    EXPECT_GE(checked, 300);
}

} // namespace
} // namespace semel::http::key_vectors_test
