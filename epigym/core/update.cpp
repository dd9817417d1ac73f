#include "update.hpp"

#include <bit>

namespace epi {

namespace {

template <class Visit>
void each_event(EventMask events, Visit&& visit) {
    for (; events != 0; events &= events - 1) visit(static_cast<std::size_t>(std::countr_zero(events)));
}

// Squeezes the bits of a word that lie under a mask to its low end (Hacker's Delight, section 7-4).
class Compressor {
public:
    explicit Compressor(std::uint64_t mask) : mask_(mask), contiguous_((mask & (mask + 1)) == 0) {
        if (contiguous_) return;
        std::uint64_t zeros_right = ~mask << 1;
        for (int i = 0; i < 6; ++i) {
            std::uint64_t parity = zeros_right;
            for (int shift = 1; shift < 64; shift *= 2) parity ^= parity << shift;
            moves_[i] = parity & mask;
            mask = (mask ^ moves_[i]) | (moves_[i] >> (1 << i));
            zeros_right &= ~parity;
        }
    }

    std::uint64_t operator()(std::uint64_t word) const {
        word &= mask_;
        if (contiguous_) return word;
        for (int i = 0; i < 6; ++i) {
            const std::uint64_t moved = word & moves_[i];
            word = (word ^ moved) | (moved >> (1 << i));
        }
        return word;
    }

private:
    std::uint64_t mask_;
    bool contiguous_;
    std::array<std::uint64_t, 6> moves_{};
};

// Where the reachable pairs (w, e) stand among the worlds of the product: event by event, worlds ascending.
template <class P, class Q>
class Placement {
public:
    explicit Placement(const std::vector<typename P::Set>& reached, World n) {
        for (const auto& worlds : reached) {
            auto& numbers = number_.emplace_back(n);
            each(worlds, [&](World w) { numbers[w] = total_++; });
        }
    }

    // out |= {(w, event) : w in worlds}, for reachable pairs only
    template <class Worlds>
    void add(typename Q::Set& out, const Worlds& worlds, const typename P::Set& reached, std::size_t event) const {
        each(worlds, [&](World w) {
            if (reached.test(w)) out.set(number_[event][w]);
        });
    }
    void add(List& out, const typename P::Row& worlds, const typename P::Set& reached, std::size_t event) const {
        each(worlds, [&](World w) {
            if (reached.test(w)) out.push_back(number_[event][w]);
        });
    }

private:
    std::vector<List> number_;
    World total_ = 0;
};

template <int V, int W>
class Placement<Dense<V>, Dense<W>> {
public:
    Placement(const std::vector<Bits<V>>& reached, World) {
        World at = 0;
        for (const auto& worlds : reached) {
            for (int i = 0; i < V; ++i) {
                parts_.push_back({Compressor(worlds.words[i]), at});
                at += static_cast<World>(std::popcount(worlds.words[i]));
            }
        }
    }

