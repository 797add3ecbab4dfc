#include "semel/transaction.hpp"

#include <utility>

#include "semel/base/result.hpp"
#include "transaction/transaction_port.hpp"

namespace semel {

transaction::transaction(std::unique_ptr<transaction_port> port) : port_(std::move(port)) {}
transaction::transaction(transaction&&) noexcept = default;
transaction& transaction::operator=(transaction&&) noexcept = default;
transaction::~transaction() = default;

transaction_port& transaction_port::of(transaction& handle) {
    SEMEL_ASSERT(handle.port_ != nullptr); // it was moved from
    return *handle.port_;
}

} // namespace semel
