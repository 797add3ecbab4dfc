#include <memory>
#include <stdexcept>

#include "commands.hpp"
#include "demo/demo.hpp"

namespace semel::app {
namespace {

void run_demo(const demo::options& with) {
    try {
        if (demo::play(with) != demo::judgement::as_promised) throw CLI::RuntimeError{1};
    } catch (const std::invalid_argument& wrong) {
        throw usage_error(wrong.what());
    }
}

} // namespace

void add_demo_command(CLI::App& tool) {
    auto with = std::make_shared<demo::options>();
    CLI::App& command =
        *tool.add_subcommand("demo", "Repeats, crashes and a slow owner: see it work");
    command.add_option("--dir", with->folder, "keep the demo's files in this new folder");
    command.add_flag_callback(
        "--json", [with] { with->how = demo::output::json; }, "print only a summary, as JSON");
    command.callback([with] { run_demo(*with); });
}

} // namespace semel::app
