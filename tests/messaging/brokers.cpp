#include "messaging/brokers.hpp"

#include "messaging/nats_client.hpp"
#include "messaging/private_nats.hpp"
#include "stores/redis/private_redis.hpp"

namespace semel::messaging_test {

namespace {

std::string fresh_name() {
    static int last = 0;
    return "consumed-" + std::to_string(::getpid()) + "-" + std::to_string(++last);
}

std::string field_of(const std::string& entry, const std::string& name) {
    const std::size_t at = entry.find("\n" + name + "\n") + name.size() + 2;
    return entry.substr(at, entry.find('\n', at) - at);
}

class redis_face {
public:
    explicit redis_face(std::string url) : url_(std::move(url)) {}

    std::string sink_url() const { return url_ + "/0?stream=" + name_; }
    std::string consumer_url() const {
        return url_ + "/0?stream=" + name_ + "&group=billing&command_timeout_ms=2000";
    }
    std::vector<std::string> dead_letters() {
        std::vector<std::string> made;
        for (const auto& entry : client().list({"XRANGE", name_ + ":dead", "-", "+"})) {
            made.push_back(field_of(entry, "id") + " " + field_of(entry, "error"));
        }
        return made;
    }
    std::int64_t unacknowledged() {
        return std::stoll(client().list({"XPENDING", name_, "billing"}).at(0));
    }
    void publish_plain(const std::string& text) {
        client().ask({"XADD", name_, "*", "text", text});
    }
    void clean() { client().remove_all(name_); }

private:
    test::redis_client client() const { return test::redis_client{test::options_of(url_)}; }

    const std::string url_;
    const std::string name_ = fresh_name();
};

class nats_face {
public:
    explicit nats_face(std::string url) : url_(std::move(url)) {
        client().make_stream(name_, name_ + ".>");
        client().make_stream(name_ + "-dead", "dead." + name_);
    }

    std::string sink_url() const { return url_ + "?subject=" + name_ + ".{topic}"; }
    std::string consumer_url() const { return url_ + "?stream=" + name_ + "&durable=billing"; }
    std::vector<std::string> dead_letters() {
        std::vector<std::string> made;
        for (auto& one : client().messages(name_ + "-dead")) {
            made.push_back(one.headers["Nats-Msg-Id"] + " " + one.headers["Semel-Error"]);
        }
        return made;
    }
    std::int64_t unacknowledged() { return client().unacknowledged(name_, "billing"); }
    void publish_plain(const std::string& text) { client().publish(name_ + ".plain", text); }
    void clean() {
        client().delete_stream(name_);
        client().delete_stream(name_ + "-dead");
    }

private:
    test::nats_client client() const { return test::nats_client{url_}; }

    const std::string url_;
    const std::string name_ = fresh_name();
};

template <class Base, class Face> class faced : public Base {
public:
    explicit faced(const std::string& url) : face_(url) {}

    std::string sink_url() const override { return face_.sink_url(); }
    std::string consumer_url() const override { return face_.consumer_url(); }
    std::vector<std::string> dead_letters() override { return face_.dead_letters(); }
    std::int64_t unacknowledged() override { return face_.unacknowledged(); }
    void publish_plain(const std::string& text) override { face_.publish_plain(text); }

protected:
    Face face_;
};

template <class Face> class common_broker final : public faced<broker, Face> {
public:
    using faced<broker, Face>::faced;
    ~common_broker() override { this->face_.clean(); }
};

// The server comes first: the face speaks to it at once.
template <class Server> struct server_holder {
    template <class... Args> explicit server_holder(Args&&... args) : server(args...) {}
    Server server;
};

class private_redis_broker final : server_holder<test::private_redis>,
                                   public faced<private_broker, redis_face> {
public:
    private_redis_broker()
        : server_holder(std::vector<std::string>{"--appendonly", "yes", "--appendfsync", "always"}),
          faced("redis://127.0.0.1:" + std::to_string(server.port())) {}
    void restart() override {
        server.kill();
        server.start();
    }
};

class private_nats_broker final : server_holder<test::private_nats>,
                                  public faced<private_broker, nats_face> {
public:
    private_nats_broker() : faced(server.url()) {}
    void restart() override {
        server.kill();
        server.start();
    }
};

} // namespace

std::unique_ptr<broker> make_broker(broker_kind kind) {
    if (kind == broker_kind::redis) {
        return std::make_unique<common_broker<redis_face>>(test::server_url("SEMEL_TEST_REDIS"));
    }
    return std::make_unique<common_broker<nats_face>>(test::server_url("SEMEL_TEST_NATS"));
}

std::unique_ptr<private_broker> make_private_broker(broker_kind kind) {
    if (kind == broker_kind::redis) return std::make_unique<private_redis_broker>();
    return std::make_unique<private_nats_broker>();
}

} // namespace semel::messaging_test
