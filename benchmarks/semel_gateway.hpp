// The gateway of the tool built beside this program, before an upstream.
#pragma once

#include <filesystem>
#include <string>

#include "child_process.hpp"
#include "web_load.hpp"

namespace semel::bench {

class semel_gateway {
public:
    semel_gateway(const std::string& store, const nginx& to, const std::filesystem::path& folder,
                  const std::string& name)
        : running_({program(), "gateway", "--listen", "127.0.0.1:0", "--upstream", to.upstream(),
                    "--store", store, "--single-tenant", "acme", "--threads", "2"},
                   folder / (name + ".out")),
          url_("http://" + running_.word_after("listening on http://")) {}

    [[nodiscard]] const std::string& url() const { return url_; }
    [[nodiscard]] const child_process& process() const { return running_; }

private:
    static std::string program() {
        return std::filesystem::read_symlink("/proc/self/exe").parent_path() / "semel";
    }

    const child_process running_;
    const std::string url_;
};

} // namespace semel::bench
