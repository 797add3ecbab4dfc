#include "semel/store/decorators.hpp"

#include <utility>

#include "store/sealed_box.hpp"

namespace semel {
namespace {

// Whose result: of an attempt, or of an operator's verdict on it. The record gets a fence of its
// own from a verdict, which is not known while the result is being encrypted.
enum class maker : char { attempt = 'a', verdict = 'v' };

void append_number(std::string& to, std::uint64_t number) {
    for (unsigned shift = 64; shift > 0; shift -= 8) {
        to += static_cast<char>((number >> (shift - 8)) & 0xFFU);
    }
}

std::uint64_t number_at(std::string_view bytes) {
    std::uint64_t number = 0;
    for (const char c : bytes.substr(0, 8)) number = (number << 8U) | static_cast<unsigned char>(c);
    return number;
}

std::string bound_to(const record_id& id, std::string_view what) {
    std::string bound;
    for (const std::string_view part : {std::string_view{id.tenant}, std::string_view{id.operation},
                                        std::string_view{id.key}, what}) {
        append_number(bound, part.size());
        bound += part;
    }
    return bound;
}

// Stays below the record's fence for a verdict, and is the record's own for an attempt.
bool fits(maker by, std::uint64_t bound, std::uint64_t fence) {
    return by == maker::attempt ? bound == fence : bound < fence;
}

class encrypted_store final : public store {
public:
    encrypted_store(std::unique_ptr<store> inner, encrypted_store_options&& options)
        : box_(std::move(options.keys)),
          others_(options.others),
          counters_(options.counters),
          inner_(std::move(inner)) {}

    void submit(envelope what, completion done) override {
        submission one = sealed({.what = std::move(what), .done = std::move(done)});
        inner_->submit(std::move(one.what), std::move(one.done));
    }

    void submit_all(std::vector<submission> many) override {
        for (submission& one : many) one = sealed(std::move(one));
        inner_->submit_all(std::move(many));
    }

    result<reply> call(const record_id& id, command what, std::optional<time_point> now) override {
        seal_command(id, what);
        return opened(id, inner_->call(id, std::move(what), now));
    }

    result<sweep_report> sweep(const sweep_request& request) override {
        return inner_->sweep(request);
    }
    result<std::vector<audit_entry>> audit(const record_id& id) override {
        return inner_->audit(id);
    }
    result<record_page> search(const record_query& query) override {
        auto page = inner_->search(query);
        if (!page || query.results == result_bodies::left_out) return page;
        for (auto& [id, it] : page->records) {
            if (it.state == record_state::succeeded) open(id, it.holder.fence, it.result);
        }
        return page;
    }
    [[nodiscard]] store_traits traits() const override { return inner_->traits(); }
    [[nodiscard]] std::unique_ptr<record_watch> watch(const record_id& id,
                                                      unique_function<void()> news) override {
        return inner_->watch(id, std::move(news));
    }

private:
    submission sealed(submission one) {
        seal_command(one.what.id, one.what.what);
        one.done = [this, id = one.what.id, done = std::move(one.done)](result<reply> got) mutable {
            done(opened(id, std::move(got)));
        };
        return one;
    }

    void seal_command(const record_id& id, command& what) const {
        if (auto* complete = std::get_if<commands::complete>(&what)) {
            close(id, maker::attempt, complete->by.fence, complete->result);
        } else if (auto* resolve = std::get_if<commands::resolve>(&what)) {
            using committed = commands::resolve::committed;
            if (auto* said = std::get_if<committed>(&resolve->verdict)) {
                stored_result plain = *std::move(said->result);
                close(id, maker::verdict, resolve->expected_fence, plain);
                said->result = std::move(plain);
            }
        } else if (auto* step = std::get_if<commands::checkpoint>(&what)) {
            close(id, step->step);
        } else if (auto* back = std::get_if<commands::release>(&what)) {
            if (back->replaced) back->replaced = closed(id, back->by, *back->replaced);
        }
    }

