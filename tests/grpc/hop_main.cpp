// semel_grpc_hop ADDRESS FILE NEXT FLAG: the middle of a chain. Books each charge in FILE and lets
// NEXT charge too, in one transaction. Without the file FLAG it makes it and is killed, as if by
// kill -9, after NEXT has answered and before anything is committed.
#include <csignal>
#include <filesystem>
#include <fstream>
#include <unistd.h>

#include "booking.hpp"
#include "semel/databases/sqlite.hpp"
#include "semel/grpc/client.hpp"

namespace semel::grpc_test {
namespace {

void crash_once(const std::string& flag) {
    if (std::filesystem::exists(flag)) return;
    std::ofstream{flag} << "x";
    ::kill(::getpid(), SIGKILL);
}

int serve(const std::string& address, const std::string& file, const std::string& next,
          const std::string& flag) {
    ::grpc::ChannelArguments how;
    how.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
    const auto stub =
        Payments::NewStub(grpc::open_channel(next, ::grpc::InsecureChannelCredentials(), {}, how));
    semel::engine engine{open_sqlite_store({.path = file}).value()};
    booking service{engine, file, [&] {
                        const Status status =
                            call(*stub, &Payments::Stub::Charge, charge_of(1), {}).status;
                        crash_once(flag);
                        return status;
                    }};
    ::grpc::ServerBuilder builder;
    builder.AddListeningPort(address, ::grpc::InsecureServerCredentials());
    builder.RegisterService(&service);
    const auto server = builder.BuildAndStart();
    if (server == nullptr) return 1;
    server->Wait(); // until it is killed
    return 0;
}

} // namespace
} // namespace semel::grpc_test

int main(int argc, char** argv) {
    if (argc != 5) return 2;
    return semel::grpc_test::serve(argv[1], argv[2], argv[3], argv[4]);
}
