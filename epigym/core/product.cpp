#include "product.hpp"

#include <bit>

namespace epi {

template <class P>
void Product<P>::start(const Occurrence<P>& occurrence) {
    const Model<P>& model = *occurrence.model;
    reached_.resize(occurrence.events());
    for (std::size_t e = 0; e < occurrence.events(); ++e) {
        P::clear(reached_[e], model.worlds);
        if ((occurrence.designated >> e & 1) == 0) continue;
        reached_[e] = model.designated;
        reached_[e] &= *occurrence.enabled[e];
    }
    used_first_.clear();
    std::size_t flags = 0;
    for (const auto& [relation, type] : occurrence.pairs) {
        used_first_.push_back(flags);
        flags += model.relation(relation).size() * type->size();
    }
    used_.assign(flags, 0);
    keeps_all_ = true;
}

template <class P>
void Product<P>::count() {
    active_ = 0;
    worlds_ = 0;
    for (std::size_t e = 0; e < reached_.size(); ++e) {
        if (!reached_[e].any()) continue;
        active_ |= EventMask{1} << e;
        worlds_ += reached_[e].count();
    }
}

template <>
void Product<Dense>::reach(const Occurrence<Dense>& occurrence) {
    start(occurrence);
    EventMask grown = occurrence.designated;  // events that may have got new worlds since the last pass
    while (grown != 0) {
        EventMask growing = 0;
        auto flags = used_.begin();
        for (const auto& [relation, type] : occurrence.pairs) {
            const auto rows = occurrence.model->relation(relation);
            for (const auto& group : *type) {
                auto flag = flags;
                flags += static_cast<std::ptrdiff_t>(rows.size());
                if (!(group.sources & (grown | growing))) continue;
                Bits sources;
                each_event(group.sources, [&](std::size_t e) { sources |= reached_[e]; });
                for (const auto& row : rows) {
                    auto& used = *flag++;
                    if (used || !intersects(row.members, sources)) continue;
                    used = 1;
                    growing |= group.targets;
                    Bits lost = row.successors;
                    each_event(group.targets, [&](std::size_t f) {
                        const Bits enabled = *occurrence.enabled[f];
                        reached_[f].word |= row.successors.word & enabled.word;
                        lost.subtract(enabled);
                    });
                    keeps_all_ = keeps_all_ && !lost.any();
                }
            }
        }
        grown = growing;
    }
    count();
}

template <>
void Product<Dense>::build(const Occurrence<Dense>& occurrence, Model<Dense>& product) {
    placement_.reset(reached_);
    product.worlds = worlds_;
    product.designated = {};
    each_event(occurrence.designated & active_,
               [&](std::size_t e) { placement_.add(product.designated, occurrence.model->designated, e); });
    product.relation_of = occurrence.pair_of;
    product.clear_relations();
    auto used = used_.begin();
    for (const auto& [relation, type] : occurrence.pairs) {
        for (const auto& group : *type) {
            for (const auto& row : occurrence.model->relation(relation)) {
                if (!*used++) continue;
                RowClass<Dense> target{};
                each_event(group.sources & active_, [&](std::size_t e) { placement_.add(target.members, row.members, e); });
                each_event(group.targets & active_, [&](std::size_t f) { placement_.add(target.successors, row.successors, f); });
                product.classes.push_back(target);
            }
        }
        product.close_relation();
    }
}

template <>
void Product<Sparse>::find_groups(const Occurrence<Sparse>& occurrence) {
    const std::size_t events = occurrence.events();
    group_of_.assign(occurrence.pairs.size() * events, 0);
    for (std::size_t p = 0; p < occurrence.pairs.size(); ++p) {
        const EventRelation& type = *occurrence.pairs[p].type;
        for (std::size_t g = 0; g < type.size(); ++g)
            each_event(type[g].sources, [&](std::size_t e) { group_of_[p * events + e] = static_cast<std::uint8_t>(g); });
    }
}

// Events that a chain of groups leads to from some.
EventMask reachable_events(EventMask events, const std::vector<Occurrence<Sparse>::Pair>& pairs) {
    for (EventMask before = 0; before != events;) {
        before = events;
        for (const auto& [relation, type] : pairs)
            for (const auto& group : *type)
                if (group.sources & events) events |= group.targets;
    }
    return events;
}

// Reaches a world with those of some events in which it survives.
template <>
void Product<Sparse>::reach(const Occurrence<Sparse>& occurrence, EventMask events, World world) {
    bool survives = false;
    each_event(events, [&](std::size_t f) {
        if (!occurrence.enabled[f]->test(world)) return;
        survives = true;
        if (reached_[f].test(world)) return;
        reached_[f].set(world);
        queue_.push_back({world, static_cast<std::uint32_t>(f)});
        --left_;
    });
    keeps_all_ = keeps_all_ && survives;
}

// Reaches the successors of a row, unless that was done before.
template <>
void Product<Sparse>::reach_successors(const Occurrence<Sparse>& occurrence, std::size_t pair, std::uint32_t group,
                                       std::uint32_t row) {
    const Relation& relation = occurrence.model->relation(occurrence.pairs[pair].relation);
    auto& used = used_[used_first_[pair] + group * relation.size() + row];
    if (used) return;
    used = 1;
    const EventMask targets = (*occurrence.pairs[pair].type)[group].targets;
    for (World v : relation.successors(row)) reach(occurrence, targets, v);
}

// One step under the agents of a pair from all that is reached, world by world. Returns whether that reached more.
template <>
bool Product<Sparse>::sweep(const Occurrence<Sparse>& occurrence, std::size_t pair) {
    const auto& [number, type] = occurrence.pairs[pair];
    const Relation& relation = occurrence.model->relation(number);
    const std::size_t before = left_;
    for (std::uint32_t g = 0; g < type->size(); ++g) {
        const auto& [sources, targets] = (*type)[g];
        if (!relation.is_equivalence) {
            each_event(sources, [&](std::size_t e) {
                each(reached_[e], [&](World w) { reach_successors(occurrence, pair, g, relation.row_of[w]); });
            });
            continue;
        }
        std::uint8_t* const used = used_.data() + used_first_[pair] + g * relation.size();
        each_event(sources, [&](std::size_t e) { each(reached_[e], [&](World w) { used[relation.row_of[w]] = 1; }); });
        for (std::size_t i = 0; i < relation.row_of.size(); i += 64) {
            std::uint64_t open = 0, lost = keeps_all_ ? ~std::uint64_t{0} : 0;
            each_event(targets, [&](std::size_t f) {
                const std::uint64_t enabled = occurrence.enabled[f]->words[i / 64];
                open |= enabled & ~reached_[f].words[i / 64];
                lost &= ~enabled;
            });
            if (relation.row_of.size() - i < 64) lost &= (std::uint64_t{1} << (relation.row_of.size() - i)) - 1;
            each_bit(open | lost, static_cast<World>(i), [&](World w) {
                if (used[relation.row_of[w]]) reach(occurrence, targets, w);
            });
        }
    }
    return left_ < before;
}

// One step under every pair.
template <>
bool Product<Sparse>::sweep(const Occurrence<Sparse>& occurrence) {
    bool found = false;
    for (std::size_t p = 0; p < occurrence.pairs.size() && (left_ > 0 || keeps_all_); ++p) found = sweep(occurrence, p) || found;
    return found;
}

// Whatever is left, pair by pair.
template <>
void Product<Sparse>::search(const Occurrence<Sparse>& occurrence) {
    const std::size_t events = occurrence.events(), pairs = occurrence.pairs.size();
    for (const auto& pair : occurrence.pairs) occurrence.model->relation(pair.relation).index();
    used_.assign(used_.size(), 0);
    for (std::size_t at = 0; at < queue_.size() && (left_ > 0 || keeps_all_); ++at) {
        const auto [world, event] = queue_[at];
        for (std::size_t p = 0; p < pairs; ++p) {
            const auto row = occurrence.model->relation(occurrence.pairs[p].relation).row_of[world];
            reach_successors(occurrence, p, group_of_[p * events + event], row);
        }
    }
}

// A few sweeps reach everything in most models, and are several times as fast as a search.
template <>
void Product<Sparse>::reach(const Occurrence<Sparse>& occurrence) {
    constexpr int kSweeps = 4;
    start(occurrence);
    find_groups(occurrence);
    left_ = 0;
    each_event(reachable_events(occurrence.designated, occurrence.pairs),
               [&](std::size_t e) { left_ += occurrence.enabled[e]->count(); });
    queue_.clear();
    each_event(occurrence.designated, [&](std::size_t e) {
        each(reached_[e], [&](World w) { queue_.push_back({w, static_cast<std::uint32_t>(e)}); });
    });
    left_ -= queue_.size();
    bool grows = true;
    for (int k = 0; k < kSweeps && grows; ++k) grows = sweep(occurrence);
    if (grows && (left_ > 0 || keeps_all_)) search(occurrence);
    count();
}

template <>
void Product<Sparse>::build_relation(const Occurrence<Sparse>& occurrence, std::size_t pair, Relation& out) {
    const auto& [number, type] = occurrence.pairs[pair];
    const Relation& relation = occurrence.model->relation(number);
    out.row_of.resize(worlds_);
    number_.assign(relation.size() * type->size(), 0);
    sources_.clear();
    auto* target = out.row_of.data();
    each_event(active_, [&](std::size_t e) {
        const std::uint32_t group = group_of_[pair * occurrence.events() + e];
        std::uint32_t* const number_of = number_.data() + group * relation.size();
        each(reached_[e], [&](World w) {
            const auto row = relation.row_of[w];
            if (number_of[row] == 0) {
                sources_.push_back({group, row});
                number_of[row] = static_cast<std::uint32_t>(sources_.size());
            }
            *target++ = number_of[row] - 1;
        });
    });
    out.count = static_cast<std::uint32_t>(sources_.size());
    out.is_equivalence = relation.is_equivalence;
    for (const auto& group : *type)
        if (group.sources & active_) out.is_equivalence = out.is_equivalence && ((group.sources ^ group.targets) & active_) == 0;
    if (out.is_equivalence) return;
    relation.index();
    for (const auto& [group, row] : sources_) {
        each_event((*type)[group].targets & active_, [&](std::size_t f) {
            const auto& words = reached_[f].words;
            for (World v : relation.successors(row)) {
                const std::uint64_t bit = std::uint64_t{1} << (v & 63);
                if (!(words[v >> 6] & bit)) continue;
                out.successor.push_back(number_first_[f][v >> 6] + static_cast<World>(std::popcount(words[v >> 6] & (bit - 1))));
            }
        });
        out.successor_first.push_back(static_cast<std::uint32_t>(out.successor.size()));
    }
}

template <>
void Product<Sparse>::build(const Occurrence<Sparse>& occurrence, Model<Sparse>& product) {
    placement_.reset(reached_);
    number_first_.resize(occurrence.events());
    World next = 0;
    for (std::size_t e = 0; e < occurrence.events(); ++e) {
        number_first_[e].clear();
        for (auto word : reached_[e].words) {
            number_first_[e].push_back(next);
            next += static_cast<World>(std::popcount(word));
        }
    }
    product.worlds = worlds_;
    Sparse::clear(product.designated, worlds_);
    each_event(occurrence.designated & active_,
               [&](std::size_t e) { placement_.add(product.designated, occurrence.model->designated, e); });
    product.relation_of = occurrence.pair_of;
    product.clear_relations();
    for (std::size_t p = 0; p < occurrence.pairs.size(); ++p) build_relation(occurrence, p, product.add_relation());
}

template class Product<Dense>;
template class Product<Sparse>;

}  // namespace epi
