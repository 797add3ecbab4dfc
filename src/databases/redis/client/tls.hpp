// Encrypted streams, through OpenSSL.
#pragma once

#include <memory>

#include "databases/redis/client/socket.hpp"
#include "semel/databases/redis.hpp"

namespace semel::redis {

struct tls_settings; // certificates and rules of one store

// errc::invalid_argument if a file cannot be read or is no certificate.
[[nodiscard]] result<std::shared_ptr<tls_settings>>
make_tls_settings(const redis_store_options& options);

// Shakes hands on a connected socket. The certificate must be valid for `host`.
[[nodiscard]] result<std::unique_ptr<redis_transport>> make_tls_transport(descriptor socket,
                                                                          tls_settings& settings,
                                                                          const std::string& host,
                                                                          duration patience);

} // namespace semel::redis
