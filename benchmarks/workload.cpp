#include "workload.hpp"

#include <cstring>
#include <stdexcept>
#include <thread>

namespace semel::bench {

std::uint64_t mix(std::uint64_t value) {
    value += 0x9e3779b97f4a7c15;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
    value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
    return value ^ (value >> 31);
}

std::string key_of(std::uint64_t number) {
    // By hand: printf shows in the profile of a quick replay.
    std::string text(33, '-');
    const std::uint64_t halves[]{mix(number), mix(~number)};
    for (std::size_t i = 0; i < 16; ++i) {
        const std::size_t shift = 60 - 4 * i;
        text[i] = "0123456789abcdef"[(halves[0] >> shift) & 15U];
        text[17 + i] = "0123456789abcdef"[(halves[1] >> shift) & 15U];
    }
    return text;
}

std::vector<std::string> make_keys(std::uint64_t first, std::size_t count) {
    std::vector<std::string> made;
    made.reserve(count);
    for (std::size_t i = 0; i < count; ++i) made.push_back(key_of(first + i));
    return made;
}

fingerprint content_of(const std::string& key) {
    fingerprint::bytes_type bytes;
    std::memcpy(bytes.data(), key.data(), bytes.size());
    return fingerprint{bytes};
}

const std::string& answer_body() {
    static const std::string body(120, 'x');
    return body;
}

request request_for(const std::string& key) {
    return {.tenant = "acme", .operation = "ORDER_CREATE", .key = key, .content = content_of(key)};
}

seconds time_threads(std::size_t threads, const std::function<void(std::size_t)>& what) {
    const stopwatch watch;
    std::vector<std::thread> others;
    for (std::size_t i = 1; i < threads; ++i) others.emplace_back(what, i);
    what(0);
    for (auto& one : others) one.join();
    return watch.elapsed();
}

void require(bool holds, const char* what) {
    if (!holds) throw std::runtime_error{what};
}

} // namespace semel::bench
