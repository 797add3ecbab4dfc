// What is decided per operation, and the limits of everything.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <vector>

#include "semel/base/time.hpp"

namespace semel {

// What happens to a processing record whose lease has lapsed.
enum class lease_expiry : std::uint8_t {
    retry, // the next caller takes over and runs the work again
    hold,  // the work does not run again by itself; an operator decides
    probe, // the same, but the reconciler asks the application what happened
};

// What a begin does when the record holds another fingerprint.
enum class on_mismatch : std::uint8_t {
    refuse,    // the usual: the same key must mean the same request
    overwrite, // last writer wins: a fresh start with the new content
};

// The part of an operation's policy that is stored in the record at begin. So a process with
// another configuration cannot take over a record that must be held.
struct record_policy {
    lease_expiry on_lease_expiry = lease_expiry::retry;
    std::uint32_t attempts_max = 100;
    // How long after lease_until a lapsed lease is still respected.
    duration grace = std::chrono::milliseconds{250};
    // How long renewals may keep one attempt alive, counted from its begin.
    duration processing_max = std::chrono::hours{24};

    friend bool operator==(const record_policy&, const record_policy&) = default;
};

// What a repeat does while another caller is running the work.
enum class wait_mode : std::uint8_t {
    answer, // is told "in progress" at once
    wait,   // waits for the result, up to wait_max
};

// What waiting repeats do when the attempt they waited for failed in a way that may be retried.
enum class on_owner_failure : std::uint8_t {
    take_over, // one of them runs the work, the others go on waiting
    share,     // all of them get the failure
};

// What an exception thrown by the work becomes.
enum class exception_class : std::uint8_t {
    retryable, // a failed record with the error kept; the same request may run again
    final,     // stored, and replayed as the failure
    release,   // forgotten, as if the work had never begun
};

// "Exceptions of this type are of that class." The first rule that matches decides; one that throws
// does not match.
struct failure_rule {
    bool (*matches)(const std::exception_ptr&);
    exception_class becomes = exception_class::retryable;
    duration retention = {};   // zero: the policy's failure_retention
    duration retry_after = {}; // retryable only
};

// The rule for exceptions of type E and of types derived from it.
template <class E> [[nodiscard]] failure_rule when(exception_class becomes) {
    const auto matches = [](const std::exception_ptr& thrown) {
        try {
            std::rethrow_exception(thrown);
        } catch (const E&) {
            return true;
        } catch (...) {
            return false;
        }
    };
    return {.matches = matches, .becomes = becomes};
}

// Everything that is decided per operation.
struct operation_policy {
    duration lease = std::chrono::seconds{30};
    duration retention = std::chrono::hours{24};
    duration failure_retention = std::chrono::hours{1};
    wait_mode wait = wait_mode::wait;
    duration wait_max = std::chrono::seconds{10};
    lease_expiry on_lease_expiry = lease_expiry::retry;
    on_mismatch mismatch = on_mismatch::refuse;
    on_owner_failure owner_failure = on_owner_failure::take_over;
    std::uint32_t attempts_max = record_policy{}.attempts_max;
    duration grace = record_policy{}.grace;
    duration processing_max = record_policy{}.processing_max;
    std::size_t result_bytes_max = std::size_t{1} << 20;
    exception_class on_exception = exception_class::retryable; // where no rule matches
    std::vector<failure_rule> failures = {};
};

// A limit on everything. Over a limit: a named error before any store access, and nothing changed.
struct limits {
    std::size_t key_bytes_max = 255;
    std::size_t tenant_bytes_max = 64;
    std::size_t operation_bytes_max = 64;
    std::size_t result_bytes_max = std::size_t{1} << 20;
    std::size_t result_ref_bytes_max = 255;
    std::size_t result_type_bytes_max = 255;
    std::size_t error_bytes_max = 4096;
    std::size_t attributes_bytes_max = 4096;
    std::size_t checkpoints_max = 64;
    std::size_t checkpoint_name_bytes_max = 64;
    std::size_t checkpoint_bytes_max = std::size_t{64} << 10;
    std::size_t waiters_per_key_max = 1'000;
    std::size_t waiters_max = 100'000;
    std::size_t executions_max = 65'536; // attempts and transactions under way
    std::size_t orphans_max = 10'000;    // claims of unanswered begins that are looked for
    std::size_t queue_max = 65'536;
    duration duration_max = std::chrono::hours{24 * 366 * 10};
};

} // namespace semel
