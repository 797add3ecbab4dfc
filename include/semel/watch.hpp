// What a store can do beside its port, where it hears of changes made elsewhere.
#pragma once

#include <memory>

#include "semel/function.hpp"
#include "semel/record.hpp"

namespace semel {

// Listens until it goes.
class record_watch {
public:
    record_watch() = default;
    record_watch(const record_watch&) = delete;
    record_watch& operator=(const record_watch&) = delete;
    virtual ~record_watch() = default;
};

// Thread-safe. A store is asked by dynamic_cast whether it is one of these.
class watchable {
public:
    virtual ~watchable() = default;

    // Calls `news` soon after an attempt on this record has come to its end, in whatever process;
    // perhaps more than once, perhaps for nothing, and never if the message gets lost: who waits
    // polls all the same. It is called on a thread of the store, must be short, and may still be
    // running when the watch has gone. The watch goes before the store.
    //
    // Null: this store does not hear of that.
    [[nodiscard]] virtual std::unique_ptr<record_watch> watch(const record_id& id,
                                                              unique_function<void()> news) = 0;
};

} // namespace semel
