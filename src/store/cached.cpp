#include <algorithm>
#include <bit>
#include <utility>
#include <variant>
#include <vector>

#include "base/home_process.hpp"
#include "core/local_hash.hpp"
#include "semel/store/decorators.hpp"
#include "store/cached_shard.hpp"

namespace semel {

namespace {

constexpr std::size_t shard_bytes_min = std::size_t{4} << 20;
constexpr std::size_t shards_max = 256;

// What has to be done when the store has answered.
enum class afterwards { nothing, learn_from_begin, learn_from_complete, end_act };

// A command on its way through the cache.
struct passage {
    afterwards does = afterwards::nothing;
    cached_shard* shard = nullptr;
    std::uint64_t hash = 0;
    cached_shard::ticket ticket = 0;
    cached_entry::facts known = {};
    cached_entry::pointer result = {}; // learn_from_complete: what will be replayed
    duration retention = {};           // learn_from_complete
};

cached_texts texts_of(const stored_result& result) {
    return {.body = result.body, .type = result.type, .ref = result.ref};
}

class cached_store final : public store {
public:
    cached_store(std::unique_ptr<store> inner, cached_store_options options)
        : options_(std::move(options)),
          shards_(std::clamp(std::bit_floor(options_.bytes_max / shard_bytes_min), std::size_t{1},
                             shards_max)),
          limits_{.bytes_max = options_.bytes_max / shards_.size(),
                  .age_max = options_.age_max,
                  .counters = options_.counters},
          inner_(std::move(inner)) {
        for (auto& one : shards_) one.limit(limits_);
    }

    void submit(envelope what, completion done) override {
        if (home_.left()) return done(opened_before_fork("the store"));
        passage through;
        if (auto hit = enter(what.id, what.what, what.now, through)) {
            done(*std::move(hit));
            return;
        }
        if (through.does != afterwards::nothing) {
            done = [this, id = what.id, through = std::move(through),
                    done = std::move(done)](result<reply> got) mutable {
                leave(id, through, got);
                done(std::move(got));
            };
        }
        inner_->submit(std::move(what), std::move(done));
    }

    result<reply> call(const record_id& id, command what, std::optional<time_point> now) override {
        if (home_.left()) return opened_before_fork("the store");
        passage through;
        if (auto hit = enter(id, what, now, through)) return *std::move(hit);
        result<reply> got = inner_->call(id, std::move(what), now);
        leave(id, through, got);
        return got;
    }

    result<sweep_report> sweep(const sweep_request& request) override {
        auto report = inner_->sweep(request);
        // By the store's own clock a swept record has expired here too. A test may set time back.
        if (request.now && !home_.left()) {
            for (auto& one : shards_) one.forget_all();
        }
        return report;
    }

    result<std::vector<audit_entry>> audit(const record_id& id) override {
        return inner_->audit(id);
    }

    result<record_page> search(const record_query& query) override { return inner_->search(query); }

    [[nodiscard]] store_traits traits() const override { return inner_->traits(); }

    [[nodiscard]] std::unique_ptr<record_watch> watch(const record_id& id,
                                                      unique_function<void()> news) override {
        return inner_->watch(id, std::move(news));
    }

private:
    using maybe_reply = std::optional<reply>;

    // The answer, if it is known here. Otherwise `through` says what to do afterwards.
    maybe_reply enter(const record_id& id, const command& what,
                      const std::optional<time_point>& now, passage& through) {
        if (!concerns(what)) return std::nullopt;
        const cached_probe of{local_hash_of(id), &id};
        through.hash = of.hash;
        through.shard = &at(of.hash);
        const cached_moment moment{.local = local_now(), .test = now};
        if (const auto* const begin = std::get_if<commands::begin>(&what)) {
            return pass(*begin, of, moment, through);
        }
        if (const auto* const complete = std::get_if<commands::complete>(&what)) {
            pass(*complete, of, moment, through);
        } else if (std::holds_alternative<commands::remove>(what) ||
                   std::holds_alternative<commands::resolve>(what)) {
            begin_act(of, through);
        } else {
            // It finds the record unfinished or expired: what is remembered is of no use.
            through.shard->forget(of);
        }
        return std::nullopt;
    }

    // A renewal, checkpoint or abandonment leaves a finished record as it is.
    static bool concerns(const command& what) {
        return !std::holds_alternative<commands::lookup>(what) &&
               !std::holds_alternative<commands::renew>(what) &&
               !std::holds_alternative<commands::checkpoint>(what) &&
               !std::holds_alternative<commands::abandon>(what);
    }

