// The generators behind new_ulid() and new_uuid7().
#include <chrono>
#include <memory>

#include <openssl/rand.h>
#include <pthread.h>

#include "semel/base/result.hpp"
#include "semel/ids.hpp"

namespace semel {
namespace {

std::uint64_t system_milliseconds() {
    using namespace std::chrono;
    const auto now = system_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(duration_cast<milliseconds>(now).count());
}

// 79 random bits: with the top bit clear, counting up within a millisecond never runs out.
random80 system_random() {
    random80 random;
    SEMEL_ASSERT(RAND_bytes(reinterpret_cast<unsigned char*>(&random.low), sizeof random.low) == 1);
    SEMEL_ASSERT(RAND_bytes(reinterpret_cast<unsigned char*>(&random.high), sizeof random.high) ==
                 1);
    random.high &= 0x7FFFU;
    return random;
}

// A UUIDv7 has 74 free bits, so its generator counts within those: the upper six of ULID's 80 stay
// clear, and one more as above.
random80 system_random_73() {
    random80 random = system_random();
    random.high &= 0x01FFU;
    return random;
}

struct generators {
    ulid_generator ulids{{.milliseconds = system_milliseconds, .random = system_random}};
    ulid_generator uuids{{.milliseconds = system_milliseconds, .random = system_random_73}};
};

// Never destroyed: other static objects may make ids while the process ends.
alignas(generators) std::byte storage[sizeof(generators)];

generators* make_generators() {
    return std::construct_at(reinterpret_cast<generators*>(storage));
}

// A forked child would count on from its parent's last id, as the parent itself does. It starts
// again instead. The old object is not destroyed, since another thread of the parent may have held
// its mutex at the moment of the fork.
void forget_parent() {
    make_generators();
}

generators& process_generators() {
    static generators* const made = [] {
        generators* const first = make_generators();
        SEMEL_ASSERT(pthread_atfork(nullptr, nullptr, forget_parent) == 0);
        return first;
    }();
    return *made;
}

// 48 bits of time, version 7, 12 bits, variant 2, 62 bits: order is kept because the 74 bits
// between the fixed ones are the counter's in order.
uuid128 as_uuid7(uuid128 counted) {
    const std::uint64_t first_12 = ((counted.high & 0x03FFU) << 2U) | (counted.low >> 62U);
    const std::uint64_t last_62 = counted.low & 0x3FFF'FFFF'FFFF'FFFFU;
    return {.high = (counted.high & ~std::uint64_t{0xFFFF}) | 0x7000U | first_12,
            .low = 0x8000'0000'0000'0000U | last_62};
}

} // namespace

ulid new_ulid() {
    return process_generators().ulids.next().value();
}

uuid128 new_uuid7() {
    return as_uuid7(process_generators().uuids.next().value().value());
}

} // namespace semel
