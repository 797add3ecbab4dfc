// The scenes of the demo. Each runs the naive service and semel's through the same trouble.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "demo/report.hpp"
#include "demo/second_instance.hpp"
#include "demo/services.hpp"

namespace semel::demo {

// What the services act with while a scene is played.
struct stage {
    world& in;
    engine& with;
    const narrator& tell;
    scene_report& report;
    const std::string naive_key;
    second_instance* naive_other; // null: this scene has none
    second_instance* other;

    [[nodiscard]] std::size_t naive_effects() const { return in.effects(naive_key); }
    [[nodiscard]] std::size_t effects() const { return in.effects(report.key); }
    void expect(bool is_so, const char* should_be) const {
        if (!is_so) report.problems.emplace_back(should_be);
    }
};

class scene {
public:
    struct script {
        scene_report about;
        std::string title;
        void (*act)(const stage& on);
    };
    explicit scene(script what) : what_(std::move(what)) {}

    [[nodiscard]] scene_report play(world& in, engine& with, const narrator& tell,
                                    std::size_t number);

    // What second instances serve; one is paused at the given moment.
    using service = std::string (*)(world& in, const order_request& what);
    struct cast {
        service naive;
        service with_semel;
        moment pauses;
    };
    [[nodiscard]] scene starring(const std::filesystem::path& folder, const cast& others) &&;

private:
    [[nodiscard]] std::string naive_key() const { return "naive-" + what_.about.key; }

    script what_;
    std::unique_ptr<second_instance> naive_other_;
    std::unique_ptr<second_instance> other_;
};

// Forks the second instances.
[[nodiscard]] std::vector<scene> all_scenes(const std::filesystem::path& folder);

} // namespace semel::demo
