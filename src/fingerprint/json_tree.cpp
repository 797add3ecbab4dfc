#include "fingerprint/json_tree.hpp"

#include <algorithm>
#include <cstring>

#include <rapidjson/error/en.h>
#include <rapidjson/memorystream.h>
#include <rapidjson/reader.h>

#include "fingerprint/json_number.hpp"

namespace semel::detail {
namespace {

constexpr std::size_t hard_bytes_max = std::size_t{512} << 20U;

// Numbers as text, because a double would already have lost what we must keep; iterative, because
// the depth of the input must not become the depth of our stack.
constexpr unsigned ascii_flags =
    rapidjson::kParseNumbersAsStringsFlag | rapidjson::kParseIterativeFlag;
constexpr unsigned utf8_flags = ascii_flags | rapidjson::kParseValidateEncodingFlag;

bool is_ascii(std::string_view text) {
    unsigned char all = 0;
    for (const char c : text) all |= static_cast<unsigned char>(c);
    return all < 0x80;
}

failure at_offset(errc code, std::size_t offset, std::string_view what) {
    return failure{.code = code,
                   .detail = "at byte offset " + std::to_string(offset) + ": " + std::string{what}};
}

// Where a string that ends before `end` starts. Only for messages.
std::size_t string_start(std::string_view source, std::size_t end) {
    std::size_t at = end - 1; // the closing quote
    while (at > 0) {
        at = source.rfind('"', at - 1);
        std::size_t backslashes = 0;
        while (backslashes < at && source[at - backslashes - 1] == '\\') ++backslashes;
        if (backslashes % 2 == 0) break;
    }
    return at;
}

// RapidJSON refuses a lone high surrogate in an escape but encodes a lone low one.
bool has_surrogate(std::string_view utf8) {
    std::size_t at = 0;
    while ((at = utf8.find('\xED', at)) != std::string_view::npos) {
        if (at + 1 < utf8.size() && static_cast<unsigned char>(utf8[at + 1]) >= 0xA0) return true;
        ++at;
    }
    return false;
}

std::string message_of(rapidjson::ParseErrorCode code) {
    std::string text = rapidjson::GetParseError_En(code);
    if (text.ends_with('.')) text.pop_back();
    if (!text.empty() && text.front() >= 'A' && text.front() <= 'Z') text.front() += 'a' - 'A';
    return text;
}

} // namespace

// RapidJSON's event names are CamelCase; returning false stops the parser.
class json_tree_builder {
public:
    json_tree_builder(json_tree& tree, std::string_view source, const canonical_options& options)
        : tree_(tree), source_(source), options_(options), stream_(source.data(), source.size()) {}

    result<void> run() {
        rapidjson::Reader reader;
        // Most texts are ASCII, where there is no encoding to validate.
        const rapidjson::ParseResult parsed = is_ascii(source_)
                                                  ? reader.Parse<ascii_flags>(stream_, *this)
                                                  : reader.Parse<utf8_flags>(stream_, *this);
        if (why_) return *why_;
        if (parsed.IsError()) {
            return at_offset(errc::invalid_argument, parsed.Offset(), message_of(parsed.Code()));
        }
        // RapidJSON takes a NUL byte for the end of the text.
        if (stream_.Tell() != source_.size()) {
            return at_offset(errc::invalid_argument, stream_.Tell(), "data after the document");
        }
        tree_.nodes_.push_back(tree_.pending_.back());
        return {};
    }

    bool Null() { return leaf(json_kind::null_value); }
    bool Bool(bool value) { return leaf(value ? json_kind::true_value : json_kind::false_value); }
    bool String(const char* text, rapidjson::SizeType size, bool /*copy*/) {
        return leaf(json_kind::string) && keep({text, size}, tree_.pending_.back().value);
    }
    bool RawNumber(const char* text, rapidjson::SizeType size, bool /*copy*/) {
        if (!leaf(json_kind::number)) return false;
        const std::size_t start = tree_.text_.size();
        if (append_number(tree_.text_, {text, size}, options_.numbers) != number_outcome::written) {
            return stop(errc::invalid_argument, stream_.Tell() - size,
                        "the number does not fit a double");
        }
        tree_.pending_.back().value = slice(start, tree_.text_.size() - start);
        return true;
    }
    bool Key(const char* text, rapidjson::SizeType size, bool /*copy*/) {
        json_node& member = tree_.pending_.emplace_back();
        member.name_end_at = static_cast<std::uint32_t>(stream_.Tell());
        return keep({text, size}, member.name);
    }
    bool StartObject() { return start(json_kind::object); }
    bool StartArray() { return start(json_kind::array); }
    bool EndObject(rapidjson::SizeType count) { return sort_members(count) && end(count); }
    bool EndArray(rapidjson::SizeType count) { return end(count); }

