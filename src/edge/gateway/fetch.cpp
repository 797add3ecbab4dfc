#include "edge/gateway/fetch.hpp"

#include <utility>

#include "edge/gateway/upstream_connection.hpp"

namespace semel::edge {

fetch::fetch(fetch_options what, continuation then)
    : what_(std::move(what)), then_(std::move(then)) {
    made_.share = budget_share{what_.buffered};
}

bool fetch::is_safe() const {
    return what_.again == fetch_options::repeating::safe;
}

void fetch::on_response_head(http1::response_head&& head) {
    made_.got.status = head.status;
    made_.got.headers = std::move(head.headers);
    upstream_->want_piece();
}

void fetch::on_response_piece(std::string_view piece, more then) {
    if (!made_.cut && !has_room(piece.size())) {
        made_.cut = true;
        made_.got.body = {};
        made_.share.release();
    }
    if (!made_.cut) made_.got.body.append(piece);
    if (then == more::follows) return upstream_->want_piece();
    std::exchange(upstream_, nullptr)->release();
    std::exchange(then_, {})(std::move(made_));
}

bool fetch::has_room(std::size_t more_bytes) {
    const std::size_t size = made_.got.body.size() + more_bytes;
    if (size > what_.answer_bytes_max) return false;
    return made_.share.grow_to(size) || size <= what_.kept_bytes_max;
}

void fetch::on_upstream_failed(upstream_failure why) {
    upstream_ = nullptr;
    std::exchange(then_, {})(std::move(why));
}

} // namespace semel::edge
