// Authenticated encryption with named keys: AES-256-GCM over OpenSSL. Constant after construction:
// any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "semel/store/decorators.hpp"

namespace semel {

class sealed_box {
public:
    // Precondition: check() accepts the keys.
    explicit sealed_box(std::vector<encryption_key> keys) : keys_(std::move(keys)) {}

    [[nodiscard]] static result<void> check(const std::vector<encryption_key>& keys);

    // Encrypts with the first key. `bound` is not in the bytes but must be the same to open them.
    [[nodiscard]] std::string close(std::string_view plain, std::string_view bound) const;
    // None if no key has the id, or a bit of bytes or `bound` has changed.
    [[nodiscard]] std::optional<std::string> open(std::string_view sealed,
                                                  std::string_view bound) const;
    // True if the bytes look like something that close() made.
    [[nodiscard]] static bool is_sealed(std::string_view bytes);

private:
    [[nodiscard]] const encryption_key* find(std::string_view id) const;

    std::vector<encryption_key> keys_;
};

} // namespace semel
