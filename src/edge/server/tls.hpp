// TLS contexts from options.
#pragma once

#include <boost/asio/ssl/context.hpp>

#include "edge/server/options.hpp"
#include "semel/base/result.hpp"

namespace semel::edge {

// invalid_argument names the file that cannot be used.
[[nodiscard]] result<boost::asio::ssl::context> make_server_tls(const tls_server_options& options);

// For connections to a server whose certificate is checked. `ca_file` empty: those the system
// trusts.
[[nodiscard]] result<boost::asio::ssl::context> make_client_tls(const std::string& ca_file);

} // namespace semel::edge
