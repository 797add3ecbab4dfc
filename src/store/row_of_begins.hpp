// What a lane's begins have met of late, and so what the next ones will probably meet.
#pragma once

#include <cstddef>

namespace semel {

// What the next begins are expected to meet, after many in a row that have met the same. What they
// meet instead is found out, at the price of a second round trip.
enum class expected { anything, new_keys, records };

// Begins up to now, as far back as they have met the same.
class row_of_begins {
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
