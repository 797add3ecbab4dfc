// Protection from inside of handlers: sync, in a transaction, and for callback services.
#include <future>

#include "booking.hpp"
#include "semel/databases/sqlite.hpp"
#include "semel/grpc.hpp"
#include "semel/grpc/client.hpp"
#include "semel/grpc/guard.hpp"
#include "served.hpp"

namespace semel::grpc_test {
namespace {

using namespace std::chrono_literals;

// A service on a port, and its stub.
class plain_server {
public:
    explicit plain_server(::grpc::Service& service) {
        ::grpc::ServerBuilder builder;
        builder.RegisterService(&service);
        server_ = started(builder, address_);
        stub_ = stub_to(address_);
    }
    ~plain_server() {
        stub_.reset();
        server_->Shutdown();
    }
    plain_server(const plain_server&) = delete;
    plain_server& operator=(const plain_server&) = delete;

    called charge(const std::string& key, std::int64_t amount) {
        return call(*stub_, &Payments::Stub::Charge, charge_of(amount), {.key = key});
    }
    [[nodiscard]] Payments::Stub& stub() { return *stub_; }

private:
    std::string address_;
    std::unique_ptr<::grpc::Server> server_;
    std::unique_ptr<Payments::Stub> stub_;
};

class self_guarded final : public Payments::Service {
public:
    explicit self_guarded(semel::engine& engine) : guard_(engine, acme()) {}

    Status Charge(::grpc::ServerContext* context, const ChargeRequest* request,
                  ChargeReply* reply) override {
        return guard_.execute(*context, method_, *request, *reply, [&](execution* run) {
            EXPECT_EQ(run, grpc::current_execution());
            reply->set_id(run->child_key("bank"));
            reply->set_number(++runs);
            return request->amount() < 0 ? Status{StatusCode::INVALID_ARGUMENT, "negative"}
                                         : Status::OK;
        });
    }
    int runs = 0;

private:
    const grpc::guard guard_;
    const grpc::protected_method method_ = charge_method_with();
};

TEST(GrpcHandler, RunsOncePerKey) {
    semel::engine engine{open_memory_store()};
    self_guarded service{engine};
    plain_server at{service};

    const auto wrong = at.charge("key-1", -1);
    const auto first = at.charge("key-1", 100);
    const auto again = at.charge("key-1", 100);
    const auto other = at.charge("key-1", 200);
    const auto none = at.charge("", 200);

    EXPECT_EQ(wrong.status.error_code(), StatusCode::INVALID_ARGUMENT);
    EXPECT_EQ(first.reply.id(), "key-1:bank");
    EXPECT_EQ(first.reply.number(), 2);
    EXPECT_TRUE(again.replayed());
    EXPECT_EQ(again.reply.SerializeAsString(), first.reply.SerializeAsString());
    EXPECT_EQ(other.status.error_code(), StatusCode::FAILED_PRECONDITION);
    EXPECT_EQ(none.status.error_code(), StatusCode::INVALID_ARGUMENT);
}

// ---- in a transaction

TEST(GrpcHandler, RowsAndRecordCommitTogether) {
    const scratch_database scratch;
    semel::engine engine{open_sqlite_store({.path = scratch.file()}).value()};
    Status answer{StatusCode::UNAVAILABLE, "later"};
    booking service{engine, scratch.file(), [&] { return answer; }};
    plain_server at{service};

    EXPECT_EQ(at.charge("key-1", 100).status.error_code(), StatusCode::UNAVAILABLE);
    EXPECT_EQ(rows_booked(scratch.file()), 0);
    answer = {StatusCode::NOT_FOUND, "no such card"};
    EXPECT_EQ(at.charge("key-1", 100).status.error_message(), "no such card");
    EXPECT_EQ(rows_booked(scratch.file()), 0);
    answer = Status::OK;
    const auto first = at.charge("key-1", 100);
    const auto again = at.charge("key-1", 100);

    EXPECT_EQ(first.reply.number(), 1);
    EXPECT_TRUE(again.replayed());
    EXPECT_EQ(again.reply.number(), 1);
    EXPECT_EQ(rows_booked(scratch.file()), 1);
}

// ---- callback services

class self_guarded_callback final : public Payments::CallbackService {
public:
    explicit self_guarded_callback(semel::engine& engine) : guard_(engine, acme()) {}
    ~self_guarded_callback() override {
        for (auto& one : working_) one.wait();
    }

