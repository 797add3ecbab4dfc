// The file of tokens: a line each, `hash tenant scopes created comment`, where the hash is the
// SHA-256 of the token in hex. Lines that are empty or begin with # say nothing.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "semel/base/mutex.hpp"
#include "semel/base/result.hpp"
#include "semel/base/time.hpp"
#include "semel/http/tenant.hpp"

namespace semel::config {

struct token_line {
    fingerprint hash;
    http::grant gives = {};
    std::string created = {}; // 2026-01-31T12:00:00Z
    std::string comment = {}; // one line, may be empty

    // The first digits of the hash: what a token is called by those who may not see it.
    [[nodiscard]] std::string id() const;
};

// "semel_" and 43 letters that stand for 256 random bits.
[[nodiscard]] std::string new_token();

[[nodiscard]] std::string to_text(const token_line& line); // with its line end
// The failure's detail names `name` and the line.
[[nodiscard]] result<std::vector<token_line>> parse_tokens(std::string_view text,
                                                           const std::string& name);

// What other users of the machine could do with the file. With the right to write they can add a
// token of their own; with the right to read they learn hashes, names and scopes only.
enum class exposure : std::uint8_t { none, readable, writable };

struct token_file {
    std::vector<token_line> lines = {};
    exposure to_others = exposure::none;
};

// Blocking; a file that others may write to is refused.
[[nodiscard]] result<token_file> read_tokens(const std::string& path);
// Both replace the file as a whole and keep its owner and mode; where they cannot, nothing changes.
// Links are followed, except to a file that is not there.
//
// Adds a line; the file is made if there is none, for its owner only.
[[nodiscard]] result<void> append_token(const std::string& path, const token_line& line);
// Removes the lines whose id begins so and tells how many went.
// More than one: none goes, invalid_argument.
[[nodiscard]] result<std::size_t> revoke_token(const std::string& path, std::string_view id);

[[nodiscard]] result<http::token_table> to_table(const std::vector<token_line>& lines);

// The tokens in effect: replaced as a whole while requests look at them. Thread-safe.
class live_tokens {
public:
    void set(http::token_table tokens) {
        auto made = std::make_shared<const http::token_table>(std::move(tokens));
        const detail::guard lock{mutex_};
        now_ = std::move(made);
    }
    [[nodiscard]] std::optional<http::grant> find(std::string_view token) const {
        return get()->find(token);
    }
    [[nodiscard]] std::optional<http::grant> find(const fingerprint& hash) const {
        return get()->find(hash);
    }

    [[nodiscard]] std::shared_ptr<const http::token_table> get() const {
        const detail::guard lock{mutex_};
        return now_;
    }

private:
    mutable detail::mutex mutex_;
    // Shared with look-ups under way while it is replaced.
    std::shared_ptr<const http::token_table>
        now_ SEMEL_GUARDED_BY(mutex_) = std::make_shared<const http::token_table>();
};

// The gateway's source of tenants: tokens that have the scope `use`. Those of operators, who may
// settle and remove records, are refused: they are not for the path to a service.
[[nodiscard]] http::tenant_token tenants_of(std::shared_ptr<const live_tokens> tokens,
                                            http::tenant_token with = {});

} // namespace semel::config
