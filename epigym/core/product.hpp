// The product of an e-state and an event model.
#pragma once

#include <cstdint>
#include <vector>

#include "model.hpp"
#include "placement.hpp"

namespace epi {

using EventMask = std::uint64_t;  // a set of events of one action

constexpr std::size_t kMaxEvents = 64;

// Events with the same successors under an observability type.
struct EventGroup {
    EventMask sources;
    EventMask targets;
};

// Each event of an action is in one group of each observability type.
using EventRelation = std::vector<EventGroup>;

// An action in an e-state.
template <class P>
struct Occurrence {
    // A relation of the e-state with an observability type: agents with equal pairs share a relation of the product.
    struct Pair {
        std::uint32_t relation;
        const EventRelation* type;
        bool operator==(const Pair&) const = default;
    };

    const Model<P>* model = nullptr;
    std::vector<const typename P::Set*> enabled;  // per event: the worlds that satisfy its precondition
    const typename P::Set* starts = nullptr;      // designated worlds of the model: all, or the part of one outcome
    EventMask designated = 0;                     // events: all, or the one of an outcome
    std::vector<Pair> pairs;
    std::vector<std::uint32_t> pair_of;           // per agent

    std::size_t events() const { return enabled.size(); }
};

// The reachable (world, event) pairs and their relations, row by row: pairs (w, e) with w in one row and e in one group
// of events share their successors.
template <class P>
class Product {
public:
    // Finds the reachable pairs, starting from the designated ones.
    void reach(const Occurrence<P>& occurrence);

    World worlds() const { return worlds_; }
    EventMask active() const { return active_; }  // events with reachable worlds
    const typename P::Set& reached_worlds(std::size_t event) const { return reached_[event]; }
    // Whether every successor of a reachable pair survives in some event.
    bool keeps_all() const { return keeps_all_; }

    // Writes worlds, designated worlds and relations; requires reach() with the same occurrence.
    void build(const Occurrence<P>& occurrence, Model<P>& product);

    // Building a set of worlds of the product after build(): begin() empties it, add() adds the pairs (w, event) with w
    // in `worlds`, event by event, and finish() completes it.
    void begin(typename P::Set& out) const {
        if constexpr (P::dense) out = {};
        else begin_wide(out);
    }
    void add(typename P::Set& out, const typename P::Set& worlds, std::size_t event) const {
        if constexpr (P::dense) placement_.add(out, worlds, event);
        else add_wide(out, worlds, event);
    }
    void finish(typename P::Set& out) const {
        if constexpr (!P::dense) finish_wide(out);
    }

private:
    struct Node {
        World world;
        std::uint32_t event;
    };
    struct Source {  // of a row of the product
        std::uint32_t group, row;
    };

    void start(const Occurrence<P>& occurrence);
    void count();
    void find_groups(const Occurrence<P>& occurrence);
    bool is_done() const { return left_ == 0 && !keeps_all_; }  // all pairs are reached, and a successor is lost
    bool sweep(const Occurrence<P>& occurrence);
    bool sweep(const Occurrence<P>& occurrence, std::size_t pair);
    void sweep_group(const Occurrence<P>& occurrence, std::size_t pair, std::uint32_t group);
    void search(const Occurrence<P>& occurrence);
    void reach_successors(const Occurrence<P>& occurrence, std::size_t pair, std::uint32_t group, std::uint32_t row);
    void reach(std::size_t event, World world);
    void begin_wide(WideBits& out) const;
    void add_wide(WideBits& out, const WideBits& worlds, std::size_t event) const;
    void finish_wide(WideBits& out) const;
    void number_worlds();
    World number(World world, std::size_t event) const;
    void build_relation(const Occurrence<P>& occurrence, std::size_t pair, Relation& out);

    World worlds_ = 0;
    EventMask active_ = 0;
    bool keeps_all_ = false;
    std::vector<typename P::Set> reached_;          // per event: the worlds w with (w, event) reachable
    Placement<typename P::Set> placement_;
    std::vector<std::uint8_t> marks_;               // rows of one relation: whether one of its worlds is reachable
    std::vector<std::uint8_t> used_;                // pairs x groups x rows: whether one of its worlds is reachable
    std::vector<std::size_t> used_first_;           // per pair
    // For large models; their products are ordered world by world and often keep the order of the worlds:
    std::size_t left_ = 0;                          // pairs that may be reachable but are not reached yet
    std::vector<std::uint8_t> group_of_;            // pairs x events
    std::vector<Node> queue_;
    bool is_single_ = false;                        // whether no world is reached with two events
    typename P::Set any_;                           // the worlds reached with any event
    std::vector<World> world_of_;                   // per world of the product
    std::vector<std::uint8_t> event_of_;            // per world of the product
    std::vector<World> number_first_;               // per word of any_: the worlds before it
    std::vector<std::vector<World>> number_of_;     // per event and world, unless is_single_
    std::vector<std::uint32_t> row_number_;         // groups x rows of one pair: row of the product plus one, or 0
    std::vector<Source> sources_;                   // of the rows of one relation of the product
};

template <class Visit>
void each_event(EventMask events, Visit&& visit) {
    each_bit(events, 0, [&](World e) { visit(static_cast<std::size_t>(e)); });
}

}  // namespace epi
