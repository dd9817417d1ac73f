#include "symmetry.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <utility>

namespace epi {

namespace {

void copy(std::span<const RowClass<Dense>> relation, Model<Dense>& image) {
    image.classes.insert(image.classes.end(), relation.begin(), relation.end());
    image.close_relation();
}

void copy(const Relation& relation, Model<Sparse>& image) { image.add_relation() = relation; }

// Writes the image of a model under a symmetry.
template <class P>
void map(const Symmetry& symmetry, const Model<P>& model, Model<P>& image) {
    image.worlds = model.worlds;
    image.designated = model.designated;
    image.valuation = model.valuation;
    for (const auto& [f, g] : symmetry.fluents) std::swap(image.valuation[f], image.valuation[g]);
    auto relation_of = model.relation_of;
    for (const auto& [i, j] : symmetry.agents) std::swap(relation_of[i], relation_of[j]);
    image.relation_of.clear();
    image.clear_relations();
    std::vector<std::uint32_t> order;  // the model's relations in order of first use by the agents of the image
    for (auto r : relation_of) {
        const auto found = std::find(order.begin(), order.end(), r);
        image.relation_of.push_back(static_cast<std::uint32_t>(found - order.begin()));
        if (found != order.end()) continue;
        order.push_back(r);
        copy(model.relation(r), image);
    }
}

// Whether the swaps may map the model to itself, according to numbers of worlds and rows. As no two worlds are
// bisimilar, a bisimilar image is the same model in another order.
template <class P>
bool may_stay(const Symmetry& symmetry, const Model<P>& model) {
    const auto counts = [&](std::uint32_t fluent) {
        typename P::Set designated = model.designated;
        designated &= model.valuation[fluent];
        return std::pair(model.valuation[fluent].count(), designated.count());
    };
    return std::ranges::all_of(symmetry.fluents, [&](const auto& pair) {
        return counts(std::get<0>(pair)) == counts(std::get<1>(pair));
    }) && std::ranges::all_of(symmetry.agents, [&](const auto& pair) {
        return model.rows(std::get<0>(pair)).size() == model.rows(std::get<1>(pair)).size();
    });
}

}  // namespace

Orbits::Orbits(const std::vector<Symmetry>& symmetries, std::size_t actions)
    : symmetries_(&symmetries), parent_(actions), applicable_(actions) {
    std::iota(parent_.begin(), parent_.end(), ActionId{0});
}

ActionId Orbits::first(ActionId action) const {
    while (parent_[action] != action) action = parent_[action];
    return action;
}

// Whether the symmetry maps applicable actions to applicable actions, and some to another orbit.
bool Orbits::would_join(const Symmetry& symmetry) const {
    bool joins = false;
    for (const auto& [a, b] : symmetry.actions) {
        if (applicable_[a] != applicable_[b]) return false;
        joins = joins || (applicable_[a] && first(a) != first(b));
    }
    return joins;
}

template <class P>
bool Orbits::maps_to_itself(const Symmetry& symmetry, std::span<const std::uint8_t> packed, const Model<P>& model) {
    if (!may_stay(symmetry, model)) return false;
    auto& scratch = std::get<std::unique_ptr<Scratch<P>>>(scratch_);
    if (!scratch) scratch = std::make_unique<Scratch<P>>();
    map(symmetry, model, scratch->image);
    image_.clear();
    scratch->contraction.pack(scratch->image, image_);
    return std::ranges::equal(image_, packed);
}

template <class P>
void Orbits::load(std::span<const std::uint8_t> packed, const Model<P>& model, const std::vector<ActionId>& applicable) {
    if (symmetries_->empty()) return;
    std::iota(parent_.begin(), parent_.end(), ActionId{0});
    std::fill(applicable_.begin(), applicable_.end(), 0);
    for (ActionId a : applicable) applicable_[a] = 1;
    for (const Symmetry& symmetry : *symmetries_) {
        if (!would_join(symmetry) || !maps_to_itself(symmetry, packed, model)) continue;
        for (const auto& [a, b] : symmetry.actions) {
            if (!applicable_[a]) continue;
            const ActionId one = first(a), other = first(b);
            parent_[std::max(one, other)] = std::min(one, other);
        }
    }
}

#define EPI_INSTANTIATE(P) \
    template void Orbits::load<P>(std::span<const std::uint8_t>, const Model<P>&, const std::vector<ActionId>&);
EPI_INSTANTIATE(Dense)
EPI_INSTANTIATE(Sparse)
#undef EPI_INSTANTIATE

}  // namespace epi
