// A program of the benchmark's own, for as long as a scenario runs.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace semel::bench {

class child_process {
public:
    // The program and its arguments. What it writes to standard output goes to `output`.
    child_process(const std::vector<std::string>& command, const std::filesystem::path& output);
    child_process(const child_process&) = delete;
    child_process& operator=(const child_process&) = delete;
    ~child_process(); // SIGTERM, and waits

    // The text behind `mark`, up to a blank, comma or line end, once it has been written.
    [[nodiscard]] std::string word_after(const std::string& mark) const;
    // The most memory it has had at once.
    [[nodiscard]] double peak_megabytes() const;
    // What it has now.
    [[nodiscard]] double megabytes() const;
    [[nodiscard]] std::size_t descriptors() const;

private:
    [[nodiscard]] std::filesystem::path about() const;
    [[nodiscard]] double megabytes_of(const std::string& mark) const;

    const std::filesystem::path output_;
    pid_t pid_ = -1;
};

// Of the machine's, free at this moment.
[[nodiscard]] int free_port();
// Until somebody listens there.
void wait_for_port(int port);

} // namespace semel::bench
