// Where to connect and how long to wait there; checked.
#pragma once

#include <cstdint>
#include <string>

#include "semel/base/result.hpp"
#include "semel/base/time.hpp"
#include "semel/databases/mysql.hpp"
#include "semel/store.hpp"

namespace semel::mysql {

struct target {
    std::string host;
    std::uint16_t port = 0;
    std::string socket; // instead of host and port
    std::string user;
    std::string password;
    std::string database;
    mysql_tls tls = mysql_tls::off;
    std::string ca_file;
    std::string cert_file;
    std::string key_file;
    duration connect_timeout = {};
    duration answer_timeout = {}; // of everything that is asked of the server at once
    duration lock_timeout = {};   // of one statement
    open_mode mode = open_mode::create;
};

// errc::invalid_argument, never repeating the password.
[[nodiscard]] result<target> read_target(const mysql_store_options& options);

} // namespace semel::mysql
