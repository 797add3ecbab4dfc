#include "semel/http/problem.hpp"

#include <algorithm>
#include <array>
#include <chrono>

#include "http/json_text.hpp"
#include "http/problem_title.hpp"

namespace semel::http {
namespace {

struct problem_text {
    std::string_view slug;
    int status;
    std::string_view title;
    std::string_view stripe_code; // empty: none
    std::string_view advice;      // the detail of a problem that has none of its own
};

constexpr std::string_view again =
    "Send the same request again, unchanged, after the time in Retry-After.";

// In the order of problem_kind.
constexpr std::array<problem_text, 25> texts = {{
    {"request-malformed", 400, "The request is malformed", "",
     "Correct the request and send it again."},
    {"key-missing", 400, "This operation requires an Idempotency-Key", "idempotency_key_missing",
     "Send a unique key with each new request, and the same key with its repeats."},
    {"key-malformed", 400, "The Idempotency-Key is malformed", "idempotency_key_invalid",
     "Send one key of printable ASCII, in double quotes."},
    {"key-too-long", 400, "The Idempotency-Key is too long", "idempotency_key_invalid",
     "Send a shorter key."},
    {"key-reserved", 400, "The Idempotency-Key is reserved", "idempotency_key_invalid",
     "The key has the form of one that is derived from a request, but from another one than this. "
     "Send no key, or one of your own, such as a UUID."},
    {"tenant-missing", 401, "The request names no tenant that is known", "",
     "Authenticate in the way this server is configured for."},
    {"principal-missing", 401, "The request does not say whose it is", "",
     "Send the credentials that this operation goes by."},
    {"body-too-large", 413, "The body is larger than this operation allows", "",
     "Send a smaller body."},
    {"in-progress", 409, "A request with this Idempotency-Key is in progress",
     "idempotency_key_in_use", again},
    {"in-doubt", 409, "Whether the request took effect is not known", "idempotency_in_doubt",
     "Do not send the request under another key: it may have taken effect. An operator or the "
     "service decides; a later repeat under the same key tells what was decided."},
    {"mismatch", 422, "The Idempotency-Key was used with another request", "idempotency_key_reused",
     "Send another request under another key. A repeat must be equal to the first request: method, "
     "host, path, query, media type and body."},
    {"failed", 500, "The request failed before and is not run again", "idempotency_failed",
     "Remove the cause, then send a new request under a new key."},
    {"result-not-kept", 409, "The request was executed; its answer was not kept",
     "idempotency_result_not_kept",
     "Do not send it again under another key. Ask the service for what the request has made."},
    {"unavailable", 503, "The request could not be checked for repetition", "", again},
    {"unconfirmed", 503, "The request was executed; its record is not confirmed yet", "", again},
    {"result-unreadable", 500, "The stored answer cannot be read", "",
     "Do not send the request under another key: it was executed. The server's operator can look "
     "at its record."},
    {"upstream-unreachable", 503, "The service could not be reached; nothing was executed", "",
     again},
    {"outcome-unknown", 504, "The service did not answer; the request may have taken effect", "",
     "Send the same request again, unchanged, under the same key."},
    {"forbidden", 403, "The token does not allow that", "",
     "Use a token with the scope that is needed."},
    {"not-found", 404, "There is no such thing", "",
     "Check the path, and the names in the request."},
    {"fenced-off", 409, "The attempt is no longer the record's", "",
     "Another attempt has the record by now. Drop the result of this one."},
    {"not-renewed", 409, "The attempt may not be kept alive any longer", "",
     "End the attempt: complete it, or let it fail."},
    {"limit-exceeded", 409, "The record has no room for more", "",
     "Keep fewer or smaller checkpoints."},
    {"overloaded", 503, "The server holds too many requests; nothing was executed", "", again},
    {"operation-unknown", 400, "This server does not know the operation", "",
     "Check the name of the operation. If the name is right, the server's operator adds the "
     "operation to the configuration."},
}};

const problem_text& text_of(problem_kind kind) {
    return texts.at(static_cast<std::size_t>(kind));
}

bool is_stripe(profile style) {
    return style == profile::stripe_v1 || style == profile::stripe_v2;
}

std::string body_of(const problem& what, int status, const problem_options& options,
                    profile style) {
    const problem_text& text = text_of(what.kind);
    json_object body;
    body.add("type", options.type_base + std::string{text.slug})
        .add("title", text.title)
        .add("status", status);
    body.add("detail", what.detail.empty() ? text.advice : std::string_view{what.detail});
    if (what.original_status) body.add("original_status", *what.original_status);
    if (what.attempts > 0) body.add("attempts", what.attempts);
    if (is_stripe(style) && !text.stripe_code.empty()) {
        const std::string_view message = what.detail.empty() ? text.title : what.detail;
        body.add("error", json_object{}
                              .add("type", "idempotency_error")
                              .add("code", text.stripe_code)
                              .add("message", message));
    }
    return body.finish();
}

} // namespace

std::string_view slug(problem_kind kind) {
    return text_of(kind).slug;
}

std::string_view title(problem_kind kind) {
    return text_of(kind).title;
}

int status_of(problem_kind kind, profile style) {
    if (kind == problem_kind::mismatch && is_stripe(style)) return 400;
    return text_of(kind).status;
}

response to_response(const problem& what, const problem_options& options, profile style) {
    response answer{.status = what.status.value_or(status_of(what.kind, style))};
    answer.headers.add("Content-Type", "application/problem+json");
    answer.headers.add("Content-Language", "en");
    answer.headers.add("Cache-Control", "no-store");
    if (!options.documentation.empty()) {
        answer.headers.add("Link", "<" + options.documentation + "#" +
                                       std::string{slug(what.kind)} + ">; rel=\"describedby\"");
    }
    if (what.retry_after) answer.headers.add("Retry-After", retry_after_text(*what.retry_after));
    answer.body = body_of(what, answer.status, options, style);
    return answer;
}

std::string retry_after_text(duration after) {
    const auto seconds = std::chrono::ceil<std::chrono::seconds>(after);
    return std::to_string(std::max<std::int64_t>(1, seconds.count()));
}

namespace {

// With leading zeros. Every answer has dates, and printf is slow.
void append_digits(std::string& to, unsigned number, int width) {
    std::string digits(static_cast<std::size_t>(width), '0');
    for (auto at = digits.rbegin(); at != digits.rend(); ++at, number /= 10) {
        *at = static_cast<char>('0' + number % 10);
    }
    to.append(digits);
}

} // namespace

std::string http_date(time_point when) {
    constexpr std::array<const char*, 7> days = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    constexpr std::array<const char*, 12> months = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                    "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    const auto day = std::chrono::floor<std::chrono::days>(when);
    const std::chrono::year_month_day date{day};
    const std::chrono::hh_mm_ss time{std::chrono::floor<std::chrono::seconds>(when - day)};
    std::string text = days.at(std::chrono::weekday{day}.c_encoding());
    text.reserve(29);
    text.append(", ");
    append_digits(text, static_cast<unsigned>(date.day()), 2);
    text.append(" ").append(months.at(static_cast<unsigned>(date.month()) - 1)).append(" ");
    append_digits(text, static_cast<unsigned>(static_cast<int>(date.year())), 4);
    const std::array<std::int64_t, 3> parts = {time.hours().count(), time.minutes().count(),
                                               time.seconds().count()};
    for (std::size_t i = 0; i < parts.size(); ++i) {
        text.append(i == 0 ? " " : ":");
        append_digits(text, static_cast<unsigned>(parts[i]), 2);
    }
    text.append(" GMT");
    return text;
}

} // namespace semel::http
