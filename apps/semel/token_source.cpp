#include "token_source.hpp"

#include "opened.hpp"

namespace semel::app {

void token_source::read() {
    // Before the file is read: what changes meanwhile is seen by the next look.
    seen_ = state_now();
    const auto file = opened(config::read_tokens(file_));
    to_->set(opened(config::to_table(file.lines)));
    if (file.to_others == config::exposure::readable) {
        log_warning(*log_, "others may read the file of tokens", {{"file", file_}});
    }
    log_info(*log_, "tokens read", {{"count", file.lines.size()}});
    note_changes(file.lines);
    read_.add();
    count_ = file.lines.size();
    old_ = false;
}

void token_source::reload() {
    try {
        read();
    } catch (const std::exception& why) {
        not_read_.add();
        old_ = true;
        looks_since_failure_ = 0;
        log_error(*log_, "tokens not read; those before stay in effect", {{"why", why.what()}});
    }
}

void token_source::look() {
    const state now = state_now();
    const bool at_rest = now == looked_at_;
    looked_at_ = now;
    const bool again = old_ && ++looks_since_failure_ >= looks_between_tries;
    if (at_rest && (now != seen_ || again)) reload();
}

edge::token_counts token_source::counts() const {
    return {.read = read_.get(), .not_read = not_read_.get(), .in_effect = count_};
}

token_source::state token_source::state_now() const {
    struct stat about {};
    if (::stat(file_.c_str(), &about) != 0) return {};
    const auto nanoseconds = [](const timespec& time) {
        return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
    };
    return {.device = about.st_dev,
            .number = about.st_ino,
            .size = about.st_size,
            .written = nanoseconds(about.st_mtim),
            .changed = nanoseconds(about.st_ctim)};
}

// `semel token` changes a file and has no log: what it did is noted where it takes effect.
void token_source::note_changes(const std::vector<config::token_line>& now) {
    std::map<std::string, http::grant> next;
    for (const config::token_line& one : now) next.emplace(one.id(), one.gives);
    const auto say = [&](std::string_view what, const auto& one) {
        log_info(*log_, what,
                 {{"token", one.first},
                  {"tenant", one.second.tenant},
                  {"scopes", http::to_string(one.second.may)}});
    };
    for (const auto& one : next) {
        const auto old = by_id_.find(one.first);
        if (read_.get() > 0 && (old == by_id_.end() || old->second != one.second)) {
            say("token is in effect", one);
        }
    }
    for (const auto& one : by_id_) {
        if (!next.contains(one.first)) say("token is revoked", one);
    }
    by_id_ = std::move(next);
}

} // namespace semel::app
