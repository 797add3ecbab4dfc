#include "edge/console/sessions.hpp"

#include <sys/random.h>

#include <algorithm>
#include <array>

#include "semel/assert.hpp"

namespace semel::edge {
namespace {

std::string hash_of(std::string_view id) {
    return fingerprint::raw(id).hex();
}

} // namespace

std::string random_hex() {
    std::array<std::byte, fingerprint::size_bytes> bits{};
    SEMEL_ASSERT(::getrandom(bits.data(), bits.size(), 0) == static_cast<ssize_t>(bits.size()));
    return fingerprint{bits}.hex();
}

bool equal_secrets(std::string_view left, std::string_view right) {
    if (left.size() != right.size()) return false;
    unsigned differences = 0;
    for (std::size_t at = 0; at < left.size(); ++at) {
        differences |= static_cast<unsigned char>(left[at] ^ right[at]);
    }
    return differences == 0;
}

sessions::opened sessions::open(const fingerprint& token, local_time now) {
    opened made{.id = random_hex(),
                .it = {.token = token, .csrf = random_hex(), .ends_at = now + length_}};
    const std::lock_guard lock{mutex_};
    std::erase_if(open_, [&](const auto& one) { return one.second.ends_at <= now; });
    if (open_.size() >= count_max_) {
        open_.erase(std::min_element(open_.begin(), open_.end(), [](const auto& a, const auto& b) {
            return a.second.ends_at < b.second.ends_at;
        }));
    }
    open_.emplace(hash_of(made.id), made.it);
    return made;
}

std::optional<sessions::entry> sessions::find(std::string_view id, local_time now) {
    const std::lock_guard lock{mutex_};
    const auto at = open_.find(hash_of(id));
    if (at == open_.end()) return std::nullopt;
    if (at->second.ends_at > now) return at->second;
    open_.erase(at);
    return std::nullopt;
}

void sessions::close(std::string_view id) {
    const std::lock_guard lock{mutex_};
    open_.erase(hash_of(id));
}

} // namespace semel::edge
