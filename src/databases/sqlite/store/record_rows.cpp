#include "databases/sqlite/store/record_rows.hpp"

#include <algorithm>
#include <bit>

namespace semel::sqlite {

namespace {

result<void> run(query& one) {
    auto done = one.run();
    if (!done) return std::move(done).error();
    return {};
}

} // namespace

void bind_id(query& to, const record_id& id) {
    to.bind(1, id.tenant).bind(2, id.operation).bind(3, id.key);
}

result<std::unique_ptr<record_rows>> record_rows::prepare(connection& on,
                                                          const statement_texts& texts) {
    std::unique_ptr<record_rows> made{new record_rows};
    const prepared all[]{
        {made->insert_, texts.insert},
        {made->load_, texts.load},
        {made->save_, texts.save},
        {made->erase_, texts.erase},
        {made->load_checkpoints_, texts.load_checkpoints},
        {made->add_checkpoint_, texts.add_checkpoint},
        {made->erase_checkpoints_, texts.erase_checkpoints},
        {made->read_floor_, texts.floor},
    };
    if (auto ready = prepare_all(on, all); !ready) return std::move(ready).error();
    return made;
}

result<std::optional<stored_row>> record_rows::load(const record_id& id) {
    std::optional<stored_row> row;
    std::int64_t checkpoints = 0;
    {
        query select{load_};
        bind_id(select, id);
        const auto stepped = select.step();
        if (!stepped) return stepped.error();
        if (*stepped == query::step_result::done) return row;
        auto read = read_record(select, 1);
        if (!read) return std::move(read).error();
        checkpoints = read->checkpoints;
        row.emplace(stored_row{.id = select.integer(0), .it = std::move(read->it)});
    }
    if (checkpoints > 0) {
        if (auto read = load_checkpoints(*row, checkpoints); !read) return std::move(read).error();
    }
    return row;
}

result<void> record_rows::load_checkpoints(stored_row& row, std::int64_t expected) {
    query select{load_checkpoints_};
    select.bind(1, row.id);
    while (true) {
        const auto stepped = select.step();
        if (!stepped) return stepped.error();
        if (*stepped == query::step_result::done) break;
        row.it.checkpoints.push_back(
            {.name = std::string{select.bytes(0)}, .data = std::string{select.bytes(1)}});
    }
    if (static_cast<std::int64_t>(row.it.checkpoints.size()) == expected) return {};
    return failure{.code = errc::corrupt,
                   .possible = effect::none,
                   .detail = "sqlite: checkpoints of a record are missing; restore them or remove "
                             "the record"};
}

result<bool> record_rows::insert(const record_id& id, const record& it) {
    owner_bytes owner{};
    query add{insert_};
    bind_id(add, id);
    bind_record(add, 4, it, owner);
    const auto changed = add.run();
    if (!changed) return changed.error();
    return *changed == 1;
}

result<void> record_rows::save(const stored_row& before, const record& after) {
    if (auto saved = save_checkpoints(before, after); !saved) return saved;
    owner_bytes owner{};
    query update{save_};
    update.bind(1, before.id);
    bind_record(update, 2, after, owner);
    return run(update);
}

result<void> record_rows::save_checkpoints(const stored_row& before, const record& after) {
    const auto& old = before.it.checkpoints;
    const auto& now = after.checkpoints;
    std::size_t kept = old.size();
    const bool grown = now.size() >= kept && std::equal(old.begin(), old.end(), now.begin());
    if (!grown) {
        query forget{erase_checkpoints_};
        forget.bind(1, before.id);
        if (auto done = run(forget); !done) return done;
        kept = 0;
    }
    for (std::size_t i = kept; i < now.size(); ++i) {
        query add{add_checkpoint_};
        add.bind(1, before.id).bind(2, static_cast<std::int64_t>(i));
        add.bind(3, now[i].name).bind(4, now[i].data);
        if (auto done = run(add); !done) return done;
    }
    return {};
}

result<void> record_rows::erase(std::int64_t row, std::int64_t checkpoints) {
    if (checkpoints > 0) {
        query forget{erase_checkpoints_};
        forget.bind(1, row);
        if (auto done = run(forget); !done) return done;
    }
    query remove{erase_};
    remove.bind(1, row);
    return run(remove);
}

result<std::uint64_t> record_rows::fence_floor() {
    query select{read_floor_};
    const auto stepped = select.step();
    if (!stepped) return stepped.error();
    if (*stepped == query::step_result::row) return std::bit_cast<std::uint64_t>(select.integer(0));
    return failure{.code = errc::corrupt,
                   .possible = effect::none,
                   .detail = "sqlite: the fence floor is missing from the meta table; restore a "
                             "backup"};
}

} // namespace semel::sqlite
