// What a lane's last begins have found, and so what the next ones will probably find.
#pragma once

#include <cstddef>

namespace semel {

// What the next begins are expected to find, after many in a row that have found the same. A wrong
// guess costs a second round trip.
enum class expected { anything, new_keys, records };

// How many begins in a row have found the same.
class begin_streak {
public:
    void add(expected met) {
        length_ = met == met_ ? length_ + 1 : 1;
        met_ = met;
    }
    void forget() { length_ = 0; }
    [[nodiscard]] expected next() const { return length_ < enough ? expected::anything : met_; }

private:
    static constexpr std::size_t enough = 256;

    expected met_ = expected::anything;
    std::size_t length_ = 0;
};

} // namespace semel
