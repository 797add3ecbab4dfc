#include "store/sealed_box.hpp"

#include <array>
#include <memory>

#include <openssl/evp.h>
#include <openssl/rand.h>

#include "semel/base/result.hpp"

namespace semel {
namespace {

// Magic and version, size of the key's id (1 byte), id, nonce, ciphertext, tag.
constexpr std::string_view magic = "\x9ESB\x01"; // no text starts with a byte like the first
constexpr std::size_t secret_bytes = 32;
constexpr std::size_t nonce_bytes = 12;
constexpr std::size_t tag_bytes = 16;
constexpr std::size_t id_bytes_max = 64;

struct free_context {
    void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
};

// Contexts are kept per thread, and the algorithm is looked up once: both cost more than a small
// result.
EVP_CIPHER_CTX* context() {
    thread_local const std::unique_ptr<EVP_CIPHER_CTX, free_context> kept{EVP_CIPHER_CTX_new()};
    SEMEL_ASSERT(kept != nullptr);
    return kept.get();
}

const EVP_CIPHER* algorithm() {
    static const EVP_CIPHER* const fetched = EVP_CIPHER_fetch(nullptr, "AES-256-GCM", nullptr);
    SEMEL_ASSERT(fetched != nullptr);
    return fetched;
}

const unsigned char* bytes_of(std::string_view text) {
    return reinterpret_cast<const unsigned char*>(text.data());
}
unsigned char* bytes_of(std::string& text) {
    return reinterpret_cast<unsigned char*>(text.data());
}
int size_of(std::string_view text) {
    SEMEL_ASSERT(text.size() < (std::size_t{1} << 30U));
    return static_cast<int>(text.size());
}

enum class direction : int { decrypt = 0, encrypt = 1 };

// Begins one pass: key, nonce, then what is authenticated but not encrypted.
void start(direction which, std::string_view secret, std::string_view nonce,
           std::initializer_list<std::string_view> authenticated) {
    SEMEL_ASSERT(EVP_CipherInit_ex2(context(), algorithm(), bytes_of(secret), bytes_of(nonce),
                                    static_cast<int>(which), nullptr) == 1);
    for (const std::string_view part : authenticated) {
        int unused = 0;
        SEMEL_ASSERT(EVP_CipherUpdate(context(), nullptr, &unused, bytes_of(part), size_of(part)) ==
                     1);
    }
}

std::string transformed(std::string_view text) {
    std::string out(text.size(), '\0');
    int written = 0;
    SEMEL_ASSERT(
        EVP_CipherUpdate(context(), bytes_of(out), &written, bytes_of(text), size_of(text)) == 1);
    SEMEL_ASSERT(written == size_of(text));
    return out;
}

std::string head_of(const encryption_key& key) {
    std::string head{magic};
    head += static_cast<char>(key.id.size());
    return head += key.id;
}

std::string new_nonce() {
    std::string nonce(nonce_bytes, '\0');
    SEMEL_ASSERT(RAND_bytes(bytes_of(nonce), size_of(nonce)) == 1);
    return nonce;
}

failure wrong(std::string why) {
    return {.code = errc::invalid_argument, .detail = "encryption keys: " + std::move(why)};
}

} // namespace

result<void> sealed_box::check(const std::vector<encryption_key>& keys) {
    if (keys.empty()) return wrong("there is none");
    for (std::size_t i = 0; i < keys.size(); ++i) {
        const std::string& id = keys[i].id;
        if (id.empty() || id.size() > id_bytes_max) return wrong("an id has 1 to 64 bytes");
        if (keys[i].secret.size() != secret_bytes) return wrong("'" + id + "' has not 32 bytes");
        for (std::size_t other = 0; other < i; ++other) {
            if (keys[other].id == id) return wrong("'" + id + "' is there twice");
        }
    }
    return {};
}

std::string sealed_box::close(std::string_view plain, std::string_view bound) const {
    const std::string head = head_of(keys_.front());
    const std::string nonce = new_nonce();
    start(direction::encrypt, keys_.front().secret, nonce, {head, bound});
    std::string sealed = head + nonce + transformed(plain);
    std::array<unsigned char, tag_bytes> rest{};
    int written = 0;
    SEMEL_ASSERT(EVP_CipherFinal_ex(context(), rest.data(), &written) == 1 && written == 0);
    std::string tag(tag_bytes, '\0');
    SEMEL_ASSERT(EVP_CIPHER_CTX_ctrl(context(), EVP_CTRL_AEAD_GET_TAG, size_of(tag), tag.data()) ==
                 1);
    return sealed += tag;
}

std::optional<std::string> sealed_box::open(std::string_view sealed, std::string_view bound) const {
    if (!is_sealed(sealed)) return std::nullopt;
    const std::size_t id_bytes = static_cast<unsigned char>(sealed[magic.size()]);
    const std::size_t head_bytes = magic.size() + 1 + id_bytes;
    if (sealed.size() < head_bytes + nonce_bytes + tag_bytes) return std::nullopt;
    const encryption_key* key = find(sealed.substr(magic.size() + 1, id_bytes));
    if (key == nullptr) return std::nullopt;
    const std::string_view hidden = sealed.substr(
        head_bytes + nonce_bytes, sealed.size() - head_bytes - nonce_bytes - tag_bytes);
    std::string tag{sealed.substr(sealed.size() - tag_bytes)};
    start(direction::decrypt, key->secret, sealed.substr(head_bytes, nonce_bytes),
          {sealed.substr(0, head_bytes), bound});
    std::string plain = transformed(hidden);
    std::array<unsigned char, tag_bytes> rest{};
    int written = 0;
    SEMEL_ASSERT(EVP_CIPHER_CTX_ctrl(context(), EVP_CTRL_AEAD_SET_TAG, size_of(tag), tag.data()) ==
                 1);
    if (EVP_CipherFinal_ex(context(), rest.data(), &written) != 1) return std::nullopt;
    return plain;
}

bool sealed_box::is_sealed(std::string_view bytes) {
    return bytes.size() > magic.size() && bytes.starts_with(magic);
}

const encryption_key* sealed_box::find(std::string_view id) const {
    for (const encryption_key& key : keys_) {
        if (key.id == id) return &key;
    }
    return nullptr;
}

} // namespace semel
