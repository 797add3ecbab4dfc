#include "edge/server/worker.hpp"

#include <algorithm>

#include "semel/base/mutex.hpp"
#include "semel/http/problem.hpp"

namespace semel::edge {
namespace {

std::string date_now() {
    return http::http_date(
        std::chrono::time_point_cast<duration>(std::chrono::system_clock::now()));
}

} // namespace

thread_local worker* worker::current_ = nullptr;

void worker::enter(const std::shared_ptr<resident>& one) {
    one->place_ = residents_.insert(residents_.end(), one);
}

void worker::leave(resident& one) {
    if (!one.place_) return;
    asio::post(*context_, [kept = std::move(**one.place_)] {});
    residents_.erase(*std::exchange(one.place_, {}));
}

// What is done to one may be the end of any other.
template <class Do> void worker::for_each_resident(Do what) {
    const std::vector<std::shared_ptr<resident>> all{residents_.begin(), residents_.end()};
    for (const auto& one : all) {
        if (one->place_) what(*one);
    }
}

void worker::drain() {
    for_each_resident([](resident& one) { one.on_drain(); });
}

bool worker::replace_one() {
    std::shared_ptr<resident> longest;
    for (const auto& one : residents_) {
        const auto since = one->waits_since();
        if (since && (longest == nullptr || *since < *longest->waits_since())) longest = one;
    }
    if (longest != nullptr) longest->give_way();
    return longest != nullptr;
}

void worker::write_soon(std::shared_ptr<writer> one) {
    writers_.push_back(std::move(one));
    if (writers_.size() == 1) asio::post(*context_, [this] { write_all(); });
}

// What they bring in their turn is for the next row.
void worker::write_all() {
    std::swap(writers_, writers_now_);
    for (const auto& one : writers_now_) one->write_now();
    writers_now_.clear();
}

void worker::start(duration tick_time) {
    tick_ = tick_time;
    date_ = date_now();
    tick();
    thread_ = std::thread{[this] {
        current_ = this;
        context_->run();
    }};
}

void worker::stop() {
    if (context_) context_->stop();
    if (thread_.joinable()) thread_.join();
    residents_.clear();
    writers_.clear();
}

// Objects that are destroyed with the context may post to it. These posts are refused.
void worker::end() {
    ticker_.reset();
    guard_.reset();
    {
        const detail::guard lock{mutex_};
        ended_ = true;
    }
    context_.reset();
}

void worker::tick() {
    ticker_->expires_after(tick_);
    ticker_->async_wait([this](boost::system::error_code cancelled) {
        if (cancelled) return;
        date_ = date_now();
        const auto now = clock::now();
        for_each_resident([&](resident& one) { one.on_tick(now); });
        tick();
    });
}

crew::crew(unsigned threads, duration tick, apart also) {
    const unsigned count =
        threads > 0 ? threads : std::max(1U, std::thread::hardware_concurrency());
    if (also == apart::threads) apart_.emplace(std::max(1U, count / 2));
    for (unsigned i = 0; i < count; ++i) workers_.push_back(std::make_shared<worker>());
    for (const auto& one : workers_) one->start(tick);
}

crew::~crew() {
    stop();
    for (const auto& one : workers_) one->end();
}

void crew::stop() {
    for (const auto& one : workers_) one->context().stop();
    for (const auto& one : workers_) one->stop();
    if (!apart_) return;
    apart_->stop();
    apart_->join();
}

} // namespace semel::edge
