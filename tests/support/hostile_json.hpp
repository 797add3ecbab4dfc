// JSON that is small on the wire and large or slow for a careless parser.
#pragma once

#include <time.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace semel::support {

struct hostile_json {
    std::string_view name;
    std::string text;
};

// One of each kind, each of about this many bytes.
inline std::vector<hostile_json> hostile_jsons(std::size_t bytes = std::size_t{2} << 20U) {
    const auto repeated = [bytes](std::string_view begin, std::string_view unit,
                                  std::string_view end) {
        std::string text{begin};
        while (text.size() + unit.size() + end.size() < bytes) text += unit;
        if (unit.ends_with(',')) text.pop_back();
        return text += end;
    };
    std::string members = "{";
    for (std::size_t i = 0; members.size() < bytes; ++i) {
        members += "\"" + std::to_string(i) + "\":{},";
    }
    members.back() = '}';
    const std::string half(bytes / 2, '[');
    return {
        {"objects in an array", repeated("[", "{},", "]")},
        {"objects in an object", repeated("{", R"("i":{},)", "}")},
        {"different objects in an object", members},
        {"arrays in an array", repeated("[", "[0],", "]")},
        {"empty arrays", repeated(R"({"a":[)", "[],", "]}")},
        {"numbers", repeated("[", "0,", "]")},
        {"objects with a member", repeated("[", R"({"i":{}},)", "]")},
        {"open arrays", std::string(bytes, '[')},
        {"open objects", repeated("", R"({"a":)", "")},
        {"nested arrays", half + std::string(half.size(), ']')},
        {"one string", repeated("[\"", "x", "\"]")},
        {"escapes", repeated("[\"", "\\u0041", "\"]")},
        {"one number", repeated("[", "1", "]")},
        {"a fraction", repeated("[0.", "1", "]")},
        {"quotes", repeated("", "\"", "")},
        {"backslashes", repeated("[\"", "\\", "")},
    };
}

// Processor time of this process: the machine may be busy with other things.
template <class What> std::chrono::milliseconds time_of(What what) {
    const auto now = [] {
        timespec read{};
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &read);
        return std::chrono::seconds{read.tv_sec} + std::chrono::nanoseconds{read.tv_nsec};
    };
    const auto began = now();
    what();
    return std::chrono::duration_cast<std::chrono::milliseconds>(now() - began);
}

} // namespace semel::support
