#include "fingerprint/sha256.hpp"

#include <memory>

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include "semel/base/result.hpp"

namespace semel::detail {
namespace {

template <auto Free> struct free_with {
    template <class T> void operator()(T* handle) const { Free(handle); }
};
using digest_context = std::unique_ptr<EVP_MD_CTX, free_with<EVP_MD_CTX_free>>;
using mac_context = std::unique_ptr<EVP_MAC_CTX, free_with<EVP_MAC_CTX_free>>;

// Fetching looks the algorithm up by name under a lock; once per process is enough. Never freed:
// contexts of threads that end late still refer to it.
const EVP_MD* algorithm() {
    static const EVP_MD* const fetched = EVP_MD_fetch(nullptr, "SHA256", nullptr);
    SEMEL_ASSERT(fetched != nullptr);
    return fetched;
}

EVP_MAC* mac_algorithm() {
    static EVP_MAC* const fetched = EVP_MAC_fetch(nullptr, "HMAC", nullptr);
    SEMEL_ASSERT(fetched != nullptr);
    return fetched;
}

const unsigned char* bytes_of(std::string_view text) {
    return reinterpret_cast<const unsigned char*>(text.data());
}

} // namespace

// OpenSSL fails here only without memory or without its own provider: nothing a caller can mend.
fingerprint sha256(parts_view parts) {
    thread_local const digest_context context{EVP_MD_CTX_new()};
    SEMEL_ASSERT(EVP_DigestInit_ex2(context.get(), algorithm(), nullptr) == 1);
    for (const std::string_view part : parts) {
        SEMEL_ASSERT(EVP_DigestUpdate(context.get(), part.data(), part.size()) == 1);
    }
    fingerprint::bytes_type digest;
    auto* const out = reinterpret_cast<unsigned char*>(digest.data());
    SEMEL_ASSERT(EVP_DigestFinal_ex(context.get(), out, nullptr) == 1);
    return fingerprint{digest};
}

fingerprint hmac_sha256(std::string_view secret, parts_view parts) {
    thread_local const mac_context context{EVP_MAC_CTX_new(mac_algorithm())};
    char name[] = "SHA256";
    const OSSL_PARAM params[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, name, 0),
        OSSL_PARAM_construct_end(),
    };
    SEMEL_ASSERT(EVP_MAC_init(context.get(), bytes_of(secret), secret.size(), params) == 1);
    for (const std::string_view part : parts) {
        SEMEL_ASSERT(EVP_MAC_update(context.get(), bytes_of(part), part.size()) == 1);
    }
    fingerprint::bytes_type digest;
    std::size_t written = 0;
    auto* const out = reinterpret_cast<unsigned char*>(digest.data());
    SEMEL_ASSERT(EVP_MAC_final(context.get(), out, &written, digest.size()) == 1);
    SEMEL_ASSERT(written == digest.size());
    return fingerprint{digest};
}

fingerprint digest(std::string_view secret, parts_view parts) {
    return secret.empty() ? sha256(parts) : hmac_sha256(secret, parts);
}

} // namespace semel::detail
