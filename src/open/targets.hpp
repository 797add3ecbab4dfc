// A driver's options from a store URL: the same for opening and for migrating.
#pragma once

#include <memory>
#include <string>

#include "net/url.hpp"
#include "semel/base/result.hpp"
#include "semel/databases/mysql.hpp"
#include "semel/databases/postgres.hpp"
#include "semel/databases/redis.hpp"
#include "semel/databases/sqlite.hpp"
#include "semel/open.hpp"
#include "semel/store/tiered.hpp"

namespace semel {

// errc::unknown_store for a URL whose scheme is that of no store. Says which there are, and which
// may be meant.
[[nodiscard]] failure unknown_store(std::string_view url);

[[nodiscard]] result<sqlite_store_options> sqlite_target(const net::parsed_url& url,
                                                         const store_options& options);
[[nodiscard]] result<postgres_store_options> postgres_target(const net::parsed_url& url,
                                                             const store_options& options);
[[nodiscard]] result<mysql_store_options> mysql_target(const net::parsed_url& url,
                                                       const store_options& options);
// Reads the part of a Redis URL that is about the connection. All that speak to Redis use it.
[[nodiscard]] result<void> read_redis_connection(const net::parsed_url& url,
                                                 net::url_parameters& given,
                                                 redis_store_options& to);
// `own` has the defaults.
[[nodiscard]] result<redis_store_options> redis_target(const net::parsed_url& url,
                                                       const store_options& options,
                                                       redis_store_options own = {});

// The URLs of both stores of a tiered one.
struct tiered_urls {
    std::string front = {};
    std::string truth = {};
    tiered_store_options options = {};
};
[[nodiscard]] result<tiered_urls> tiered_target(const net::parsed_url& url);
[[nodiscard]] result<redis_store_options> front_target(const std::string& url,
                                                       const store_options& options);
// Connects a front, which is asked with every command and must not keep anybody waiting.
[[nodiscard]] result<std::unique_ptr<front_tier>> open_front(const std::string& url,
                                                             const store_options& options);

} // namespace semel
