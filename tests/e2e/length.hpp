// How many requests the suite was asked to send.
#pragma once

namespace semel::e2e {

inline constexpr int requests_of_the_short_form = 1'500;
inline constexpr int requests_of_the_long_form = 100'000;

inline int& requests_wanted() {
    static int it = requests_of_the_short_form;
    return it;
}

} // namespace semel::e2e
