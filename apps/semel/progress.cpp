#include "progress.hpp"

#include <unistd.h>

#include <algorithm>
#include <iostream>

#include <fmt/format.h>

#include "semel/base/mutex.hpp"

namespace semel::app {
namespace {

constexpr auto redraw = std::chrono::milliseconds{200};
constexpr std::uint64_t bar_width = 20;

// 1234567 → 1,234,567
std::string grouped(std::uint64_t number) {
    std::string text = std::to_string(number);
    for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > 0; at -= 3) {
        text.insert(static_cast<std::size_t>(at), ",");
    }
    return text;
}

} // namespace

std::string progress_line(const std::string& label, std::uint64_t done, std::uint64_t total,
                          std::chrono::duration<double> since) {
    std::string made = label;
    if (total > 0) {
        const std::uint64_t part = std::min(done, total);
        const auto filled = static_cast<std::size_t>(part * bar_width / total);
        made += fmt::format("  [{:<20}]  {:>3} %  {} of {}", std::string(filled, '='),
                            part * 100 / total, grouped(done), grouped(total));
    } else if (done > 0) {
        made += "  " + grouped(done);
    }
    const double seconds = since.count();
    if (done > 0 && seconds > 0) {
        const auto rate = static_cast<std::uint64_t>(static_cast<double>(done) / seconds);
        made += "  " + grouped(rate) + "/s";
    }
    return made + fmt::format("  {:.0f} s", seconds);
}

progress::progress(std::string label, std::uint64_t total)
    : label_(std::move(label)), total_(total) {
    if (::isatty(STDERR_FILENO) == 0) return;
    thread_ = std::jthread{[this](const std::stop_token& stop) {
        detail::guard lock{mutex_};
        while (!changed_.wait_for(lock, stop, redraw, [&] { return stop.stop_requested(); }))
            draw();
    }};
}

progress::~progress() {
    if (!thread_.joinable()) return;
    thread_.request_stop();
    thread_.join();
    std::cerr << "\r\x1b[K" << std::flush;
}

void progress::draw() {
    const auto since = std::chrono::steady_clock::now() - begun_;
    std::cerr << "\r\x1b[K" + progress_line(label_, done_.load(), total_, since) << std::flush;
}

} // namespace semel::app
