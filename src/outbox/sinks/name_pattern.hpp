// Names of streams and subjects that may depend on the event.
#pragma once

#include <string>
#include <string_view>

namespace semel::outbox {

// "events.{topic}": the topic stands where {topic} is; without it every event has the same name.
class name_pattern {
public:
    explicit name_pattern(std::string_view text) {
        constexpr std::string_view mark = "{topic}";
        const std::size_t at = text.find(mark);
        before_ = text.substr(0, at);
        if (at == std::string_view::npos) return;
        by_topic_ = true;
        after_ = text.substr(at + mark.size());
    }

    // Valid until the next call, and while the pattern and the topic live.
    [[nodiscard]] std::string_view of(std::string_view topic) {
        if (!by_topic_) return before_;
        if (before_.empty() && after_.empty()) return topic;
        made_.assign(before_).append(topic).append(after_);
        return made_;
    }

private:
    std::string before_;
    std::string after_;
    bool by_topic_ = false;
    std::string made_;
};

} // namespace semel::outbox
