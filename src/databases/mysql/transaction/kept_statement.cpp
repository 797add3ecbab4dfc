#include "databases/mysql/transaction/kept_statement.hpp"

#include <mysql.h>

#include <algorithm>
#include <utility>

namespace semel::mysql {

namespace {

MYSQL_BIND bind(const kept_value& value) {
    MYSQL_BIND made{};
    made.buffer_type = MYSQL_TYPE_NULL;
    if (const auto* number = std::get_if<std::int64_t>(&value)) {
        made.buffer_type = MYSQL_TYPE_LONGLONG;
        made.buffer = const_cast<std::int64_t*>(number);
    } else if (const auto* bytes = std::get_if<std::string_view>(&value)) {
        // BLOB: the server converts no character set.
        made.buffer_type = MYSQL_TYPE_BLOB;
        made.buffer = const_cast<char*>(bytes->data());
        made.buffer_length = static_cast<unsigned long>(bytes->size());
    }
    return made;
}

} // namespace

void close_statement::operator()(st_mysql_stmt* it) const {
    if (home.left()) return;
    if (it->mysql != nullptr && it->mysql->status != MYSQL_STATUS_READY) return;
    mysql_stmt_close(it);
}

kept_statement::kept_statement(st_mysql* on, std::vector<statement> all, const std::string& text)
    : all_(std::move(all)), it_(mysql_stmt_init(on)) {
    if (it_) static_cast<void>(mysql_stmt_prepare(it_.get(), text.data(), text.size()));
}

// Reconnecting has set the statements of the connection back.
bool kept_statement::ready() const {
    return it_ && it_->mysql != nullptr && it_->state >= MYSQL_STMT_PREPARED;
}

native_error kept_statement::error() const {
    return {mysql_stmt_errno(it_.get()), mysql_stmt_error(it_.get())};
}

bool kept_statement::execute(std::span<const kept_value> values, numbers& to) {
    std::vector<MYSQL_BIND> bound(values.size());
    std::transform(values.begin(), values.end(), bound.begin(), bind);
    if (mysql_stmt_bind_param(it_.get(), bound.data()) != 0) return false;
    if (mysql_stmt_execute(it_.get()) != 0) return false;
    while (true) {
        if (mysql_stmt_field_count(it_.get()) != 0 && !read(to)) return false;
        const int next = mysql_stmt_next_result(it_.get());
        if (next != 0) return next < 0;
    }
}

bool kept_statement::read(numbers& to) {
    std::array<MYSQL_BIND, std::tuple_size_v<decltype(to.all)>> bound{};
    for (std::size_t i = 0; i < bound.size(); ++i) {
        bound[i].buffer_type = MYSQL_TYPE_LONGLONG;
        bound[i].buffer = &to.all[i];
    }
    st_mysql_stmt* const it = it_.get();
    const bool fits = mysql_stmt_field_count(it) == bound.size();
    if (!fits || mysql_stmt_bind_result(it, bound.data()) != 0) return false;
    if (mysql_stmt_store_result(it) != 0) return false;
    const int got = mysql_stmt_fetch(it);
    to.found = got == 0;
    return mysql_stmt_free_result(it) == 0 && (got == 0 || got == MYSQL_NO_DATA);
}

} // namespace semel::mysql