    ::grpc::ServerUnaryReactor* Charge(::grpc::CallbackServerContext* context,
                                       const ChargeRequest* request, ChargeReply* reply) override {
        return guard_.start(
            *context, method_, *request, *reply,
            [this, reply](execution*, unique_function<void(Status)> done) {
                ++runs;
                if (!elsewhere) {
                    reply->set_number(runs);
                    return done(Status{StatusCode::NOT_FOUND, "no such card"});
                }
                working_.push_back(
                    std::async(std::launch::async, [this, reply, done = std::move(done)]() mutable {
                        go_on.get_future().wait();
                        reply->set_number(runs);
                        done(Status::OK);
                    }));
            });
    }

    std::atomic<int> runs = 0;
    std::atomic<bool> elsewhere = true;
    std::promise<void> go_on;

private:
    const grpc::guard guard_;
    const grpc::protected_method method_ = charge_method_with({.wait_max = 60s});
    std::vector<std::future<void>> working_; // of the one that runs
};

TEST(GrpcHandler, ACallbackServiceAnswersManyRepeatsOfOneRun) {
    semel::engine engine{open_memory_store(), {.lease = 10min}};
    self_guarded_callback service{engine};
    plain_server at{service};
    std::vector<std::future<called>> callers;
    for (int i = 0; i < 16; ++i) {
        callers.push_back(std::async(std::launch::async, [&] { return at.charge("key-1", 100); }));
    }
    while (engine.counters().waiting < 15) std::this_thread::yield();

    service.go_on.set_value();

    for (auto& one : callers) EXPECT_EQ(one.get().reply.number(), 1);
    EXPECT_EQ(service.runs, 1);
    EXPECT_EQ(at.charge("key-1", 7).status.error_code(), StatusCode::FAILED_PRECONDITION);
    EXPECT_EQ(at.charge("", 7).status.error_code(), StatusCode::INVALID_ARGUMENT);
    service.elsewhere = false;
    EXPECT_EQ(at.charge("key-2", 7).status.error_message(), "no such card");
    EXPECT_EQ(at.charge("key-2", 8).status.error_message(), "no such card");
}

TEST(GrpcHandler, ACallbackCallerThatLeavesStopsWaiting) {
    semel::engine engine{open_memory_store(), {.lease = 10min}};
    self_guarded_callback service{engine};
    plain_server at{service};
    auto first = std::async(std::launch::async, [&] { return at.charge("key-1", 100); });
    while (service.runs == 0) std::this_thread::yield();
    ::grpc::ClientContext context;
    prepare(context, {.key = "key-1"});
    auto waiting = std::async(std::launch::async, [&] {
        ChargeReply reply;
        return at.stub().Charge(&context, charge_of(100), &reply);
    });
    while (engine.counters().waiting < 1) std::this_thread::yield();

    context.TryCancel();

    EXPECT_EQ(waiting.get().error_code(), StatusCode::CANCELLED);
    while (engine.counters().waiting > 0) std::this_thread::yield();
    service.go_on.set_value();
    EXPECT_TRUE(first.get().status.ok());
}

// ---- messages as results

TEST(GrpcCodec, AMessageIsAResult) {
    semel::engine engine{open_memory_store()};
    const request what{.tenant = "acme", .operation = "CHARGE", .key = "key-1"};
    const auto work = [] {
        ChargeReply reply;
        reply.set_id("charge-1");
        reply.GetReflection()->MutableUnknownFields(&reply)->AddVarint(4000, 7);
        return reply;
    };

    const auto first = engine.execute<ChargeReply>(what, work);
    const auto again = engine.execute<ChargeReply>(what, work);

    EXPECT_TRUE(again.replayed());
    EXPECT_EQ(again.value().SerializeAsString(), first.value().SerializeAsString());
    EXPECT_THROW(codec<ChargeReply>::decode("\x0A\xFF"), failure_error);
}

} // namespace
} // namespace semel::grpc_test
