// A → B → C under one key: each operation takes effect once, though A is asked again and again and
// B is killed between C's answer and its own commit.
#include <filesystem>
#include <future>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "booking.hpp"
#include "semel/grpc/client.hpp"
#include "served.hpp"
#include "support/free_port.hpp"

namespace semel::grpc_test {
namespace {

using namespace std::chrono_literals;

std::string free_address() {
    return "127.0.0.1:" + std::to_string(test::free_port());
}

// B, a process of its own.
class hop_process {
public:
    explicit hop_process(std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(), SEMEL_GRPC_HOP);
        std::vector<char*> words;
        for (auto& one : arguments) words.push_back(one.data());
        words.push_back(nullptr);
        EXPECT_EQ(::posix_spawn(&pid_, words[0], nullptr, nullptr, words.data(), environ), 0);
    }
    hop_process(const hop_process&) = delete;
    hop_process& operator=(const hop_process&) = delete;
    ~hop_process() {
        if (pid_ > 0) {
            ::kill(pid_, SIGKILL);
            wait();
        }
    }

    // How it ended.
    int wait() {
        int status = 0;
        ::waitpid(pid_, &status, 0);
        pid_ = -1;
        return status;
    }

private:
    pid_t pid_ = -1;
};

std::unique_ptr<Payments::Stub> stub_to_next(const std::string& address) {
    ::grpc::ChannelArguments how;
    how.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
    how.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 50);
    how.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 200);
    return Payments::NewStub(
        grpc::open_channel(address, ::grpc::InsecureChannelCredentials(), {}, how));
}

// As a client does that wants its answer.
called charge_until_done(served& at, std::atomic<int>& repeats) {
    const auto deadline = std::chrono::steady_clock::now() + patience;
    called last;
    while (std::chrono::steady_clock::now() < deadline) {
        last = at.charge("order-17", 100);
        if (last.status.ok()) break;
        ++repeats;
        std::this_thread::sleep_for(20ms); // what RetryInfo would say
    }
    return last;
}

TEST(GrpcChain, EachOperationTakesEffectOnceThoughTheMiddleIsKilled) {
    const scratch_database scratch;
    served c{form::service, {}};
    const std::string b_address = free_address();
    const std::vector<std::string> b_arguments{b_address, scratch.file(), c.address(),
                                               scratch.flag()};
    const auto to_b = stub_to_next(b_address);
    std::atomic<int> a_done = 0;
    setup a_policies{.charge = {.wait_max = 60s}};
    a_policies.policy.attempts_max = 1'000'000; // while B is away each repeat is one
    served a{form::service, std::move(a_policies), [&](auto&, const auto&, auto& reply) {
                 const auto from_b = call(*to_b, &Payments::Stub::Charge, charge_of(1), {});
                 if (!from_b.status.ok()) return from_b.status;
                 reply.set_number(from_b.reply.number());
                 ++a_done;
                 return Status::OK;
             }};
    std::atomic<int> repeats = 0;
    std::vector<std::future<called>> clients;

    hop_process b{b_arguments};
    for (int i = 0; i < 8; ++i) {
        clients.push_back(
            std::async(std::launch::async, [&] { return charge_until_done(a, repeats); }));
    }
    const int ended = b.wait();
    EXPECT_EQ(rows_booked(scratch.file()), 0);
    hop_process b_again{b_arguments};

    for (auto& one : clients) {
        const auto got = one.get();
        EXPECT_TRUE(got.status.ok()) << got.status.error_message();
        EXPECT_EQ(got.reply.number(), 1);
    }
    EXPECT_TRUE(WIFSIGNALED(ended) && WTERMSIG(ended) == SIGKILL);
    EXPECT_GT(repeats, 0);
    EXPECT_EQ(a_done, 1);
    EXPECT_EQ(rows_booked(scratch.file()), 1);
    EXPECT_EQ(c.runs(), 1);
    EXPECT_EQ(c.engine().counters().replayed, 1U); // to B's second life
    EXPECT_TRUE(a.charge("order-17", 100).replayed());
}

} // namespace
} // namespace semel::grpc_test
