// Child keys along a call chain: the next hop gets a key that is the same on every repeat of this
// request and different from that of every other request. Pure; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "semel/fingerprint.hpp"

namespace semel {

// The longest key that any store takes. Longer results of the functions below become
// "sha256-<64 hex digits>", which stays deterministic but can no longer be read.
inline constexpr std::size_t derived_key_bytes_max = 255;

// The key of one step of the work done under `key`: derive("order-17", "payment") is
// "order-17:payment". Different pairs never give the same key: ':' and '%' inside the suffix are
// written %3A and %25, so the last ':' is always the one put here.
[[nodiscard]] std::string derive(std::string_view key, std::string_view suffix);

// A key as another system knows it: prefix("billing", "order-17") is "billing/order-17". Different
// pairs never give the same key: '/' and '%' inside the system's name are written %2F and %25, so
// the first '/' is always the one put here. May be mixed with derive in either order.
[[nodiscard]] std::string prefix(std::string_view system, std::string_view key);

// The key of a request that came without one: "fp-<64 hex digits>". Two requests with equal content
// are then one request; use it only where that is meant.
[[nodiscard]] std::string key_from(const fingerprint& content);
// Has it the form of such a key?
[[nodiscard]] bool is_derived_key(std::string_view key);

} // namespace semel
