#include "edge/server/server.hpp"

#include <algorithm>
#include <utility>

#include "edge/server/listener.hpp"
#include "edge/server/session.hpp"
#include "semel/http/problem.hpp"

namespace semel::edge {
namespace {

constexpr duration tick = std::chrono::milliseconds{250};

http::response internal_error() {
    return {.status = 500,
            .headers = {{"Content-Type", "application/problem+json"}},
            .body = R"({"type":"about:blank","title":"Internal Server Error","status":500})"};
}

// What is shared by the requests of one server.
struct handling {
    handler answers;
    doorkeeper door;
    crew& workers;
};

class handled;

// Answers once: by its call, or, if it is dropped uncalled, with a 500.
class replier {
public:
    replier(std::shared_ptr<handled> of, std::shared_ptr<worker> home)
        : of_(std::move(of)), home_(std::move(home)) {}
    replier(replier&&) noexcept = default;
    replier& operator=(replier&&) = delete;
    ~replier() {
        if (of_ != nullptr) (*this)(internal_error());
    }
    void operator()(http::response answer);

private:
    std::shared_ptr<handled> of_;  // shared with the session
    std::shared_ptr<worker> home_; // shared with the server
};

// One request on its way to the handler and back.
class handled final : public exchange, public std::enable_shared_from_this<handled> {
public:
    handled(session& client, const handling& by) : client_(&client), by_(by) {}

    void start() override {
        std::size_t bytes_max = client_->options().body_bytes_max;
        if (by_.door && client_->framing().how != http::body_framing::by::nothing) {
            body_admission says = by_.door(client_->head(), client_->peer().address);
            if (says.refusal) return client_->send(*std::move(says.refusal));
            bytes_max = std::min(bytes_max, says.bytes_max);
        }
        client_->collect(bytes_max);
    }

    void on_whole(std::string body) override {
        const bool large = body.size() > apart_bytes;
        share_ = client_->take_body_share();
        served_request what{.what = {.head = client_->take_request_head(), .body = std::move(body)},
                            .peer = client_->peer().address,
                            .trust = client_->peer().trust,
                            .tls = client_->tls()};
        replier answer{shared_from_this(), client_->home().shared_from_this()};
        if (!large) return call(by_.answers, std::move(what), std::move(answer));
        by_.workers.run_apart(
            [&answers = by_.answers, what = std::move(what), answer = std::move(answer)]() mutable {
                call(answers, std::move(what), std::move(answer));
            });
    }
    void on_end(ending) override { client_ = nullptr; }

    void answer(http::response with) {
        if (client_ != nullptr) client_->send(std::move(with));
    }

private:
    static void call(const handler& answers, served_request what, replier answer) {
        try {
            answers(std::move(what), std::move(answer));
        } catch (...) {
            // The reply was destroyed with the stack, and its destructor has answered 500.
        }
    }

    session* client_; // null when it has ended
    const handling& by_;
    budget_share share_; // of the body, which the handler has until it answers
};

void replier::operator()(http::response answer) {
    const auto of = std::exchange(of_, nullptr);
    if (of == nullptr) return;
    home_->run([of, answer = std::move(answer)]() mutable { of->answer(std::move(answer)); });
}

class handler_service final : public service {
public:
    explicit handler_service(handling by) : by_(std::move(by)) {}
    std::shared_ptr<exchange> open(session& client) override {
        return std::make_shared<handled>(client, by_);
    }

private:
    const handling by_;
};

} // namespace

struct server::parts {
    parts(unsigned threads, handler answers, doorkeeper door)
        : serves({.answers = std::move(answers), .door = std::move(door), .workers = workers}),
          workers(threads, tick, crew::apart::threads) {}

    handler_service serves;
    crew workers;
    std::unique_ptr<listener> listens;
};

result<std::unique_ptr<server>> server::start(server_options options, handler answers,
                                              doorkeeper door) {
    if (auto fine = check(options); !fine) return std::move(fine).error();
    auto made = std::make_unique<parts>(options.threads, std::move(answers), std::move(door));
    auto listens = listener::open(made->workers, std::move(options), made->serves);
    if (!listens) return std::move(listens).error();
    made->listens = *std::move(listens);
    return std::unique_ptr<server>{new server{std::move(made)}};
}

server::server(std::unique_ptr<parts> made) : parts_(std::move(made)) {}

server::~server() {
    parts_->workers.stop();
}

net::host_port server::address() const {
    return parts_->listens->address();
}

server_counts server::counts() const {
    return parts_->listens->state().counts();
}

void server::stop_accepting() {
    parts_->listens->drain();
}

drained server::drain(duration up_to) {
    stop_accepting();
    return parts_->listens->wait(up_to);
}

} // namespace semel::edge
