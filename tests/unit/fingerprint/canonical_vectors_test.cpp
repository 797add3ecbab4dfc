// RFC 8785 test data kept outside the project; skipped where it is not present.
#include <filesystem>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "semel/fingerprint/canonical_json.hpp"

namespace semel {
namespace {

namespace fs = std::filesystem;

std::string read_file(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

TEST(CanonicalVectors, EveryInputGivesItsPublishedOutput) {
    const fs::path folder = fs::path{SEMEL_SHARED_DIR} / "vectors" / "jcs";
    if (!fs::exists(folder)) GTEST_SKIP() << "no vectors at " << folder;

    int compared = 0;
    for (const auto& entry : fs::directory_iterator(folder / "input")) {
        const std::string expected = read_file(folder / "output" / entry.path().filename());
        const result<std::string> form = canonical_json(read_file(entry.path()));

        ASSERT_TRUE(form.has_value()) << entry.path();
        EXPECT_EQ(*form, expected) << entry.path();
        ++compared;
    }
    EXPECT_GE(compared, 6);
}

} // namespace
} // namespace semel
