#include "product.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace epi {

template <class P>
void Product<P>::start(const Occurrence<P>& occurrence) {
    const Model<P>& model = *occurrence.model;
    reached_.resize(occurrence.events());
    for (std::size_t e = 0; e < occurrence.events(); ++e) {
        P::clear(reached_[e], model.worlds);
        if ((occurrence.designated >> e & 1) == 0) continue;
        reached_[e] = *occurrence.starts;
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
    EventMask grown = occurrence.designated;  // events with new worlds in the last pass
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
               [&](std::size_t e) { placement_.add(product.designated, *occurrence.starts, e); });
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

// Events that are reachable from a set of events by chains of groups.
static EventMask reachable_events(EventMask events, const std::vector<Occurrence<Sparse>::Pair>& pairs) {
    for (EventMask before = 0; before != events;) {
        before = events;
        for (const auto& [relation, type] : pairs)
            for (const auto& group : *type)
                if (group.sources & events) events |= group.targets;
    }
    return events;
}

template <>
void Product<Sparse>::reach(std::size_t event, World world) {
    if (reached_[event].test(world)) return;
    reached_[event].set(world);
    queue_.push_back({world, static_cast<std::uint32_t>(event)});
    --left_;
}

// Reaches the successors of a row, once.
template <>
void Product<Sparse>::reach_successors(const Occurrence<Sparse>& occurrence, std::size_t pair, std::uint32_t group,
                                       std::uint32_t row) {
    const Relation& relation = occurrence.model->relation(occurrence.pairs[pair].relation);
    auto& used = used_[used_first_[pair] + group * relation.size() + row];
    if (used || is_done()) return;
    used = 1;
    const EventMask targets = (*occurrence.pairs[pair].type)[group].targets;
    const ListView successors = relation.successors(row);
    if (left_ > 0) {
        each_event(targets, [&](std::size_t f) {
            const WideBits& enabled = *occurrence.enabled[f];
            for (World v : successors)
                if (enabled.test(v)) reach(f, v);
        });
    }
    keeps_all_ = keeps_all_ && std::ranges::all_of(successors, [&](World v) {
        bool survives = false;
        each_event(targets, [&](std::size_t f) { survives = survives || occurrence.enabled[f]->test(v); });
        return survives;
    });
}

// One step under the agents of a pair with an introspective relation, from all pairs reached with events of a group.
template <>
void Product<Sparse>::sweep_group(const Occurrence<Sparse>& occurrence, std::size_t pair, std::uint32_t group) {
    const auto& [number, type] = occurrence.pairs[pair];
    const auto& [sources, targets] = (*type)[group];
    const Relation& relation = occurrence.model->relation(number);
    const std::size_t words = relation.reflexive.words.size();
    std::uint64_t survivors = 0;
    // Whether a word has successors that are not reached, or the first ones that are lost.
    const auto is_open = [&](std::size_t i) {
        std::uint64_t open = 0;
        survivors = 0;
        each_event(targets, [&](std::size_t f) {
            const std::uint64_t enabled = occurrence.enabled[f]->words[i];
            survivors |= enabled;
            open |= enabled & ~reached_[f].words[i];
        });
        if (keeps_all_) open |= ~survivors;
        return (open & relation.reflexive.words[i]) != 0;
    };
    std::size_t first = 0;
    while (first < words && !is_open(first)) ++first;
    if (first == words) return;
    marks_.assign(relation.size(), 0);
    for (std::size_t i = 0; i < words; ++i) {
        std::uint64_t starts = 0;
        each_event(sources, [&](std::size_t e) { starts |= reached_[e].words[i]; });
        each_bit(starts, static_cast<World>(64 * i), [&](World w) { marks_[relation.row_of[w]] = 1; });
    }
    for (std::size_t i = first; i < words; ++i) {
        if (!is_open(i)) continue;
        const std::uint64_t reflexive = relation.reflexive.words[i] & relation.select_marked(marks_.data(), i);
        keeps_all_ = keeps_all_ && (reflexive & ~survivors) == 0;
        each_event(targets, [&](std::size_t f) {
            const std::uint64_t found = reflexive & occurrence.enabled[f]->words[i] & ~reached_[f].words[i];
            reached_[f].words[i] |= found;
            left_ -= static_cast<std::size_t>(std::popcount(found));
        });
    }
}

// One step under the agents of a pair. Returns whether it reached more.
template <>
bool Product<Sparse>::sweep(const Occurrence<Sparse>& occurrence, std::size_t pair) {
    const auto& [number, type] = occurrence.pairs[pair];
    const Relation& relation = occurrence.model->relation(number);
    const std::size_t before = left_;
    for (std::uint32_t g = 0; g < type->size(); ++g) {
        if (relation.is_introspective) {
            sweep_group(occurrence, pair, g);
            continue;
        }
        each_event((*type)[g].sources, [&](std::size_t e) {
            each(reached_[e], [&](World w) { reach_successors(occurrence, pair, g, relation.row_of[w]); });
        });
    }
    return left_ < before;
}

// One step under each pair.
template <>
bool Product<Sparse>::sweep(const Occurrence<Sparse>& occurrence) {
    bool found = false;
    for (std::size_t p = 0; p < occurrence.pairs.size() && !is_done(); ++p) found = sweep(occurrence, p) || found;
    return found;
}

// Reaches all remaining pairs one by one.
template <>
void Product<Sparse>::search(const Occurrence<Sparse>& occurrence) {
    const std::size_t events = occurrence.events(), pairs = occurrence.pairs.size();
    for (const auto& pair : occurrence.pairs) occurrence.model->relation(pair.relation).index();
    used_.assign(used_.size(), 0);
    queue_.clear();
    for (std::size_t e = 0; e < events; ++e)
        each(reached_[e], [&](World w) { queue_.push_back({w, static_cast<std::uint32_t>(e)}); });
    for (std::size_t at = 0; at < queue_.size() && !is_done(); ++at) {
        const auto [world, event] = queue_[at];
        for (std::size_t p = 0; p < pairs; ++p) {
            const auto row = occurrence.model->relation(occurrence.pairs[p].relation).row_of[world];
            reach_successors(occurrence, p, group_of_[p * events + event], row);
        }
    }
}

// In most models a few sweeps reach all pairs, several times as fast as a search.
template <>
void Product<Sparse>::reach(const Occurrence<Sparse>& occurrence) {
    constexpr int kSweeps = 4;
    start(occurrence);
    find_groups(occurrence);
    queue_.clear();
    left_ = 0;
    each_event(reachable_events(occurrence.designated, occurrence.pairs),
               [&](std::size_t e) { left_ += occurrence.enabled[e]->count(); });
    each_event(occurrence.designated, [&](std::size_t e) { left_ -= reached_[e].count(); });
    bool grows = true;
    for (int k = 0; k < kSweeps && grows; ++k) grows = sweep(occurrence);
    if (grows && !is_done()) search(occurrence);
    count();
}

// Numbers the pairs world by world.
template <>
void Product<Sparse>::number_worlds() {
    auto& any = any_.words;
    any.assign(reached_.front().words.size(), 0);
    is_single_ = true;
    each_event(active_, [&](std::size_t e) {
        for (std::size_t i = 0; i < any.size(); ++i) {
            is_single_ = is_single_ && (any[i] & reached_[e].words[i]) == 0;
            any[i] |= reached_[e].words[i];
        }
    });
    world_of_.clear();
    event_of_.clear();
    number_first_.clear();
    number_of_.resize(std::max(number_of_.size(), reached_.size()));
    if (!is_single_) each_event(active_, [&](std::size_t e) { number_of_[e].resize(64 * any.size()); });
    for (std::size_t i = 0; i < any.size(); ++i) {
        number_first_.push_back(static_cast<World>(world_of_.size()));
        each_bit(any[i], static_cast<World>(64 * i), [&](World w) {
            each_event(active_, [&](std::size_t e) {
                if (!reached_[e].test(w)) return;
                if (!is_single_) number_of_[e][w] = static_cast<World>(world_of_.size());
                world_of_.push_back(w);
                event_of_.push_back(static_cast<std::uint8_t>(e));
            });
        });
    }
    if (is_single_) placement_.reset({&any_, 1});
}

template <>
World Product<Sparse>::number(World world, std::size_t event) const {
    if (!is_single_) return number_of_[event][world];
    const std::uint64_t before = (std::uint64_t{1} << (world & 63)) - 1;
    return number_first_[world >> 6] + static_cast<World>(std::popcount(any_.words[world >> 6] & before));
}

template <>
void Product<Sparse>::begin_wide(WideBits& out) const {
    out.words.assign(is_single_ ? any_.words.size() : (worlds_ + 63) / 64, 0);
}

template <>
void Product<Sparse>::add_wide(WideBits& out, const WideBits& worlds, std::size_t event) const {
    const auto& reached = reached_[event].words;
    for (std::size_t i = 0; i < reached.size(); ++i) {
        const std::uint64_t added = worlds.words[i] & reached[i];
        if (is_single_) out.words[i] |= added;
        else each_bit(added, static_cast<World>(64 * i), [&](World w) { out.set(number_of_[event][w]); });
    }
}

template <>
void Product<Sparse>::finish_wide(WideBits& out) const {
    if (!is_single_) return;
    WideBits placed;
    Sparse::clear(placed, worlds_);
    placement_.add(placed, out, 0);
    out.words.swap(placed.words);
}

template <>
void Product<Sparse>::build_relation(const Occurrence<Sparse>& occurrence, std::size_t pair, Relation& out) {
    const auto& [number_of_relation, type] = occurrence.pairs[pair];
    const Relation& relation = occurrence.model->relation(number_of_relation);
    std::array<std::uint32_t, kMaxEvents> first{};  // of the rows with each event's group
    each_event(active_, [&](std::size_t e) {
        first[e] = group_of_[pair * occurrence.events() + e] * relation.count;
    });
    out.row_of.resize(worlds_);
    out.is_introspective = relation.is_introspective;
    EventMask reflexive = 0;  // events in their own group's targets
    for (const auto& group : *type) {
        if ((group.sources & active_) == 0) continue;
        out.is_introspective = out.is_introspective && (group.targets & ~group.sources & active_) == 0;
        reflexive |= group.targets & active_;
    }
    if (out.is_introspective) {
        out.count = static_cast<std::uint32_t>(relation.count * type->size());
        for (World x = 0; x < worlds_; ++x) out.row_of[x] = first[event_of_[x]] + relation.row_of[world_of_[x]];
        begin(out.reflexive);
        each_event(reflexive, [&](std::size_t e) { add(out.reflexive, relation.reflexive, e); });
        finish(out.reflexive);
        return;
    }
    row_number_.assign(relation.size() * type->size(), 0);
    sources_.clear();
    for (World x = 0; x < worlds_; ++x) {
        const auto source = first[event_of_[x]] + relation.row_of[world_of_[x]];
        auto& row = row_number_[source];
        if (row == 0) {
            sources_.push_back({source / relation.count, source % relation.count});
            row = static_cast<std::uint32_t>(sources_.size());
        }
        out.row_of[x] = row - 1;
    }
    out.count = static_cast<std::uint32_t>(sources_.size());
    if (relation.is_introspective) relation.index();
    for (const auto& [group, row] : sources_) {
        const auto targets = (*type)[group].targets & active_;
        const auto begin = static_cast<std::ptrdiff_t>(out.successor.size());
        each_event(targets, [&](std::size_t f) {
            for (World v : relation.successors(row))
                if (reached_[f].test(v)) out.successor.push_back(number(v, f));
        });
        if ((targets & (targets - 1)) != 0) std::sort(out.successor.begin() + begin, out.successor.end());
        out.successor_first.push_back(static_cast<std::uint32_t>(out.successor.size()));
    }
}

template <>
void Product<Sparse>::build(const Occurrence<Sparse>& occurrence, Model<Sparse>& product) {
    number_worlds();
    product.worlds = worlds_;
    begin(product.designated);
    each_event(occurrence.designated & active_,
               [&](std::size_t e) { add(product.designated, *occurrence.starts, e); });
    finish(product.designated);
    product.relation_of = occurrence.pair_of;
    product.clear_relations();
    for (std::size_t p = 0; p < occurrence.pairs.size(); ++p) build_relation(occurrence, p, product.add_relation());
}

template class Product<Dense>;
template class Product<Sparse>;

}  // namespace epi
