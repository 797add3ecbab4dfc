// What a forked child says. It ends with _exit, as children should that do not exec.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <exception>
#include <stdexcept>
#include <string>

namespace semel::testing_support {

// The text that `what` gives in the child; with the signal that has ended it, if one has. A child
// that hangs is ended, too.
template <class What> [[nodiscard]] std::string said_by_child(What what) {
    std::array<int, 2> ends{};
    if (::pipe(ends.data()) != 0) throw std::runtime_error{"no pipe"};
    const pid_t child = ::fork();
    if (child == 0) {
        ::alarm(60);
        std::string text;
        try {
            text = what();
        } catch (const std::exception& thrown) {
            text = std::string{"threw: "} + thrown.what();
        }
        const auto sent = ::write(ends[1], text.data(), text.size());
        ::_exit(sent == static_cast<ssize_t>(text.size()) ? 0 : 1);
    }
    ::close(ends[1]);
    std::string said;
    std::array<char, 512> piece{};
    for (ssize_t got = 0; (got = ::read(ends[0], piece.data(), piece.size())) > 0;) {
        said.append(piece.data(), static_cast<std::size_t>(got));
    }
    ::close(ends[0]);
    int status = 0;
    ::waitpid(child, &status, 0);
    if (WIFSIGNALED(status)) said += "[ended by signal " + std::to_string(WTERMSIG(status)) + "]";
    return said;
}

} // namespace semel::testing_support
