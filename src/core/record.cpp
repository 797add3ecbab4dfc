#include "semel/core/record.hpp"

#include <random>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "core/local_hash.hpp"

namespace semel {

namespace {

std::uint64_t hash_under(std::uint64_t seed, const record_id& id) {
    // Each part's hash, which depends on its length, seeds the next: ("ab","c") is not ("a","bc").
    auto chained = [](const std::string& part, std::uint64_t before) {
        return XXH3_64bits_withSeed(part.data(), part.size(), before + part.size());
    };
    return chained(id.key, chained(id.operation, chained(id.tenant, seed)));
}

// Not from process_random(): owners come from there, and are seen by clients.
std::uint64_t draw_seed() {
    std::random_device device;
    return std::uint64_t{device()} << 32U | device();
}

} // namespace

std::uint64_t hash_of(const record_id& id) {
    return hash_under(0, id);
}

std::uint64_t local_hash_of(const record_id& id) {
    static const std::uint64_t seed = draw_seed();
    return hash_under(seed, id);
}

std::string_view name(record_state state) {
    switch (state) {
    case record_state::processing: return "processing";
    case record_state::succeeded: return "succeeded";
    case record_state::failed_retryable: return "failed_retryable";
    case record_state::failed_final: return "failed_final";
    }
    return "unknown";
}

namespace {

std::uint64_t checksum_of(const stored_result& result) {
    // The kind is part of it: a flipped kind byte would turn a rejection into a value.
    return XXH3_64bits_withSeed(result.body.data(), result.body.size(),
                                static_cast<std::uint64_t>(result.kind));
}

} // namespace

void seal(stored_result& result) {
    result.checksum = checksum_of(result);
}

bool holds(const stored_result& result) {
    return result.checksum == checksum_of(result);
}

} // namespace semel
