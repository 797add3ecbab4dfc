// Reads the json_reader of a JSON object one by one and remembers the first thing that is wrong.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "semel/base/time.hpp"

namespace semel::edge {

class json_reader {
public:
    using json = nlohmann::json;

    // `of` outlives this.
    explicit json_reader(const json& of);

    // None if it is not there; a wrong one is remembered and counts as not there.
    [[nodiscard]] std::optional<std::string> text(const std::string& name);
    [[nodiscard]] std::optional<duration> time(const std::string& name);
    [[nodiscard]] const json* object(const std::string& name);
    // Either `text` or `base64`, named so here; at most one of the two.
    [[nodiscard]] std::optional<std::string> bytes(const std::string& text,
                                                   const std::string& base64);
    // Known, and not read here.
    void pass(const std::string& name) { known_.insert(name); }

    // Remembers the first only.
    void wrong(std::string_view name, std::string_view why);
    // Nothing may be there that was not asked for. Last.
    void nothing_else();

    [[nodiscard]] const std::optional<std::string>& fault() const { return fault_; }

private:
    [[nodiscard]] const json* find(const std::string& name);

    const json& of_;
    std::set<std::string> known_;
    std::optional<std::string> fault_;
};

} // namespace semel::edge