    // Never called: numbers arrive as text.
    bool Int(int) { return false; }
    bool Uint(unsigned) { return false; }
    bool Int64(std::int64_t) { return false; }
    bool Uint64(std::uint64_t) { return false; }
    bool Double(double) { return false; }

private:
    static text_slice slice(std::size_t offset, std::size_t size) {
        return {static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(size)};
    }

    bool stop(errc code, std::size_t offset, std::string_view what) {
        why_ = at_offset(code, offset, what);
        return false;
    }

    // A member's node was made by its name; an element's or the root's is made here.
    bool leaf(json_kind kind) {
        if (++values_ > json_values_max) {
            return stop(errc::limit_exceeded, stream_.Tell(),
                        "more than " + std::to_string(json_values_max) + " values");
        }
        const bool named = !tree_.open_.empty() && tree_.open_.back() == json_kind::object;
        if (!named) tree_.pending_.emplace_back();
        tree_.pending_.back().kind = kind;
        return true;
    }

    bool keep(std::string_view text, text_slice& where) {
        if (has_surrogate(text)) {
            return stop(errc::invalid_argument, string_start(source_, stream_.Tell()),
                        "a lone surrogate in a string");
        }
        where = slice(tree_.text_.size(), text.size());
        tree_.text_ += text;
        return true;
    }

    bool start(json_kind kind) {
        if (tree_.open_.size() >= options_.depth_max) {
            return stop(errc::limit_exceeded, stream_.Tell(),
                        "nested deeper than " + std::to_string(options_.depth_max));
        }
        if (!leaf(kind)) return false;
        tree_.open_.push_back(kind);
        return true;
    }

    bool end(std::size_t count) {
        auto& pending = tree_.pending_;
        const auto first = pending.end() - static_cast<std::ptrdiff_t>(count);
        const text_slice children = slice(tree_.nodes_.size(), count);
        tree_.nodes_.insert(tree_.nodes_.end(), first, pending.end());
        pending.erase(first, pending.end());
        pending.back().value = children;
        tree_.open_.pop_back();
        return true;
    }

    bool sort_members(std::size_t count) {
        const auto last = tree_.pending_.end();
        const auto first = last - static_cast<std::ptrdiff_t>(count);
        const auto less = [this](const json_node& left, const json_node& right) {
            return utf16_less(tree_.text(left.name), tree_.text(right.name));
        };
        const auto ascending = [&less](const json_node& left, const json_node& right) {
            return !less(left, right);
        };
        // Most writers are regular: one pass shows that members are sorted and differ.
        if (std::adjacent_find(first, last, ascending) == last) return true;
        std::sort(first, last, less);
        const auto twice = std::adjacent_find(first, last, ascending);
        if (twice == last) return true;
        const std::uint32_t later = std::max(twice->name_end_at, (twice + 1)->name_end_at);
        return stop(errc::invalid_argument, string_start(source_, later),
                    "a name appears twice in one object");
    }

    json_tree& tree_;
    std::string_view source_;
    const canonical_options& options_;
    rapidjson::MemoryStream stream_;
    std::size_t values_ = 0;
    std::optional<failure> why_;
};

result<void> json_tree::parse(std::string_view text, const canonical_options& options) {
    text_.clear();
    nodes_.clear();
    pending_.clear();
    open_.clear();
    const std::size_t bytes_max = std::min(options.text_bytes_max, hard_bytes_max);
    if (text.size() > bytes_max) {
        return at_offset(errc::limit_exceeded, bytes_max,
                         "longer than " + std::to_string(bytes_max) + " bytes");
    }
    text_.reserve(text.size());
    return json_tree_builder{*this, text, options}.run();
}

// Bytes order UTF-8 by code point. UTF-16 differs in one place: code points beyond U+FFFF (lead
// byte F0 and up) are surrogate pairs there and come before U+E000 to U+FFFF (lead bytes EE, EF).
bool utf16_less(std::string_view left, std::string_view right) {
    const std::size_t common = std::min(left.size(), right.size());
    const auto [at_left, at_right] = std::mismatch(
        left.begin(), left.begin() + static_cast<std::ptrdiff_t>(common), right.begin());
    if (at_left == left.begin() + static_cast<std::ptrdiff_t>(common)) {
        return left.size() < right.size();
    }
    const auto a = static_cast<unsigned char>(*at_left);
    const auto b = static_cast<unsigned char>(*at_right);
    const bool pair_against_late_plane = a >= 0xEE && b >= 0xEE && (a >= 0xF0) != (b >= 0xF0);
    return pair_against_late_plane ? a >= 0xF0 : a < b;
}

} // namespace semel::detail
