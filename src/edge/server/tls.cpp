#include "edge/server/tls.hpp"

#include <string_view>

namespace semel::edge {
namespace {

namespace ssl = boost::asio::ssl;
using boost::system::error_code;

failure unusable(const std::string& file, const error_code& why) {
    return {.code = errc::invalid_argument, .detail = file + ": " + why.message()};
}

// Without this OpenSSL ends every connection that resumes a session where clients may show
// certificates. Sessions and their tickets belong to one context: none is resumed at a listener
// with another authority, or after a restart.
constexpr std::string_view session_origin = "semel";

// Of TLS 1.2; TLS 1.3 has no others. A key that is stolen later does not open what was recorded
// before.
constexpr const char* forward_secret = "ECDHE+AESGCM:ECDHE+CHACHA20";

} // namespace

result<ssl::context> make_server_tls(const tls_server_options& options) {
    ssl::context made{ssl::context::tls_server};
    made.set_options(ssl::context::no_tlsv1 | ssl::context::no_tlsv1_1);
    SSL_CTX_set_cipher_list(made.native_handle(), forward_secret);
    SSL_CTX_set_session_id_context(made.native_handle(),
                                   reinterpret_cast<const unsigned char*>(session_origin.data()),
                                   static_cast<unsigned>(session_origin.size()));
    error_code failed;
    made.use_certificate_chain_file(options.certificate_file, failed);
    if (failed) return unusable(options.certificate_file, failed);
    made.use_private_key_file(options.key_file, ssl::context::pem, failed);
    if (failed) return unusable(options.key_file, failed);
    if (options.client_ca_file.empty()) return made;
    made.load_verify_file(options.client_ca_file, failed);
    if (failed) return unusable(options.client_ca_file, failed);
    using client = tls_server_options::client_certificate;
    const bool required = options.client == client::required;
    made.set_verify_mode(ssl::verify_peer | (required ? ssl::verify_fail_if_no_peer_cert : 0));
    return made;
}

result<ssl::context> make_client_tls(const std::string& ca_file) {
    ssl::context made{ssl::context::tls_client};
    made.set_options(ssl::context::no_tlsv1 | ssl::context::no_tlsv1_1);
    made.set_verify_mode(ssl::verify_peer);
    error_code failed;
    if (ca_file.empty()) {
        made.set_default_verify_paths(failed);
    } else {
        made.load_verify_file(ca_file, failed);
    }
    if (failed) return unusable(ca_file.empty() ? "trusted certificates" : ca_file, failed);
    return made;
}

} // namespace semel::edge
