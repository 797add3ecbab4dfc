#include <memory>

#include <openssl/evp.h>

#include "semel/base/result.hpp"
#include "semel/fingerprint.hpp"
#include "semel/ids.hpp"

namespace semel {
namespace {

constexpr std::size_t secret_bytes_min = 16;
// What the lower half of a decrypted block must hold.
constexpr std::uint64_t check_bits = 0x73656D656C2D6964U; // "semel-id"

struct free_context {
    void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
};
using cipher_context = std::unique_ptr<EVP_CIPHER_CTX, free_context>;

enum class direction : int { decrypt = 0, encrypt = 1 };

// One block, so ECB is the plain AES permutation and no mode of operation at all.
uuid128 permute(const std::array<std::byte, 32>& key, uuid128 block, direction way) {
    static const EVP_CIPHER* const aes = EVP_CIPHER_fetch(nullptr, "AES-256-ECB", nullptr);
    thread_local const cipher_context context{EVP_CIPHER_CTX_new()};
    const auto* const key_bytes = reinterpret_cast<const unsigned char*>(key.data());
    SEMEL_ASSERT(EVP_CipherInit_ex2(context.get(), aes, key_bytes, nullptr, static_cast<int>(way),
                                    nullptr) == 1);
    SEMEL_ASSERT(EVP_CIPHER_CTX_set_padding(context.get(), 0) == 1);
    const uuid128::bytes_type in = block.bytes();
    uuid128::bytes_type out;
    int written = 0;
    SEMEL_ASSERT(EVP_CipherUpdate(context.get(), reinterpret_cast<unsigned char*>(out.data()),
                                  &written, reinterpret_cast<const unsigned char*>(in.data()),
                                  static_cast<int>(in.size())) == 1);
    SEMEL_ASSERT(written == static_cast<int>(out.size()));
    return *uuid128::from_bytes(out);
}

failure refused(std::string why) {
    return failure{.code = errc::invalid_argument, .detail = std::move(why)};
}

} // namespace

result<public_id_codec> public_id_codec::make(const public_id_codec_options& from) {
    if (from.prefix.empty() || !type_id::is_valid_prefix(from.prefix)) {
        return refused("a public id needs a prefix of at most 63 characters of a-z and '_' that "
                       "starts and ends with a letter");
    }
    if (from.secret.size() < secret_bytes_min) {
        return refused("the secret of public ids has at least 16 bytes, not " +
                       std::to_string(from.secret.size()));
    }
    // The prefix is part of the key: an order's id relabelled as a user's fails its check bits.
    const fingerprint key = fingerprint_builder{{.secret = from.secret}}
                                .add("use", "semel public id")
                                .add("prefix", from.prefix)
                                .finish();
    return public_id_codec{from.prefix, key.bytes()};
}

std::string public_id_codec::encode(std::uint64_t internal) const {
    const uuid128 block{.high = internal, .low = check_bits};
    return type_id{.prefix = prefix_, .value = permute(key_, block, direction::encrypt)}
        .to_string();
}

result<std::uint64_t> public_id_codec::decode(std::string_view text) const {
    const result<type_id> outer = type_id::parse(text);
    if (!outer) return refused("not a public id");
    if (outer->prefix != prefix_) {
        return refused("the public id's prefix is '" + outer->prefix + "', not '" + prefix_ + "'");
    }
    const uuid128 block = permute(key_, outer->value, direction::decrypt);
    if (block.low != check_bits) return refused("the public id was not issued here");
    return block.high;
}

} // namespace semel
