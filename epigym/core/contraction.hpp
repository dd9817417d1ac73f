// Contraction to the coarsest bisimulation and canonical numbering, in one pass.
#pragma once

#include <cstdint>
#include <vector>

#include "model.hpp"

namespace epi {

// Writes models in canonical form: two models whose worlds are all reachable from their designated
// worlds are bisimilar iff their packed forms are equal byte by byte.
//
// Colours are ranks. The first colour of a world is the rank of its valuation, compared fluent by fluent
// in declared order, false before true. A round ranks the worlds by (colour, for each agent the ascending
// sequence of the successors' colours); rounds repeat until no colour class splits.
template <class P>
class Contraction {
public:
    // Appends the packed form of the model's coarsest bisimulation. Its relations stand in order of first use by an agent.
    void pack(const Model<P>& model, Bytes& out);

private:
    using Relation = std::vector<RowClass<P>>;
    struct Entry {
        std::uint64_t key;
        World world;
    };

    void split_by_valuation();
    bool split_by_successors();
    void split();
    void start_keys();
    void colour();
    void index_classes();
    std::uint64_t rank_classes(std::uint32_t relation);
    template <class Worlds>
    void colours_of(const Worlds& worlds, typename P::Row& colours) const;

    void merge_rows(std::uint32_t relation, Relation& merged);
    std::size_t merge_relations();
    void write_bits(Bytes& out);
    void write_lists(Bytes& out);
    World blocks() const { return static_cast<World>(first_.size()) - 1; }

    const Model<P>* model_ = nullptr;
    typename P::Set all_;
    std::vector<Entry> order_;             // worlds, block by block, and their keys for the next split
    std::vector<World> first_;             // where each block starts, then the number of worlds
    std::vector<World> next_first_;
    std::vector<World> colour_;            // block of each world
    std::vector<std::uint64_t> key_;       // of each world
    unsigned key_bits_ = 0;                // in use, from the top
    typename P::Set open_;                 // worlds that share their block with others
    std::vector<std::uint32_t> class_of_;  // relations x worlds: class of each world
    std::vector<typename P::Row> class_colours_;
    std::vector<std::uint32_t> ranked_;    // classes of one relation
    std::vector<std::uint64_t> rank_;      // per class
    Relation images_;                      // the classes of one relation, worlds replaced by blocks
    std::vector<Relation> merged_;         // the distinct relations over the blocks come first
    std::vector<std::uint32_t> merged_of_; // per relation of the model
};

extern template class Contraction<Dense<1>>;
extern template class Contraction<Dense<2>>;
extern template class Contraction<Dense<4>>;
extern template class Contraction<Dense<8>>;
extern template class Contraction<Sparse>;

}  // namespace epi
