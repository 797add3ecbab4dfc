// `semel demo`, and the second instance it starts.
#include <fmt/format.h>

#include <cstdlib>
#include <iostream>
#include <memory>

#include "commands.hpp"
#include "demo_scenes.hpp"

namespace semel::app {

namespace demo {

namespace {

struct demo_options {
    std::string folder;
    output how = output::text;
};

void play(const demo_options& options) {
    const demo_folder folder{options.folder};
    world in{folder.path()};
    engine with = make_engine(in);
    narrator tell{options.how};
    tell.open(folder.path().string());
    const stage on{.in = in, .with = with, .tell = tell};
    std::vector<scene_report> all;
    for (const auto scene : {many_repeats, changed_payload, crash_before_the_charge,
                             crash_after_the_charge, crash_in_a_transaction, slow_owner}) {
        all.push_back(scene(on));
    }
    tell.summary(all);
    if (judge(all) != judgement::as_promised) throw CLI::RuntimeError{1};
}

// Prints that this point is reached and waits for a line. If the input has ended, ends the process.
void stop_here() {
    std::cout << "reached" << std::endl;
    std::string line;
    if (!std::getline(std::cin, line)) std::_Exit(1);
}

std::string served(world& in, const std::string& service, const order_request& what) {
    if (service == "naive-order") return fmt::format("order {}", naive_order(in, what));
    if (service == "naive-payment") return fmt::format("charge {}", naive_payment(in, what));
    engine with = make_engine(in);
    const auto got = service == "payment" ? semel_payment(with, in, what, "the slow owner")
                                          : transacted_order(with, in, what);
    return fmt::format("{} \"{}\", {} fenced off", name(got.kind()),
                       got.has_value() ? got.value() : "",
                       counted(with.counters().fenced_completions, "completion"));
}

} // namespace

void serve_as_child(const child_options& options) {
    world in{options.folder};
    const moment where = options.stop_at == "before" ? moment::before_effect : moment::after_effect;
    const auto stop = [where](moment now) {
        if (now == where) stop_here();
    };
    std::cout << served(in, options.service, {.key = options.key, .at = stop}) << std::endl;
}

std::vector<std::string> arguments_of(const child_options& options) {
    return {"demo-child", options.folder, options.service, options.stop_at, options.key};
}

} // namespace demo

void add_demo_command(CLI::App& tool) {
    auto options = std::make_shared<demo::demo_options>();
    CLI::App& play = *tool.add_subcommand("demo", "Repeats, crashes and a slow owner: see it work");
    play.add_option("--dir", options->folder, "keep the demo's files in this new folder");
    play.add_flag_callback(
        "--json", [options] { options->how = demo::output::json; },
        "print only a summary, as JSON");
    play.callback([options] { demo::play(*options); });

    auto child = std::make_shared<demo::child_options>();
    CLI::App& serve = *tool.add_subcommand("demo-child", "The demo's second instance");
    serve.group(""); // not for people
    serve.add_option("dir", child->folder)->required();
    serve.add_option("service", child->service)->required();
    serve.add_option("stop-at", child->stop_at)->required();
    serve.add_option("key", child->key)->required();
    serve.callback([child] { demo::serve_as_child(*child); });
}

} // namespace semel::app