    maybe_reply pass(const commands::begin& what, const cached_probe& of, const cached_moment& at,
                     passage& through) {
        if (what.mismatch == on_mismatch::overwrite) {
            begin_act(of, through);
            return std::nullopt;
        }
        auto hit = through.shard->find(of, what.content, at, through.ticket);
        if (options_.counters != nullptr) {
            (hit ? options_.counters->hits : options_.counters->misses).add();
        }
        if (hit) return hit;
        through.does = afterwards::learn_from_begin;
        through.known.content = what.content;
        through.known.source = at.source();
        through.known.sent = at.local;
        return std::nullopt;
    }

    // The copy is made here, since the store consumes the result.
    void pass(const commands::complete& what, const cached_probe& of, const cached_moment& at,
              passage& through) {
        const auto claim = through.shard->take_claim(of, what.by, through.ticket);
        const cached_texts texts = texts_of(what.result);
        if (!claim || claim->source != at.source() || !fits(*of.id, texts)) return;
        through.does = afterwards::learn_from_complete;
        through.retention = what.retention;
        through.result = cached_entry::make(of,
                                            {.kind = cached_kind::replay,
                                             .source = at.source(),
                                             .result = what.result.kind,
                                             .content = claim->content,
                                             .sent = at.local,
                                             .by = what.by,
                                             .checksum = what.result.checksum},
                                            texts);
    }

    void begin_act(const cached_probe& of, passage& through) {
        through.does = afterwards::end_act;
        through.shard->act_begins(of);
    }

    void leave(const record_id& id, passage& through, const result<reply>& got) {
        const cached_probe of{through.hash, &id};
        switch (through.does) {
        case afterwards::nothing: break;
        case afterwards::end_act: through.shard->act_ends(of); break;
        case afterwards::learn_from_begin:
            if (got) learn_from_begin(of, through, *got);
            break;
        case afterwards::learn_from_complete:
            if (got) learn_from_complete(of, through, *got);
            break;
        }
    }

    void learn_from_begin(const cached_probe& of, passage& through, const reply& got) {
        through.known.now = got.now;
        std::visit([&](const auto& said) { learn(said, of, through); }, got.said);
    }

    void learn(const answers::replay& said, const cached_probe& of, passage& through) {
        through.known.kind = cached_kind::replay;
        through.known.result = said.result.kind;
        through.known.checksum = said.result.checksum;
        through.known.by.fence = said.fence;
        through.known.expires_at = said.expires_at;
        remember(of, through, texts_of(said.result));
    }

    void learn(const answers::failed& said, const cached_probe& of, passage& through) {
        if (said.state != record_state::failed_final) return through.shard->forget(of);
        through.known.kind = cached_kind::failed;
        through.known.attempts = said.attempts;
        through.known.expires_at = said.expires_at;
        remember(of, through, {.body = said.error});
    }

    void learn(const answers::started& said, const cached_probe& of, passage& through) {
        if (!fits(*of.id)) return through.shard->forget(of);
        through.known.kind = cached_kind::claimed;
        through.known.by = said.by;
        through.shard->claimed(of, cached_entry::make(of, through.known));
    }

    // Another content's answer may be right all the same.
    void learn(const answers::mismatch&, const cached_probe&, passage&) {}

    // Not finished.
    template <class Other> void learn(const Other&, const cached_probe& of, passage& through) {
        through.shard->forget(of);
    }

    void remember(const cached_probe& of, passage& through, const cached_texts& texts) {
        if (!fits(*of.id, texts)) return through.shard->forget(of);
        through.shard->fill(of, cached_entry::make(of, through.known, texts), through.ticket);
    }

    void learn_from_complete(const cached_probe& of, passage& through, const reply& got) {
        const auto* const said = std::get_if<answers::stored>(&got.said);
        // Any other expiry belongs to an earlier completion of this attempt, whose result counts.
        if (said == nullptr || said->expires_at != got.now + through.retention) return;
        through.result->known.now = got.now;
        through.result->known.expires_at = said->expires_at;
        through.shard->fill(of, std::move(through.result), through.ticket);
    }

    [[nodiscard]] bool fits(const record_id& id, const cached_texts& texts = {}) const {
        return cached_entry::bytes_for(id, texts) <= limits_.entry_bytes_max();
    }

    // The low bits choose the slot inside a shard's table, so the shard is chosen by high ones.
    cached_shard& at(std::uint64_t hash) { return shards_[(hash >> 56) & (shards_.size() - 1)]; }

    [[nodiscard]] local_time local_now() const {
        return options_.clock ? options_.clock() : local_clock::now();
    }

    const home_process home_ = {};
    const cached_store_options options_;
    std::vector<cached_shard> shards_;
    const cached_limits limits_;
    // Goes first: it answers what is on its way, which leads back into the shards.
    std::unique_ptr<store> inner_;
};

} // namespace

std::unique_ptr<store> open_cached_store(std::unique_ptr<store> inner,
                                         cached_store_options options) {
    return std::make_unique<cached_store>(std::move(inner), std::move(options));
}

} // namespace semel
