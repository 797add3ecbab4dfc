#include "edge/admin/metrics_text.hpp"

#include <cstdio>

namespace semel::edge {
namespace {

constexpr std::size_t first_bucket = 14; // 2^14 ns = 16 µs
constexpr std::size_t last_bucket = 34;  // 2^34 ns = 17 s

std::string seconds(std::uint64_t nanoseconds) {
    char text[32];
    std::snprintf(text, sizeof text, "%.9g", static_cast<double>(nanoseconds) * 1e-9);
    return text;
}

void append_escaped(std::string& to, std::string_view text) {
    for (const char c : text) {
        if (c == '\n') {
            to += "\\n";
        } else {
            if (c == '"' || c == '\\') to += '\\';
            to += c;
        }
    }
}

} // namespace

void metrics_text::counter(std::string_view name, std::string_view help) {
    family(name, help, "counter");
}

void metrics_text::gauge(std::string_view name, std::string_view help) {
    family(name, help, "gauge");
}

void metrics_text::histogram(std::string_view name, std::string_view help) {
    family(name, help, "histogram");
}

void metrics_text::family(std::string_view name, std::string_view help, std::string_view type) {
    name_ = "semel_" + std::string{name};
    text_.append("# HELP ").append(name_).append(" ").append(help).append("\n");
    text_.append("# TYPE ").append(name_).append(" ").append(type).append("\n");
}

void metrics_text::value(std::uint64_t number, labels with) {
    line("", with, "", std::to_string(number));
}

void metrics_text::value(const latency_snapshot& times, labels with) {
    std::uint64_t so_far = 0;
    for (std::size_t at = 0; at < times.buckets.size(); ++at) {
        so_far += times.buckets[at];
        if (at < first_bucket || at > last_bucket) continue;
        const std::string bound = "le=\"" + seconds(std::uint64_t{1} << at) + "\"";
        line("_bucket", with, bound, std::to_string(so_far));
    }
    line("_bucket", with, "le=\"+Inf\"", std::to_string(so_far));
    line("_sum", with, "", seconds(static_cast<std::uint64_t>(times.sum.count())));
    line("_count", with, "", std::to_string(so_far));
}

void metrics_text::value(const std::array<std::uint64_t, size_histogram::bucket_count>& sizes,
                         std::uint64_t sum) {
    std::uint64_t so_far = 0;
    for (std::size_t at = 0; at < sizes.size(); ++at) {
        so_far += sizes[at];
        const bool last = at + 1 == sizes.size();
        const std::string bound = last ? "+Inf" : std::to_string(std::uint64_t{1} << at);
        line("_bucket", {}, "le=\"" + bound + "\"", std::to_string(so_far));
    }
    line("_sum", {}, "", std::to_string(sum));
    line("_count", {}, "", std::to_string(so_far));
}

void metrics_text::line(std::string_view suffix, labels with, std::string_view more,
                        std::string_view number) {
    std::string inside;
    for (const auto& [name, value] : with) {
        inside.append(inside.empty() ? "" : ",").append(name).append("=\"");
        append_escaped(inside, value);
        inside += '"';
    }
    if (!more.empty()) inside.append(inside.empty() ? "" : ",").append(more);
    text_.append(name_).append(suffix);
    if (!inside.empty()) text_.append("{").append(inside).append("}");
    text_.append(" ").append(number).append("\n");
}

} // namespace semel::edge
