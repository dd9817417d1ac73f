// Orbits of actions under symmetries of the task; `epigym/task/symmetry.py` explains why one action per orbit suffices.
#pragma once

#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "contraction.hpp"
#include "formula.hpp"
#include "model.hpp"
#include "update.hpp"

namespace epi {

// The pairs that a symmetry swaps; it fixes everything else.
struct Symmetry {
    using Swaps = std::vector<std::tuple<std::uint32_t, std::uint32_t>>;
    Swaps agents, fluents, actions;

    bool operator==(const Symmetry&) const = default;
};

// The orbits of actions under the symmetries that map an e-state to itself, for one e-state after another.
class Orbits {
public:
    Orbits(const std::vector<Symmetry>& symmetries, std::size_t actions);

    // Moves to an e-state, in its packed form and as a model, with its applicable actions.
    template <class P>
    void load(std::span<const std::uint8_t> packed, const Model<P>& model, const std::vector<ActionId>& applicable);

    // The first action of an action's orbit; inapplicable actions are orbits of their own.
    ActionId first(ActionId action) const;

private:
    template <class P>
    struct Scratch {
        Model<P> image;
        Contraction<P> contraction;
    };

    bool would_join(const Symmetry& symmetry) const;
    template <class P>
    bool maps_to_itself(const Symmetry& symmetry, std::span<const std::uint8_t> packed, const Model<P>& model);

    const std::vector<Symmetry>* symmetries_;
    std::vector<ActionId> parent_;          // an earlier action of the orbit, or the action itself
    std::vector<std::uint8_t> applicable_;  // per action
    PerPolicy<Scratch> scratch_;
    Bytes image_;
};

}  // namespace epi
