#include "databases/redis/store/search.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "databases/redis/client/errors.hpp"
#include "databases/redis/client/keys.hpp"
#include "semel/base/mutex.hpp"
#include "store/search_cursor.hpp"

namespace semel::redis {

namespace {

constexpr std::size_t scans_max = 10;
// Lookups in one round trip. Records travel with their results, whose size may be a megabyte.
constexpr std::size_t lookups_max = 32;

bool fits(const std::optional<std::string>& wanted, const std::string& is) {
    return !wanted || *wanted == is;
}

struct place {
    std::string from = "0"; // what the next SCAN is given
    // Of a SCAN that was looked at in part.
    std::string to = {};
    std::optional<record_id> last = {};
};

std::string cursor_of(const place& it) {
    if (!it.last) return it.from;
    return it.from + "-" + it.to + "-" + semel::cursor_of(*it.last);
}

bool is_number(std::string_view text) {
    return !text.empty() && text.size() <= 20 &&
           text.find_first_not_of("0123456789") == std::string_view::npos;
}

result<place> place_in(std::string_view cursor) {
    place made;
    if (cursor.empty()) return made;
    const std::size_t first = cursor.find('-');
    made.from = cursor.substr(0, first);
    if (!is_number(made.from)) return not_a_cursor();
    if (first == std::string_view::npos) return made;
    cursor.remove_prefix(first + 1);
    const std::size_t second = cursor.find('-');
    made.to = cursor.substr(0, second);
    if (second == std::string_view::npos || !is_number(made.to)) return not_a_cursor();
    auto last = id_in_cursor(cursor.substr(second + 1));
    if (!last) return std::move(last).error();
    made.last = *std::move(last);
    return made;
}

class scan_search {
public:
    scan_search(const search_tools& with, const record_query& query) : with_(with), query_(query) {}

    result<record_page> run() {
        if (query_.tenant && query_.operation && query_.key) {
            auto looked = look({{*query_.tenant, *query_.operation, *query_.key}});
            if (!looked) return std::move(looked).error();
            return std::move(page_);
        }
        auto begun = place_in(query_.cursor);
        if (!begun) return std::move(begun).error();
        at_ = *std::move(begun);
        for (std::size_t scans = 0; scans < scans_max && !full(); ++scans) {
            auto went = step();
            if (!went) return std::move(went).error();
            if (!at_.last && at_.from == "0") return std::move(page_);
        }
        page_.cursor = cursor_of(at_);
        return std::move(page_);
    }

private:
    [[nodiscard]] bool full() const { return page_.records.size() == query_.records_max; }

    // One SCAN, or as much of it as the page has room for.
    result<void> step() {
        auto got = scan(with_.on, with_.prefix, at_.from);
        if (!got) return std::move(got).error();
        // Redis has no order of its own that holds from one SCAN to the next.
        std::sort(got->ids.begin(), got->ids.end());
        got->ids.erase(std::unique(got->ids.begin(), got->ids.end()), got->ids.end());
        auto next = got->ids.begin();
        // Otherwise Redis has rearranged its table, and this SCAN is another one: the search starts
        // again, so that no record is missed.
        if (at_.last && at_.to == got->cursor) {
            next = std::upper_bound(next, got->ids.end(), *at_.last);
        }
        while (next != got->ids.end() && !full()) {
            std::vector<record_id> some;
            for (; next != got->ids.end() && some.size() < room(); ++next) {
                at_.last = *next;
                if (may_fit(*next)) some.push_back(*next);
            }
            if (auto looked = look(some); !looked) return looked;
        }
        at_.to = got->cursor;
        if (next == got->ids.end()) at_ = {.from = std::move(got->cursor)};
        return {};
    }

    [[nodiscard]] std::size_t room() const {
        return std::min(lookups_max, query_.records_max - page_.records.size());
    }

    [[nodiscard]] bool may_fit(const record_id& id) const {
        return fits(query_.tenant, id.tenant) && fits(query_.operation, id.operation) &&
               fits(query_.key, id.key);
    }

    result<void> look(const std::vector<record_id>& ids) {
        if (ids.empty()) return {};
        std::vector<job> jobs(ids.size());
        std::vector<job*> batch;
        for (std::size_t i = 0; i < ids.size(); ++i) {
            jobs[i].id = ids[i];
            jobs[i].what = commands::lookup{};
            jobs[i].now = query_.now;
            batch.push_back(&jobs[i]);
        }
        with_.lookups.execute(batch);
        for (job& one : jobs) {
            if (!*one.answer) return one.answer->error();
            auto& current = std::get<answers::found>((*one.answer)->said).current;
            if (!current || !matches(query_, one.id, *current, (*one.answer)->now)) continue;
            page_.records.push_back(
                {.id = std::move(one.id), .it = shown(*std::move(current), query_.results)});
        }
        return {};
    }

    const search_tools& with_;
    const record_query& query_;
    place at_;
    record_page page_;
};

} // namespace

result<scanned> scan(shared_link& on, std::string_view prefix, std::string_view cursor) {
    const std::string pattern = record_pattern(prefix);
    const detail::guard lock{on.mutex};
    const auto got =
        on.it.ask({"SCAN", cursor, "MATCH", pattern, "COUNT", "1000", "TYPE", "string"});
    if (!got) return once_open(got.error());
    const auto& items = (*got)->items;
    if (items.size() != 2) return scanned{.cursor = "0"};
    scanned made{.cursor = std::string{items[0].text}};
    for (const auto& one : items[1].items) {
        if (auto id = id_in(one.text, prefix)) made.ids.push_back(*std::move(id));
    }
    return made;
}

result<record_page> search(const search_tools& with, const record_query& query) {
    if (auto sound = check(query); !sound) return std::move(sound).error();
    return scan_search{with, query}.run();
}

} // namespace semel::redis
