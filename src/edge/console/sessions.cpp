#include "edge/console/sessions.hpp"

#include <sys/random.h>

#include <algorithm>

#include "semel/base/mutex.hpp"
#include "semel/base/result.hpp"

namespace semel::edge {
namespace {

std::string hash_of(std::string_view id) {
    return fingerprint::raw(id).hex();
}

} // namespace

std::string random_bytes() {
    std::string bits(fingerprint::size_bytes, '\0');
    SEMEL_ASSERT(::getrandom(bits.data(), bits.size(), 0) == static_cast<ssize_t>(bits.size()));
    return bits;
}

std::string random_hex() {
    return fingerprint::raw(random_bytes()).hex();
}

bool equal_secrets(std::string_view left, std::string_view right) {
    if (left.size() != right.size()) return false;
    unsigned differences = 0;
    for (std::size_t at = 0; at < left.size(); ++at) {
        differences |= static_cast<unsigned char>(left[at] ^ right[at]);
    }
    return differences == 0;
}

bool sessions::over(const entry& one, local_time now) const {
    return one.ends_at <= now || one.used_at + limits_.idle <= now;
}

// Ends the session of this token that would end first.
void sessions::drop_first_of(const std::string& token) {
    auto first = open_.end();
    for (auto at = open_.begin(); at != open_.end(); ++at) {
        if (at->second.token.hex() != token) continue;
        if (first == open_.end() || at->second.ends_at < first->second.ends_at) first = at;
    }
    if (first != open_.end()) open_.erase(first);
}

// The token that has most sessions has to give one up, so that none can push others out.
void sessions::make_room(const fingerprint& token) {
    std::map<std::string, std::size_t> counts; // by the token's hash
    for (const auto& one : open_) ++counts[one.second.token.hex()];
    if (counts[token.hex()] >= limits_.per_token_max) return drop_first_of(token.hex());
    if (open_.size() < limits_.count_max) return;
    const auto most =
        std::max_element(counts.begin(), counts.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    drop_first_of(most->first);
}

sessions::opened sessions::open(const fingerprint& token, local_time now) {
    opened made{
        .id = random_hex(),
        .it = {
            .token = token, .csrf = random_hex(), .ends_at = now + limits_.length, .used_at = now}};
    const detail::guard lock{mutex_};
    std::erase_if(open_, [&](const auto& one) { return over(one.second, now); });
    make_room(token);
    open_.emplace(hash_of(made.id), made.it);
    return made;
}

std::optional<sessions::entry> sessions::find(std::string_view id, local_time now) {
    const detail::guard lock{mutex_};
    const auto at = open_.find(hash_of(id));
    if (at == open_.end()) return std::nullopt;
    if (!over(at->second, now)) {
        at->second.used_at = now;
        return at->second;
    }
    open_.erase(at);
    return std::nullopt;
}

void sessions::close(std::string_view id) {
    const detail::guard lock{mutex_};
    open_.erase(hash_of(id));
}

} // namespace semel::edge
