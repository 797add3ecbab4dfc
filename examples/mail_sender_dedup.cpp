// A mail goes out once per recipient and campaign, though the job that sends it runs twice.
#include <string>
#include <vector>

#include <semel/engine.hpp>
#include <semel/open.hpp>

#include "support.hpp"

using namespace std::chrono_literals;

namespace {

struct mail {
    std::string campaign;
    std::string recipient;
};

// `once` needs nothing but the name of the application and an id, which is remembered for the
// engine's default retention. A process that dies between sending and remembering sends that one
// mail again.
std::size_t send_all(semel::engine& engine, const std::vector<mail>& mails,
                     std::vector<std::string>& sent) {
    std::size_t skipped = 0;
    for (const auto& one : mails) {
        const auto done =
            engine.once({.application = "mailer", .id = one.campaign + "/" + one.recipient},
                        [&] { sent.push_back(one.recipient); });
        if (done == semel::consumed::duplicate) ++skipped;
    }
    return skipped;
}

} // namespace

int main() {
    const example::scratch folder;
    const std::vector<mail> mails{{"spring", "ada"}, {"spring", "bob"}, {"spring", "ada"}};
    std::vector<std::string> sent;

    {
        semel::engine engine{semel::open_store(folder.url()).value(), {.retention = 7 * 24h}};
        const std::size_t skipped = send_all(engine, mails, sent);
        example::claim(sent.size() == 2 && skipped == 1, "two of three mails went out");
    }
    { // the job is restarted and begins again with the first mail
        semel::engine engine{semel::open_store(folder.url()).value(), {.retention = 7 * 24h}};
        const std::size_t skipped = send_all(engine, mails, sent);
        example::claim(sent.size() == 2 && skipped == 3, "the restarted job sent nothing twice");
    }
    return 0;
}
