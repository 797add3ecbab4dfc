// Equal requests that are at the gateway at the same time. While the store is away there is no
// record that they could share, so they share here: one is passed on, all get its answer. What a
// record would not keep is not shared either: the next request is passed on then.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "edge/server/byte_budget.hpp"
#include "semel/base/function.hpp"
#include "semel/base/mutex.hpp"
#include "semel/core/record.hpp"
#include "semel/fingerprint.hpp"
#include "semel/http.hpp"

namespace semel::edge {

// Thread-safe. Lives as long as one of the requests.
class equal_requests : public std::enable_shared_from_this<equal_requests> {
public:
    explicit equal_requests(std::shared_ptr<byte_budget> buffered)
        : buffered_(std::move(buffered)) {}

    // What the execution stands under.
    enum class under : std::uint8_t {
        record,  // a claim: its result is stored
        nothing, // the store is away
    };
    // The result of an execution, without the headers that are meant for one client; shared by all
    // requests that get it. Null: the execution settles no other request, so enter again.
    using news = std::shared_ptr<const http::settled>;
    using hears = unique_function<void(news)>;

private:
    struct execution;

public:
    // The right and the duty to pass the request on. If it is destroyed without a result, the
    // waiting requests are dropped, too.
    class turn {
    public:
        turn(std::shared_ptr<equal_requests> of, std::shared_ptr<execution> it)
            : of_(std::move(of)), it_(std::move(it)) {}
        turn(turn&&) noexcept = default;
        turn& operator=(turn&&) = delete;
        ~turn();

        void tell(const http::settled& made);

    private:
        std::shared_ptr<equal_requests> of_; // shared by the requests
        std::shared_ptr<execution> it_;      // shared with of_
    };

    // Without a value, `then` gets the result of the last execution, here or on the thread of
    // another request. An execution without a record is shared with all later requests. An
    // execution under a record is shared only with requests that have no record, because another
    // attempt on the record runs by itself.
    [[nodiscard]] std::optional<turn> enter(under what, hears then);

private:
    [[nodiscard]] std::vector<hears> end(const std::shared_ptr<execution>& it, news made);

    const std::shared_ptr<byte_budget> buffered_; // shared by all exchanges
    detail::mutex mutex_;
    std::shared_ptr<execution> last_ SEMEL_GUARDED_BY(mutex_);
};

// Thread-safe.
class equal_requests_table {
public:
    struct what {
        record_id id;
        std::optional<fingerprint> content;
        friend auto operator<=>(const what&, const what&) = default;
    };
    // The table outlives what it gives.
    [[nodiscard]] std::shared_ptr<equal_requests> find(what of,
                                                       std::shared_ptr<byte_budget> buffered);

private:
    void forget(const what& of);

    detail::mutex mutex_;
    std::map<what, std::weak_ptr<equal_requests>> all_ SEMEL_GUARDED_BY(mutex_);
};

} // namespace semel::edge
