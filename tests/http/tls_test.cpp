// TLS on both sides: a gateway in front of a gateway in front of a plain upstream.
#include <gtest/gtest.h>

#include <openssl/pem.h>
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
        options.upstream.url.how = base_url::scheme::https;
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

} // namespace
} // namespace semel::edge::tls_test
