#include "confirm.hpp"

#include <unistd.h>

#include <iostream>

#include "commands.hpp"

namespace semel::app {

void confirm(const std::string& question, consent how) {
    if (how == consent::given) return;
    if (::isatty(STDIN_FILENO) == 0) {
        throw usage_error("this cannot be undone: say --yes, or run it on a terminal");
    }
    std::cerr << question << " [yes/no] " << std::flush;
    std::string answer;
    std::getline(std::cin, answer);
    if (answer == "yes") return;
    std::cerr << "semel: nothing was changed\n";
    throw CLI::RuntimeError{1};
}

} // namespace semel::app
