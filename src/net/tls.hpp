// Encrypted streams of clients, through OpenSSL, without Boost. The servers and clients that run on
// Boost.Asio have their own in edge/server/tls.
#pragma once

#include <memory>

#include "net/socket.hpp"
#include "semel/net/stream.hpp"

namespace semel::net {

// Paths. A certificate of the client's own goes together with its key.
struct tls_files {
    std::string ca_file = {}; // empty: the system's authorities
    std::string cert_file = {};
    std::string key_file = {};
};

struct tls_settings; // certificates and rules, shared by connections

// errc::invalid_argument if a file cannot be read or is no certificate.
[[nodiscard]] result<std::shared_ptr<tls_settings>> make_tls_settings(const tls_files& files);

// Shakes hands on a connected socket. The certificate must be valid for `host`.
[[nodiscard]] result<std::unique_ptr<stream>> open_tls_stream(descriptor socket,
                                                              tls_settings& settings,
                                                              const std::string& host,
                                                              duration patience);

} // namespace semel::net
