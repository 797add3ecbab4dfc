// TLS on both sides: a gateway in front of a gateway in front of a plain upstream.
#include <gtest/gtest.h>

#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <stdexcept>

#include "http/support/rig.hpp"

namespace semel::edge::tls_test {
namespace {

using namespace support;
namespace fs = std::filesystem;

struct file_closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
};
using open_file = std::unique_ptr<std::FILE, file_closer>;

// A certificate that signs itself, for 127.0.0.1 or another address.
class certificate {
public:
    explicit certificate(const std::string& address) {
        std::string name = (fs::temp_directory_path() / "semel-tls-XXXXXX").string();
        if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
        folder_ = name;
        EVP_PKEY* const key = EVP_EC_gen("P-256");
        X509* const made = X509_new();
        X509_set_version(made, 2);
        ASN1_INTEGER_set(X509_get_serialNumber(made), 1);
        X509_gmtime_adj(X509_getm_notBefore(made), -3'600);
        X509_gmtime_adj(X509_getm_notAfter(made), 3'600);
        X509_set_pubkey(made, key);
        const std::string subject = "semel test";
        X509_NAME_add_entry_by_txt(X509_get_subject_name(made), "CN", MBSTRING_ASC,
                                   reinterpret_cast<const unsigned char*>(subject.data()), -1, -1,
                                   0);
        X509_set_issuer_name(made, X509_get_subject_name(made));
        add(made, NID_basic_constraints, "critical,CA:TRUE");
        add(made, NID_subject_alt_name, "IP:" + address);
        X509_sign(made, key, EVP_sha256());
        const open_file pem{std::fopen(file().c_str(), "w")};
        PEM_write_X509(pem.get(), made);
        const open_file secret{std::fopen(key_file().c_str(), "w")};
        PEM_write_PrivateKey(secret.get(), key, nullptr, nullptr, 0, nullptr, nullptr);
        X509_free(made);
        EVP_PKEY_free(key);
    }
    ~certificate() {
        std::error_code ignored;
        fs::remove_all(folder_, ignored);
    }
    certificate(const certificate&) = delete;
    certificate& operator=(const certificate&) = delete;

    [[nodiscard]] std::string file() const { return (folder_ / "cert.pem").string(); }
    [[nodiscard]] std::string key_file() const { return (folder_ / "key.pem").string(); }

private:
    static void add(X509* to, int what, const std::string& value) {
        X509_EXTENSION* const made = X509V3_EXT_conf_nid(nullptr, nullptr, what, value.c_str());
        X509_add_ext(to, made, -1);
        X509_EXTENSION_free(made);
    }

    fs::path folder_;
};

rig_options serving_tls(const certificate& with) {
    return {.adjust = [&with](gateway_options& options) {
        options.server.tls =
            tls_server_options{.certificate_file = with.file(), .key_file = with.key_file()};
    }};
}

// Goes to `inner` over https and trusts `ca`.
rig_options calling_tls(rig& inner, const std::string& ca) {
    return {.adjust = [&inner, ca](gateway_options& options) {
        options.upstream.url.how = net::base_url::scheme::https;
        options.upstream.url.at.port = inner.port();
        options.upstream.ca_file = ca;
    }};
}

TEST(Tls, ProtectedAndStreamedRequestsPassOnBothSides) {
    const certificate own{"127.0.0.1"};
    rig inner{serving_tls(own)};
    rig outer{calling_tls(inner, own.file())};

    EXPECT_EQ(outer.post("k").body, "order 1");
    EXPECT_EQ(outer.post("k").body, "order 1");
    EXPECT_EQ(get(outer.port()).body, "order 2");
    const std::string large(std::size_t{3} << 20U, 'x');
    inner.behind.now_does([&](const seen_request& request, socket& to) {
        to.write(response_text(200, request.body));
    });
    EXPECT_EQ(outer.send({.body = large, .method = "PUT"}).body, large);
    EXPECT_EQ(*inner.behind.seen().front().head.headers.find("X-Forwarded-Proto"), "https");
    EXPECT_EQ(inner.gateway().counts().server.requests, 3U);
}

TEST(Tls, CertificatesOfOthersAreRefused) {
    const certificate own{"127.0.0.1"};
    const certificate other{"127.0.0.1"};
    const certificate elsewhere{"10.0.0.1"};
    rig inner{serving_tls(own)};
    rig wrong_issuer{calling_tls(inner, other.file())};
    rig misplaced{serving_tls(elsewhere)};
    rig wrong_host{calling_tls(misplaced, elsewhere.file())};

    EXPECT_EQ(wrong_issuer.post("k").problem(), "503 upstream-unreachable");
    EXPECT_EQ(wrong_host.post("k").problem(), "503 upstream-unreachable");
    EXPECT_EQ(inner.behind.requests() + misplaced.behind.requests(), 0);
}

TEST(Tls, PlainBytesAndSilenceDoNotDisturbOthers) {
    const certificate own{"127.0.0.1"};
    rig inner{serving_tls(own)};
    rig outer{calling_tls(inner, own.file())};
    client plain{inner.port()};
    plain.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    const client silent{inner.port()};

    EXPECT_TRUE(plain.connection().ends());
    EXPECT_EQ(outer.post("k").status, 201);
}

TEST(Tls, RequiredClientCertificatesAreRequired) {
    const certificate own{"127.0.0.1"};
    rig inner{{.adjust = [&](gateway_options& options) {
        options.server.tls =
            tls_server_options{.certificate_file = own.file(),
                               .key_file = own.key_file(),
                               .client_ca_file = own.file(),
                               .client = tls_server_options::client_certificate::required};
    }}};
    rig outer{calling_tls(inner, own.file())};

    EXPECT_NE(outer.post("k").status, 201);
    EXPECT_EQ(inner.behind.requests(), 0);
}

// ---- sessions

template <auto Free> struct freer {
    template <class What> void operator()(What* what) const { Free(what); }
};
using tls_context = std::unique_ptr<SSL_CTX, freer<SSL_CTX_free>>;
using tls_session = std::unique_ptr<SSL_SESSION, freer<SSL_SESSION_free>>;

// One version of TLS, and a certificate or none.
tls_context client_context(int version, const certificate* shown) {
    tls_context made{SSL_CTX_new(TLS_client_method())};
    SSL_CTX_set_min_proto_version(made.get(), version);
    SSL_CTX_set_max_proto_version(made.get(), version);
    if (shown == nullptr) return made;
    SSL_CTX_use_certificate_file(made.get(), shown->file().c_str(), SSL_FILETYPE_PEM);
    SSL_CTX_use_PrivateKey_file(made.get(), shown->key_file().c_str(), SSL_FILETYPE_PEM);
    return made;
}

struct tls_visit {
    bool answered = false, resumed = false;
    tls_session session = {};
};

// One request on a connection of its own.
tls_visit visit(std::uint16_t port, SSL_CTX* with, SSL_SESSION* resumes = nullptr) {
    const socket connection = socket::connect(port);
    const std::unique_ptr<SSL, freer<SSL_free>> tls{SSL_new(with)};
    SSL_set_fd(tls.get(), connection.descriptor());
    if (resumes != nullptr) SSL_set_session(tls.get(), resumes);
    tls_visit made;
    if (SSL_connect(tls.get()) != 1) return made;
    const std::string_view asked =
        "GET / HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 192.0.2.7\r\n\r\n";
    SSL_write(tls.get(), asked.data(), static_cast<int>(asked.size()));
    char got[12] = {};
    const int count = SSL_read(tls.get(), got, sizeof got);
    made.answered = count == sizeof got && std::string_view{got, sizeof got} == "HTTP/1.1 201";
    made.resumed = SSL_session_reused(tls.get()) == 1;
    made.session.reset(SSL_get1_session(tls.get()));
    SSL_shutdown(tls.get());
    return made;
}

rig_options with_client_ca(const certificate& own) {
    return {.adjust = [&own](gateway_options& options) {
        options.server.tls = tls_server_options{.certificate_file = own.file(),
                                                .key_file = own.key_file(),
                                                .client_ca_file = own.file()};
    }};
}

TEST(Tls, SessionsAreResumedWhereClientsMayShowCertificates) {
    const certificate own{"127.0.0.1"};
    rig all{with_client_ca(own)};
    for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
        for (const certificate* shown : {static_cast<const certificate*>(nullptr), &own}) {
            const auto context = client_context(version, shown);

            const tls_visit first = visit(all.port(), context.get());
            const tls_visit second = visit(all.port(), context.get(), first.session.get());

            EXPECT_TRUE(first.answered) << version;
            EXPECT_TRUE(second.answered) << version;
            EXPECT_TRUE(second.resumed) << version;
        }
    }
}

// The client does not show its certificate again: what the server knows comes from the session.
TEST(Tls, AResumedSessionIsTrustedLikeItsFirstConnection) {
    const certificate own{"127.0.0.1"};
    rig all{with_client_ca(own)};
    const auto forwarded = [&] {
        const auto seen = all.behind.seen();
        return *seen.back().head.headers.find("X-Forwarded-For");
    };
    for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
        const auto known = client_context(version, &own);
        const tls_visit first = visit(all.port(), known.get());
        ASSERT_TRUE(visit(all.port(), known.get(), first.session.get()).resumed);
        EXPECT_EQ(forwarded(), "192.0.2.7, 127.0.0.1") << version;

        const auto stranger = client_context(version, nullptr);
        const tls_visit other = visit(all.port(), stranger.get());
        ASSERT_TRUE(visit(all.port(), stranger.get(), other.session.get()).resumed);
        EXPECT_EQ(forwarded(), "127.0.0.1") << version;
    }
}

TEST(Tls, WithoutForwardSecrecyThereIsNoConnection) {
    const certificate own{"127.0.0.1"};
    rig all{serving_tls(own)};
    const auto plain = client_context(TLS1_2_VERSION, nullptr);
    SSL_CTX_set_cipher_list(plain.get(), "kRSA:AES128-SHA:AES256-GCM-SHA384:@SECLEVEL=0");
    const auto cbc = client_context(TLS1_2_VERSION, nullptr);
    SSL_CTX_set_cipher_list(cbc.get(), "ECDHE-ECDSA-AES128-SHA:@SECLEVEL=0");
    const auto good = client_context(TLS1_2_VERSION, nullptr);

    EXPECT_FALSE(visit(all.port(), plain.get()).answered);
    EXPECT_FALSE(visit(all.port(), cbc.get()).answered);
    EXPECT_TRUE(visit(all.port(), good.get()).answered);
}

} // namespace
} // namespace semel::edge::tls_test