    // The record gets it back under the attempt's own fence.
    std::shared_ptr<const record> closed(const record_id& id, const claim& by,
                                         const record& what) const {
        auto made = std::make_shared<record>(what);
        if (what.state == record_state::succeeded) {
            close(id, maker::attempt, by.fence, made->result);
        }
        for (checkpoint& step : made->checkpoints) close(id, step);
        return made;
    }

    void close(const record_id& id, checkpoint& step) const {
        step.data = box_.close(step.data, bound_to(id, "c" + step.name));
    }

    // The checksum is of the plain body and would let guesses be tested: it goes inside.
    void close(const record_id& id, maker by, std::uint64_t fence, stored_result& what) const {
        std::string plain(1, static_cast<char>(by));
        append_number(plain, fence);
        append_number(plain, what.checksum);
        plain += what.body;
        what.body = box_.close(plain, bound_to(id, "r"));
        seal(what);
    }

    void open(const record_id& id, std::uint64_t fence, stored_result& what) const {
        constexpr std::size_t front = 1 + 8 + 8;
        if (!holds(what)) return;
        if (!sealed_box::is_sealed(what.body) && others_ == unencrypted::accept) return;
        const auto plain = box_.open(what.body, bound_to(id, "r"));
        const bool fine =
            plain && plain->size() >= front &&
            fits(static_cast<maker>(plain->front()), number_at(plain->substr(1)), fence);
        if (!fine) return spoil(what);
        what.checksum = number_at(plain->substr(9));
        what.body = plain->substr(front);
    }

    // What fails its checksum is never replayed, nor its work run again.
    void spoil(stored_result& what) const {
        count_unreadable();
        what.body.clear();
        seal(what);
        what.checksum = ~what.checksum;
    }

    bool open(const record_id& id, std::vector<checkpoint>& steps) const {
        for (checkpoint& step : steps) {
            if (!sealed_box::is_sealed(step.data) && others_ == unencrypted::accept) continue;
            auto plain = box_.open(step.data, bound_to(id, "c" + step.name));
            if (!plain) return count_unreadable(), false;
            step.data = *std::move(plain);
        }
        return true;
    }

    bool open(const record_id& id, std::optional<record>& current) const {
        if (!current) return true;
        if (current->state == record_state::succeeded) {
            open(id, current->holder.fence, current->result);
        }
        return open(id, current->checkpoints);
    }

    bool open(const record_id& id, std::shared_ptr<const record>& replaced) const {
        if (!replaced) return true;
        std::optional<record> made{*replaced};
        const bool fine = open(id, made);
        replaced = std::make_shared<const record>(*std::move(made));
        return fine;
    }

    result<reply> opened(const record_id& id, result<reply> got) const {
        if (!got) return got;
        answer& said = got->said;
        bool fine = true;
        effect done = effect::none;
        if (auto* replay = std::get_if<answers::replay>(&said)) {
            open(id, replay->fence, replay->result);
        } else if (auto* started = std::get_if<answers::started>(&said)) {
            fine = open(id, started->checkpoints) && open(id, started->replaced);
            done = effect::unknown;
        } else if (auto* found = std::get_if<answers::found>(&said)) {
            fine = open(id, found->current);
        } else if (auto* fenced = std::get_if<answers::fenced_off>(&said)) {
            // A fenced-off caller adopts the winner's result, but not the winner's checkpoints.
            if (!open(id, fenced->current)) fenced->current->checkpoints.clear();
        }
        if (fine) return got;
        return failure{
            .code = errc::corrupt, .possible = done, .detail = "a checkpoint cannot be decrypted"};
    }

    void count_unreadable() const {
        if (counters_ != nullptr) counters_->unreadable.add();
    }

    const sealed_box box_;
    const unencrypted others_;
    encryption_counters* const counters_;
    // Goes first: it answers what is on its way, which is decrypted here.
    std::unique_ptr<store> inner_;
};

} // namespace

result<std::unique_ptr<store>> open_encrypted_store(std::unique_ptr<store> inner,
                                                    encrypted_store_options options) {
    if (auto fine = sealed_box::check(options.keys); !fine) return fine.error();
    return std::unique_ptr<store>{
        std::make_unique<encrypted_store>(std::move(inner), std::move(options))};
}

} // namespace semel