    void add(Bits<W>& out, const Bits<V>& worlds, const Bits<V>&, std::size_t event) const {
        for (int i = 0; i < V; ++i) {
            const Part& part = parts_[event * V + static_cast<std::size_t>(i)];
            const std::uint64_t word = part.compress(worlds.words[i]);
            if (word == 0) continue;
            const World shift = part.at & 63;
            out.words[part.at >> 6] |= word << shift;
            if (W > 1 && shift != 0 && word >> (64 - shift) != 0) out.words[(part.at >> 6) + 1] |= word >> (64 - shift);
        }
    }

private:
    struct Part {
        Compressor compress;
        World at;
    };
    std::vector<Part> parts_;
};

}  // namespace

template <class P>
void Updater<P>::load(const std::uint8_t* packed) {
    state_.load(packed, fluents_, agents_);
    seen_.clear();
    seen_types_.clear();
}

template <class P>
bool Updater<P>::applicable(ActionId id) {
    const Action& action = table_->actions[id];
    if (!state_.truths.holds(action.applicability)) return false;
    const EventModel& model = table_->event_models[action.event_model];
    Set left = state_.model.designated;
    each_event(model.designated, [&](std::size_t e) {
        left.subtract(state_.truths.worlds(table_->events[model.events[e]].precondition));
    });
    return !left.any();
}

template <class P>
void Updater<P>::choose_types(ActionId id) {
    const Action& action = table_->actions[id];
    type_.resize(agents_);
    for (std::uint32_t i = 0; i < agents_; ++i) {
        constexpr auto none = ~std::uint32_t{0};
        std::uint32_t chosen = none;
        Set left = state_.model.designated;
        for (const auto& [condition, relation] : table_->observability[action.observability[i]]) {
            const Set& holds = state_.truths.worlds(condition);
            if (!intersects(left, holds)) continue;
            if (chosen != none && chosen != relation) throw Disagreement(id, i);
            chosen = relation;
            left.subtract(holds);
            if (!left.any()) break;
        }
        type_[i] = chosen;
    }
}

// The first action applied to this e-state that makes the same update: actions often differ in name or
// applicability only.
template <class P>
ActionId Updater<P>::first_like(ActionId id) {
    const std::uint32_t model = table_->actions[id].event_model;
    std::uint64_t hash = model;
    for (auto type : type_) hash = (hash ^ type) * 0x9e3779b97f4a7c15u;
    for (std::size_t k = 0; k < seen_.size(); ++k) {
        if (seen_[k].hash != hash || table_->actions[seen_[k].action].event_model != model) continue;
        if (!std::equal(type_.begin(), type_.end(), seen_types_.begin() + static_cast<std::ptrdiff_t>(k * agents_)))
            continue;
        return seen_[k].action;
    }
    seen_.push_back({id, hash});
    seen_types_.insert(seen_types_.end(), type_.begin(), type_.end());
    return id;
}

// Finds the reachable pairs, starting from the designated ones.
template <class P>
void Updater<P>::reach() {
    const auto count = event_model_->events.size();
    enabled_.resize(count);
    reached_.resize(count);
    for (std::size_t e = 0; e < count; ++e) {
        enabled_[e] = &state_.truths.worlds(table_->events[event_model_->events[e]].precondition);
        P::clear(reached_[e], state_.model.worlds);
        if (event_model_->designated >> e & 1) {
            reached_[e] = state_.model.designated;
            reached_[e] &= *enabled_[e];
        }
    }
    std::size_t groups = 0;
    for (std::uint32_t i = 0; i < agents_; ++i)
        groups += table_->relations[type_[i]].size() * state_.model.rows(i).size();
    used_.assign(groups, 0);
    for (bool changed = true; changed;) {
        changed = false;
        std::size_t at = 0;
        for (std::uint32_t i = 0; i < agents_; ++i) {
            for (const auto& row : state_.model.rows(i)) {
                for (const auto& group : table_->relations[type_[i]]) {
                    auto& used = used_[at++];
                    if (used) continue;
                    bool starts = false;
                    each_event(group.sources, [&](std::size_t e) { starts = starts || intersects(row.members, reached_[e]); });
                    if (!starts) continue;
                    used = changed = true;
                    each_event(group.targets, [&](std::size_t f) { unite(reached_[f], row.successors, *enabled_[f]); });
                }
            }
        }
    }
    pairs_ = 0;
    for (const auto& worlds : reached_) pairs_ += worlds.count();
}

template <class P>
template <class Q>
void Updater<P>::build(Model<Q>& product) {
    const Placement<P, Q> placement(reached_, state_.model.worlds);
    const auto count = event_model_->events.size();
    product.worlds = pairs_;
    Q::clear(product.designated, pairs_);
    each_event(event_model_->designated, [&](std::size_t e) {
        Set worlds = state_.model.designated;
        worlds &= reached_[e];
        placement.add(product.designated, worlds, reached_[e], e);
    });

    product.valuation.resize(fluents_);
    for (auto& truth : product.valuation) Q::clear(truth, pairs_);
    for (std::size_t e = 0; e < count; ++e) {
        if (!reached_[e].any()) continue;
        const auto& effects = table_->events[event_model_->events[e]].effects;
        auto effect = effects.begin();
        for (std::uint32_t f = 0; f < fluents_; ++f) {
            if (effect == effects.end() || effect->fluent != f) {
                if (intersects(state_.model.valuation[f], reached_[e]))
                    placement.add(product.valuation[f], state_.model.valuation[f], reached_[e], e);
                continue;
            }
            Set truth = state_.model.valuation[f], added;
            P::clear(added, state_.model.worlds);
            for (; effect != effects.end() && effect->fluent == f; ++effect) {
                const Set& where = state_.truths.worlds(effect->condition);
                if (effect->value) added |= where;
                else truth.subtract(where);
            }
            truth |= added;
            placement.add(product.valuation[f], truth, reached_[e], e);
        }
    }

    product.classes.clear();
    product.class_first.resize(agents_ + 1);
    product.class_first[0] = 0;
    std::size_t at = 0;
    for (std::uint32_t i = 0; i < agents_; ++i) {
        for (const auto& row : state_.model.rows(i)) {
            for (const auto& group : table_->relations[type_[i]]) {
                if (!used_[at++]) continue;
                auto& target = product.classes.emplace_back();
                each_event(group.sources, [&](std::size_t e) {
                    placement.add(target.members, row.members, reached_[e], e);
                });
                each_event(group.targets, [&](std::size_t f) {
                    placement.add(target.successors, row.successors, reached_[f], f);
                });
            }
        }
        product.class_first[i + 1] = static_cast<std::uint32_t>(product.classes.size());
    }
}

template <class P>
ActionId Updater<P>::apply(ActionId id, Bytes& out) {
    choose_types(id);
    if (const ActionId same_as = first_like(id); same_as != id) return same_as;
    event_model_ = &table_->event_models[table_->actions[id].event_model];
    reach();
    with_policy(pairs_, [&]<class Q>() {
        auto& scratch = std::get<Scratch<Q>>(scratch_);
        build(scratch.product);
        scratch.contraction.pack(scratch.product, out);
    });
    return id;
}

template class Updater<Dense<1>>;
template class Updater<Dense<2>>;
template class Updater<Dense<4>>;
template class Updater<Dense<8>>;
template class Updater<Sparse>;

}  // namespace epi
