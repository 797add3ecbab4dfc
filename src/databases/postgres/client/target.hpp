// Where to connect: a store URL or connection string, checked, with what semel needs added.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "semel/base/result.hpp"
#include "semel/base/time.hpp"
#include "semel/store.hpp"

namespace semel::postgres {

struct target {
    // libpq's keywords and their values.
    std::vector<std::pair<std::string, std::string>> settings;
    duration connect_timeout = {};
    duration answer_timeout = {}; // of everything that is asked of the server at once
    duration lock_timeout = {};   // of one statement
    open_mode mode = open_mode::create;
};

struct target_options {
    std::string_view url; // postgres://user@host/database?sslmode=verify-full…, or key=value pairs
    duration connect_timeout = {}; // where the URL has no connect_timeout
    duration answer_timeout = {};
    duration lock_timeout = {};
    open_mode mode = open_mode::create;
};

// errc::invalid_argument if libpq cannot read it. The failure never repeats the URL: it may hold a
// password.
[[nodiscard]] result<target> read_target(const target_options& options);

} // namespace semel::postgres
