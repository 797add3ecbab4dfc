#include "net/tls.hpp"

#include <arpa/inet.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdint>

namespace semel::net {

struct tls_settings {
    SSL_CTX* it = ::SSL_CTX_new(::TLS_client_method());
    tls_settings() = default;
    tls_settings(const tls_settings&) = delete;
    tls_settings& operator=(const tls_settings&) = delete;
    ~tls_settings() { ::SSL_CTX_free(it); }
};

namespace {

std::string last_error() {
    std::string text;
    while (const unsigned long code = ::ERR_get_error()) {
        char one[256];
        ::ERR_error_string_n(code, one, sizeof one);
        text += (text.empty() ? "" : "; ") + std::string{one};
    }
    return text;
}

failure bad_file(const std::string& what, const std::string& path) {
    return {.code = errc::invalid_argument,
            .possible = effect::none,
            .detail = "the " + what + " '" + path + "' cannot be used: " + last_error()};
}

bool is_address(const std::string& host) {
    unsigned char bytes[16];
    return ::inet_pton(AF_INET, host.c_str(), bytes) == 1 ||
           ::inet_pton(AF_INET6, host.c_str(), bytes) == 1;
}

// The certificate must name this host, by its name or its address.
void expect_host(SSL* stream, const std::string& host) {
    if (is_address(host)) {
        ::X509_VERIFY_PARAM_set1_ip_asc(::SSL_get0_param(stream), host.c_str());
    } else {
        ::SSL_set1_host(stream, host.c_str());
        // Through the function behind SSL_set_tlsext_host_name, whose cast is of the old style.
        ::SSL_ctrl(stream, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
                   const_cast<char*>(host.c_str()));
    }
}

// ---- OpenSSL's own socket calls would raise SIGPIPE when the server has gone: these do not.

int socket_of(BIO* bio) {
    return static_cast<int>(reinterpret_cast<std::intptr_t>(::BIO_get_data(bio)));
}

int say(BIO* bio, ssize_t done, int retry) {
    ::BIO_clear_retry_flags(bio);
    if (done < 0 && (errno == EAGAIN || errno == EINTR)) {
        ::BIO_set_flags(bio, retry | BIO_FLAGS_SHOULD_RETRY);
    }
    return static_cast<int>(done);
}

int write_to(BIO* bio, const char* bytes, int size) {
    return say(bio, ::send(socket_of(bio), bytes, static_cast<std::size_t>(size), MSG_NOSIGNAL),
               BIO_FLAGS_WRITE);
}

int read_from(BIO* bio, char* into, int size) {
    return say(bio, ::recv(socket_of(bio), into, static_cast<std::size_t>(size), 0),
               BIO_FLAGS_READ);
}

long control(BIO*, int what, long, void*) {
    return what == BIO_CTRL_FLUSH ? 1 : 0;
}

BIO* make_bio(int socket) {
    static BIO_METHOD* const methods = [] {
        BIO_METHOD* made = ::BIO_meth_new(::BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "semel");
        ::BIO_meth_set_write(made, write_to);
        ::BIO_meth_set_read(made, read_from);
        ::BIO_meth_set_ctrl(made, control);
        return made;
    }();
    BIO* made = ::BIO_new(methods);
    ::BIO_set_data(made, reinterpret_cast<void*>(static_cast<std::intptr_t>(socket)));
    ::BIO_set_init(made, 1);
    return made;
}

class tls_stream final : public stream {
public:
    tls_stream(descriptor socket, tls_settings& settings)
        : socket_(std::move(socket)), stream_(::SSL_new(settings.it)) {
        BIO* const bio = make_bio(socket_.get());
        ::SSL_set_bio(stream_, bio, bio);
        ::SSL_set_mode(stream_,
                       SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    }
    ~tls_stream() override { ::SSL_free(stream_); }

    result<void> shake_hands(const std::string& host, duration patience) {
        expect_host(stream_, host);
        auto done =
            open_still(perform("TLS handshake", patience, [&] { return ::SSL_connect(stream_); }));
        if (done) return {};
        failure why = std::move(done).error();
        // Also after a time-out: a server without TLS may wait for more of what it takes for text.
        why.code = errc::unavailable;
        const long verdict = ::SSL_get_verify_result(stream_);
        if (verdict != X509_V_OK) {
            why.code = errc::invalid_argument; // as a wrong password is
            why.detail += std::string{" ("} + ::X509_verify_cert_error_string(verdict) +
                          "); check the host name, and name the authority that signed the server's "
                          "certificate: ca_file";
        } else {
            why.detail += "; does this port speak TLS, and does it ask for a client certificate?";
        }
        return why;
    }

    result<std::size_t> send(std::string_view bytes, duration patience) override {
        return open_still(perform("send", patience, [&] {
            return ::SSL_write(stream_, bytes.data(), at_most(bytes.size()));
        }));
    }

    result<std::size_t> receive(std::span<char> into, duration patience) override {
        return perform("receive", patience,
                       [&] { return ::SSL_read(stream_, into.data(), at_most(into.size())); });
    }

private:
    static int at_most(std::size_t size) {
        return static_cast<int>(std::min<std::size_t>(size, INT_MAX));
    }

    // Repeats the call until it has done something; 0 if the peer has closed the stream.
    template <class Call>
    result<std::size_t> perform(std::string_view doing, duration patience, Call call) {
        const local_time until = local_clock::now() + patience;
        while (true) {
            ::ERR_clear_error();
            errno = 0;
            const int done = call();
            if (done > 0) return static_cast<std::size_t>(done);
            const int why = ::SSL_get_error(stream_, done);
            if (why == SSL_ERROR_ZERO_RETURN) return std::size_t{0};
            if (why != SSL_ERROR_WANT_READ && why != SSL_ERROR_WANT_WRITE) {
                return broken(doing, why);
            }
            const auto what =
                why == SSL_ERROR_WANT_READ ? socket_event::readable : socket_event::writable;
            const duration left = std::max(until - local_clock::now(), duration{0});
            if (auto ready = wait_for(socket_.get(), what, left); !ready) {
                return std::move(ready).error();
            }
        }
    }

    // Only who receives expects an end.
    static result<std::size_t> open_still(result<std::size_t> done) {
        if (!done || *done > 0) return done;
        return failure{.code = errc::unavailable,
                       .possible = effect::none,
                       .detail = "the server has closed the stream"};
    }

    static failure broken(std::string_view doing, int why) {
        if (why == SSL_ERROR_SYSCALL && errno != 0) return system_failure(doing, errno);
        const std::string text = last_error();
        return {.code = errc::unavailable,
                .possible = effect::none,
                .detail = std::string{doing} + ": " +
                          (text.empty() ? "the server has closed the stream" : text)};
    }

    const descriptor socket_;
    SSL* const stream_;
};

} // namespace

result<std::shared_ptr<tls_settings>> make_tls_settings(const tls_files& files) {
    auto made = std::make_shared<tls_settings>();
    ::SSL_CTX_set_min_proto_version(made->it, TLS1_2_VERSION);
    ::SSL_CTX_set_verify(made->it, SSL_VERIFY_PEER, nullptr);
    ::ERR_clear_error();
    const std::string& ca = files.ca_file;
    if (ca.empty()) {
        ::SSL_CTX_set_default_verify_paths(made->it);
    } else if (::SSL_CTX_load_verify_file(made->it, ca.c_str()) != 1) {
        return bad_file("ca_file", ca);
    }
    if (!files.cert_file.empty()) {
        if (::SSL_CTX_use_certificate_chain_file(made->it, files.cert_file.c_str()) != 1) {
            return bad_file("cert_file", files.cert_file);
        }
        if (::SSL_CTX_use_PrivateKey_file(made->it, files.key_file.c_str(), SSL_FILETYPE_PEM) !=
            1) {
            return bad_file("key_file", files.key_file);
        }
    }
    return made;
}

result<std::unique_ptr<stream>> open_tls_stream(descriptor socket, tls_settings& settings,
                                                const std::string& host, duration patience) {
    auto made = std::make_unique<tls_stream>(std::move(socket), settings);
    if (auto done = made->shake_hands(host, patience); !done) return std::move(done).error();
    return std::unique_ptr<stream>{std::move(made)};
}

} // namespace semel::net
