// One running attempt, as the work sees it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "semel/base/function.hpp"
#include "semel/base/result.hpp"
#include "semel/core/record.hpp"
#include "semel/engine/verdict.hpp"

namespace semel {

// The attempt has lost its record: another attempt took over, or the lease ran out without a
// renewal. step() throws it. Do not catch it in the work: the caller then gets the winner's
// outcome.
class lease_lost : public std::runtime_error {
public:
    lease_lost() : std::runtime_error("the lease on the record was lost") {}
};

// Behind `execution`: what the engine provides. One per attempt.
class execution_port {
public:
    virtual ~execution_port() = default;
    virtual const record_id& id() const = 0;
    virtual claim by() const = 0;
    virtual std::uint32_t attempt_count() const = 0;
    virtual bool taken_over() const = 0;
    virtual std::stop_token stop_token() const = 0;
    // The data recorded under `name` by this attempt or an earlier one, or null.
    virtual const std::string* recorded(std::string_view name) const = 0;
    // Whether a step of that name could be recorded; asked before its work is run.
    virtual result<void> may_record(std::string_view name) const {
        static_cast<void>(name);
        return {};
    }
    // Blocks until stored. Throws lease_lost, failure_error.
    virtual void record(std::string_view name, std::string data) = 0;
    // The same without blocking; `done` is called once, from any thread.
    virtual void record_async(std::string name, std::string data,
                              unique_function<void(result<void>)> done) = 0;
    virtual void set_result_ref(std::string ref) = 0;
};

// Used by the work's own thread(s) of control; not for two threads at once.
class execution {
public:
    explicit execution(execution_port& port) : port_(port) {}

    // A number that grows with every attempt on this record. Downstream systems that remember the
    // highest fence can refuse an older attempt. A fence shows which attempt is newer; it does not
    // prevent a second effect.
    [[nodiscard]] std::uint64_t fence() const { return port_.by().fence; }
    [[nodiscard]] std::uint32_t attempt() const { return port_.attempt_count(); }
    // An earlier attempt may have done some or all of the work.
    [[nodiscard]] bool taken_over() const { return port_.taken_over(); }
    // Asked to stop: the lease is lost or about to be. Callbacks on the token run on a thread of
    // the runtime. They must not throw: the C++ library ends the process then.
    [[nodiscard]] std::stop_token stop_token() const { return port_.stop_token(); }
    [[nodiscard]] const std::string& key() const { return port_.id().key; }
    // The key for a call this work makes: the same on every attempt, so the callee can deduplicate.
    [[nodiscard]] std::string child_key(std::string_view suffix) const;
    // A small stable reference to what was made, kept beside the result. Throws failure_error
    // (errc::limit_exceeded) for more than limits::result_ref_bytes_max bytes.
    void set_result_ref(std::string ref);
    // For adapters (semel/asio.hpp) and work that is itself asynchronous.
    [[nodiscard]] execution_port& port() { return port_; }

    // A checkpoint: runs `work` and records its result under `name`. If an attempt has recorded a
    // result under this name before, step() returns that and does not run `work`. A step is run at
    // least once and recorded once. Throws failure_error before `work` runs if nothing can be
    // recorded under that name: the name is too long, there are too many steps (limits), or this
    // execution keeps none.
    template <class Work> auto step(std::string_view name, Work&& work) {
        using value_type = std::invoke_result_t<Work&>;
        if constexpr (std::is_void_v<value_type>) {
            if (port_.recorded(name) != nullptr) return;
            require_step(name);
            work();
            port_.record(name, {});
        } else {
            if (const std::string* known = port_.recorded(name)) {
                return value_type{codec<value_type>::decode(*known)};
            }
            require_step(name);
            value_type made = work();
            port_.record(name, codec<value_type>::encode(made));
            return made;
        }
    }

    // For adapters: as step() before the work.
    void require_step(std::string_view name) const {
        if (auto may = port_.may_record(name); !may) throw failure_error{std::move(may).error()};
    }

private:
    execution_port& port_;
};

} // namespace semel
